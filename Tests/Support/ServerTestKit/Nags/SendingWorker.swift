import Contract
import Domain
import Foundation
import HTTPClient
import JSON
import NagzAI
import Postgres
import Reactor
import SQL
import TestHTTPServer
import Testing

@testable import Server

/// A delivery worker with its own sessions, like that of another server. A test runs its rounds.
final class SendingWorker: Sendable {
    private let database: TestDatabase
    private let worker: LoopBound<DeliveryWorker>
    let figures = DeliveryChannel.allCases.map { DeliveryFigures($0) }

    init(
        _ server: TestServer, _ options: DeliveryOptions, log: Log = Log(.off),
        reach: @escaping @Sendable (ChannelSender.Point) throws -> Void = { _ in }
    ) async throws {
        let (random, tokens, figures, clock) = (server.random, server.tokens, figures, server.clock)
        database = try await TestDatabase(url: TestLogin.server.url(server.database.url), sessions: 2)
        worker = try await database.run { database in
            let services = try Services(
                standalone: database, clock: clock, random: random, tokens: tokens,
                hashing: PasswordHashing(
                    try BlockingPool(name: "test", threads: 0, queueLimitPerLane: 0), cost: .testing),
                auditKeyring: TestServer.auditKeyring)
            return LoopBound(
                value: DeliveryWorker(
                    services, options, figures: figures, log: log, reach: reach))
        }
    }

    /// Runs one round of each sender, and returns the number of claimed deliveries, which are then being sent.
    @discardableResult
    func runRound() async throws -> Int {
        let worker = worker
        return try await database.run { _ in
            var claimed = 0
            for sender in worker.value.senders { claimed += try await sender.runRound() }
            return claimed
        }
    }

    /// Waits until the senders of these channels send nothing.
    func drain(_ channels: [DeliveryChannel] = DeliveryChannel.allCases) async throws {
        let (worker, figures) = (worker, figures)
        try await database.run { _ in
            for (sender, one) in zip(worker.value.senders, figures) where channels.contains(one.channel) {
                await sender.drain()
            }
        }
    }

    /// Runs rounds until nothing is due.
    func run() async throws {
        while try await runRound() > 0 { try await drain() }
    }

    /// Runs the worker as a server does, until `isDone` returns true.
    func serve(until isDone: @Sendable () async throws -> Bool) async throws {
        let worker = worker
        try await database.run { _ in worker.value.start() }
        while try await !isDone() { await Task.yield() }
        try await database.run { _ in worker.value.stop() }
    }

    func close() async throws {
        let worker = worker
        try await database.run { _ in
            worker.value.stop()
            await worker.value.finish()
        }
        await database.close()
    }

    /// Returns the counts of a channel's deliveries: sent, retried, dead, dropped and deferred.
    func counts(_ channel: DeliveryChannel = .push) -> [Int] {
        let one = figures.first { $0.channel == channel }
        return [one?.sent, one?.retried, one?.dead, one?.dropped, one?.deferred].map { $0?.value ?? -1 }
    }
}

/// A row of the table of deliveries.
struct DeliveryRow: Hashable, Sendable {
    let id: DeliveryID
    let status: String
    let attempts: Int
    let failure: String?
    let dropped: Bool
    let nextAttempt: Timestamp?
    let reference: String?
}

