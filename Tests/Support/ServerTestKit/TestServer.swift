import Audit
import Contract
import Domain
import Foundation
import HTTP
import JSON
import OpenAPICheck
import Postgres
import Reactor
import SQL
import Testing

@testable import Server

/// A real server in this process, on a real socket, with a real database of its own, for the length of one test.
///
/// Every response is checked against the OpenAPI document. At the end of the test, every hash chain and every sum in
/// the database is checked, and `CrossFamilyReads` checks that each statement of the server read the rows of one
/// family.
final class TestServer: Sendable {
    let port: UInt16
    /// The port of `/metrics`.
    let metricsPort: UInt16
    let clock: ManualClock
    let random: SeededRandomness
    let database: TestDatabase
    let log: LogRecorder
    let tokens: Tokens
    /// The budget in which the server counts the bytes of its responses; nil for peers.
    let answerMemory: MemoryBudget?
    /// The limiter of the server's running exports; nil for peers.
    let exports: ExportLimiter?
    /// Every route of the server, such as `GET /api/v1/nags/{nag_id}`.
    let routes: Set<String>

    static let tokenKey = [UInt8](repeating: 7, count: 32)
    static let auditKeyring: AuditKeyring? = try? AuditKeyring(
        text:
            "origin nagz.test/log\nsign \(String(repeating: "5a", count: 32))\nseal \(String(repeating: "c3", count: 32))\n"
    )

    /// Runs `body` with a new server and a new database.
    /// - Parameters:
    ///   - configure: changes the server's configuration.
    ///   - toleratesFaults: whether the server's log may have lines at error level.
    ///   - isOfActs: whether acts of the ledger wrote all of the data, so that the database's invariants MUST hold.
    static func run(
        configure: @Sendable (inout Configuration) -> Void = { _ in }, toleratesFaults: Bool = false,
        isOfActs: Bool = true, _ body: @Sendable (TestServer) async throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await TestCluster.shared.withDatabase { url in
            try await run(
                on: url, configure: configure, toleratesFaults: toleratesFaults, isOfActs: isOfActs, body,
                sourceLocation: sourceLocation)
        }
    }

    /// Runs `body` with a server on a database that the caller made.
    static func run(
        on url: String, configure: @Sendable (inout Configuration) -> Void = { _ in }, toleratesFaults: Bool = false,
        isOfActs: Bool = true, _ body: @Sendable (TestServer) async throws -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (clock, random, log) = (ManualClock(), SeededRandomness(), LogRecorder())
        var configuration = configuration(of: url, [tokenKey], loops: 2, log, .warning)
        configure(&configuration)
        let sent = SentStatements()
        let server = try await NagzServer(configuration, clock: clock, random: random, slowStatements: sent.observer)
        let database = try await TestDatabase(url: url)
        let test = TestServer(
            port: try await server.start(host: "127.0.0.1", port: 0),
            metricsPort: try await server.listenForMetrics(host: "127.0.0.1", port: 0), clock: clock,
            random: random,
            database: database, log: log, routes: Set(server.routes),
            answerMemory: server.parts.answerMemory, exports: server.parts.exportLimiter)
        let outcome: Result<Void, any Error>
        do { outcome = .success(try await body(test)) } catch { outcome = .failure(error) }
        await server.shutDown(within: .seconds(2))
        let lines = log.close()
        if !toleratesFaults {
            for line in lines where line.contains(#""level":"error""#) {
                Issue.record("the server's log: \(line)", sourceLocation: sourceLocation)
            }
        }
        do {
            for fault in isOfActs ? try await database.faults() : [] {
                Issue.record("\(fault)", sourceLocation: sourceLocation)
            }
            let known = Set(AuditKind.allCases.map(\.rawValue))
            for kind in isOfActs ? try await database.auditKinds().subtracting(known).sorted() : [] {
                Issue.record("\(kind) is missing in AuditKind", sourceLocation: sourceLocation)
            }
            for fault in try await CrossFamilyReads.faults(of: sent.takeNew()) {
                Issue.record("\(fault)", sourceLocation: sourceLocation)
            }
        } catch {
            Issue.record(error, sourceLocation: sourceLocation)
        }
        await database.close()
        try outcome.get()
    }