extension TestServer {
    /// Runs `body` with a worker beside this server.
    func withWorker<Value>(
        _ options: DeliveryOptions, log: Log = Log(.off),
        reach: @escaping @Sendable (ChannelSender.Point) throws -> Void = { _ in },
        _ body: (SendingWorker) async throws -> Value
    ) async throws -> Value {
        let worker = try await SendingWorker(self, options, log: log, reach: reach)
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await body(worker)) } catch { outcome = .failure(error) }
        try await worker.close()
        return try outcome.get()
    }

    /// Stores a pending delivery about an event of a nag, as an act does.
    @discardableResult
    func delivery(
        of nag: NagID, to person: TestPerson, _ event: String = "nag_completed", phase: EscalationPhase? = nil,
        by channel: DeliveryChannel = .push
    ) async throws -> DeliveryID {
        let now = clock.now()
        let (id, eventID): (DeliveryID, EventID) = (random.identifier(at: now), random.identifier(at: now))
        let family = try #require(person.familyID)
        let payload = phase.map { SQLJSON(#"{"phase":"\#($0.rawValue)"}"#) } ?? SQLJSON("{}")
        try await sql(
            """
            WITH event AS (
                INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, recipient_id, at, payload, sync_seq,
                                        sync_ts)
                SELECT family_id, \(eventID), id, \(event), creator_id, recipient_id, \(now), \(payload), sync_seq, \(now)
                FROM nags WHERE id = \(nag)
            )
            INSERT INTO deliveries (family_id, id, nag_id, nag_event_id, user_id, channel, status, next_attempt, created_at)
            VALUES (\(family), \(id), \(nag), \(eventID), \(person.id), \(channel.rawValue), 'pending', \(now), \(now))
            """)
        return id
    }

    /// Inserts `count` pending deliveries about nags that do not exist, so that no state of a nag stops them.
    func deliveries(_ count: Int, to person: TestPerson, by channel: DeliveryChannel = .push) async throws {
        let family = try #require(person.familyID)
        let now = clock.now()
        try await sql(
            """
            INSERT INTO deliveries (family_id, id, nag_id, nag_event_id, user_id, channel, status, next_attempt, created_at)
            SELECT \(family), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), \(person.id), \(channel.rawValue),
                   'pending', \(now), \(now)
            FROM generate_series(1, \(count)::bigint)
            """)
    }

    func deliveryRows() async throws -> [DeliveryRow] {
        try await database.rows(
            """
            SELECT id, status, attempts::bigint AS attempts, failure, dropped, next_attempt, provider_ref FROM deliveries
            ORDER BY created_at, id
            """
        ) { row in
            DeliveryRow(
                id: try row["id"], status: try row["status"], attempts: try row["attempts"],
                failure: try row["failure"], dropped: try row["dropped"], nextAttempt: try row["next_attempt"],
                reference: try row["provider_ref"])
        }
    }
}

extension TestHTTPServer {
    /// Returns a webhook of this server. The words of its path choose its responses, as `server.py` says.
    func webhook(_ words: String = "") throws -> DeliveryOptions.Provider {
        let text = try String(contentsOfFile: webhookSecret, encoding: .utf8)
        let secret = Array(text.trimmingCharacters(in: .whitespacesAndNewlines).utf8)
        return .webhook(try #require(DeliveryOptions.Webhook(url: url() + "/hook/\(words)", secret: secret)))
    }

    /// Returns options that send push messages to this server's webhook.
    func options(_ words: String = "") throws -> DeliveryOptions {
        var options = DeliveryOptions()
        options.push = try webhook(words)
        options.networks = NetworkGuard(allowing: [try #require(NetworkBlock("127.0.0.0/8"))])
        options.authorities = authority
        return options
    }

    /// Returns the messages that were received so far, and expects that each was valid.
    func received() async throws -> [JSONValue] {
        let body = try await content(of: "/requests")
        let requests = try JSONValue(parsing: body.span).objectValue?["requests"]?.arrayValue ?? []
        for request in requests { #expect((request["fault"] ?? .null) == .null, "\(request["fault"] ?? .null)") }
        return requests
    }

    /// Returns the body of the response to a GET request.
    func content(of path: String) async throws -> [UInt8] {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        let (url, authority) = (url() + path, authority)
        return try await loop.runTask { poller in
            let loopback = NetworkGuard(allowing: [NetworkBlock("127.0.0.0/8")].compactMap { $0 })
            let client = HTTPClient(poller, networks: loopback, authoritiesPath: authority)
            defer { client.close() }
            var limits = HTTPClientRequest.Limits()
            limits.maxResponseBodyBytes = 64 << 20
            return try await client.send(HTTPClientRequest("GET", url, limits: limits)).body
        }
    }
}