    /// Returns the configuration of a test's server, which does nothing in the background.
    static func configuration(
        of url: String, _ tokenKeys: [[UInt8]], loops: Int, _ log: LogRecorder, _ level: Log.Level
    ) -> Configuration {
        var configuration = Configuration(
            databaseURL: TestLogin.server.url(url), tokenKeys: tokenKeys, loops: loops)
        configuration.databaseConnections = 3
        configuration.passwordCost = .testing
        configuration.auditKeyring = auditKeyring
        configuration.runsBackgroundCheck = false
        configuration.runsScheduler = false
        configuration.runsDeliveries = false
        configuration.enforcesRateLimits = false
        configuration.slowQueryThreshold = nil
        // Mails are written, but not sent: addresses of this machine are not allowed.
        configuration.mail = DeliveryOptions.Webhook(url: "http://127.0.0.1:9/", secret: Array(repeating: 9, count: 32))
            .map { MailOptions(.webhook($0), from: "nagz@example.org") }
        // So are codes by text message.
        configuration.deliveries.sendsTokensAndPhones = true
        configuration.deliveries.sms =
            DeliveryOptions.Webhook(url: "http://127.0.0.1:9/", secret: Array(repeating: 9, count: 32))
            .map(DeliveryOptions.Provider.webhook) ?? .log
        configuration.logLevel = level
        configuration.logDescriptor = log.descriptor
        return configuration
    }

    init(
        port: UInt16, metricsPort: UInt16, clock: ManualClock, random: SeededRandomness, database: TestDatabase,
        log: LogRecorder,
        routes: Set<String>, answerMemory: MemoryBudget? = nil, exports: ExportLimiter? = nil
    ) {
        self.exports = exports
        self.answerMemory = answerMemory
        self.port = port
        self.metricsPort = metricsPort
        self.clock = clock
        self.random = random
        self.database = database
        self.log = log
        self.routes = routes
        tokens = Tokens(keys: [Self.tokenKey])
    }

    // MARK: Calling

    /// The OpenAPI document against which every response is checked.
    static let document: OpenAPIDocument = {
        let file = repository.appending(path: "openapi/openapi.json")
        guard let bytes = try? Data(contentsOf: file), let json = try? JSONValue(parsing: [UInt8](bytes).span) else {
            return OpenAPIDocument(.null)
        }
        return OpenAPIDocument(json)
    }()

    /// Returns an access token of the person's session, issued now.
    func token(_ person: TestPerson) -> String {
        tokens.accessToken(Tokens.Claims(user: person.id, session: person.session), at: clock.now())
    }

    /// Sends one request, and checks its response.
    /// - Parameters:
    ///   - person: the person whose access token is sent, unless `token` is given.
    ///   - isDocumented: false for paths that the document does not have.
    @discardableResult
    func call(
        _ method: String, _ path: String, as person: TestPerson? = nil, token: String? = nil, body: JSONValue? = nil,
        headers: [String: String] = [:], isDocumented: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Reply {
        try await send(
            method, path, token: token ?? person.map(self.token), content: body?.bytes ?? [], headers, isDocumented,
            sourceLocation)
    }

    /// Returns the response that Prometheus would read.
    func metrics(_ path: String = "/metrics") async throws -> Reply {
        try await RawClient.send(
            Array("GET \(path) HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n".utf8), to: metricsPort)
    }

    /// Calls an operation of the contract with its types.
    /// - Throws: the `APIError` with which the server refused the call.
    @discardableResult
    func call<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>, _ parameters: Parameters, _ body: Body,
        as person: TestPerson? = nil,
        headers: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        let request = endpoint.request(parameters, body)
        let reply = try await send(
            request.method.rawValue, request.target, token: person.map(token), content: request.body, headers, true,
            sourceLocation)
        let retryAfter = reply.header("retry-after").flatMap { Int($0) }
        return try endpoint.decode(status: reply.status, body: reply.body.span, retryAfter: retryAfter)
    }

    @discardableResult
    func call<Parameters, Answer>(
        _ endpoint: Endpoint<Parameters, NoBody, Answer>, _ parameters: Parameters, as person: TestPerson? = nil,
        headers: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        try await call(
            endpoint, parameters, NoBody(), as: person, headers: headers, sourceLocation: sourceLocation)
    }

    @discardableResult
    func call<Body, Answer>(
        _ endpoint: Endpoint<NoParameters, Body, Answer>, _ body: Body, as person: TestPerson? = nil,
        headers: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        try await call(
            endpoint, NoParameters(), body, as: person, headers: headers, sourceLocation: sourceLocation)
    }

    @discardableResult
    func call<Answer>(
        _ endpoint: Endpoint<NoParameters, NoBody, Answer>, as person: TestPerson? = nil,
        headers: [String: String] = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        try await call(
            endpoint, NoParameters(), NoBody(), as: person, headers: headers, sourceLocation: sourceLocation)
    }

    /// Calls an AI operation without options, and returns the response without its execution report.
    @discardableResult
    func call<Request, Answer>(
        _ endpoint: Endpoint<NoParameters, AIEnvelope<Request>, AIAnswer<Answer>>, _ request: Request,
        as person: TestPerson? = nil, headers: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        try await call(
            endpoint, NoParameters(), AIEnvelope(request), as: person, headers: headers, sourceLocation: sourceLocation
        ).response
    }

    @discardableResult
    func call<Request, Answer>(
        _ endpoint: Endpoint<AIEnvelope<Request>, NoBody, AIAnswer<Answer>>, _ request: Request,
        as person: TestPerson? = nil,
        headers: [String: String] = [:], sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Answer {
        try await call(
            endpoint, AIEnvelope(request), NoBody(), as: person, headers: headers, sourceLocation: sourceLocation
        ).response
    }

    /// Sends one request with these bytes as its content, and checks its response.
    func send(
        _ method: String, _ path: String, token: String?, content: [UInt8], _ headers: [String: String] = [:],
        _ isDocumented: Bool = true, _ sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Reply {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: test\r\nConnection: close\r\n"
        if let token { head += "Authorization: Bearer \(token)\r\n" }
        if !content.isEmpty {
            let type = PictureForm.isForm(content) ? PictureForm.contentType : "application/json"
            if headers["Content-Type"] == nil { head += "Content-Type: \(type)\r\n" }
            head += "Content-Length: \(content.count)\r\n"
        }
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        let reply = try await RawClient.send(Array("\(head)\r\n".utf8) + content, to: port)
        // Messages of `/health` are for operators, and may have names of settings.
        if !path.hasPrefix("/health"), let message = reply.json?["error"]?["message"]?.stringValue,
            let name = reply.wireName(in: message)
        {
            Issue.record("\(method) \(path): “\(message)” has the name \(name)", sourceLocation: sourceLocation)
        }
        if isDocumented, method != "HEAD", method != "OPTIONS" {
            for violation in Self.document.checkResponse(method, path, status: reply.status, body: reply.json) {
                Issue.record("\(method) \(path) → \(reply.status): \(violation)", sourceLocation: sourceLocation)
            }
        }
        return reply
    }

    // MARK: Looking behind it

    /// Runs a statement as superuser.
    func sql(_ statement: SQL) async throws {
        try await database.run { _ = try await $0.query(statement) }
    }

    /// Returns the rows of a query as JSON objects:
    /// `try await server.rows("SELECT status FROM nags")[0]["status"] == "open"`.
    func rows(_ query: SQL) async throws -> [JSONValue] {
        try await database.rows("SELECT to_jsonb(t)::text AS json FROM (\(query)) t") { row in
            let text: String = try row["json"]
            return try JSONValue(parsing: Array(text.utf8).span)
        }
    }
}

/// Returns the refusal of a call. Throws if the call was not refused.
func refusal<Value>(_ call: () async throws -> Value) async throws -> APIError {
    do { _ = try await call() } catch let error as APIError { return error }
    throw RawClient.Fault(what: "the call was not refused")
}
