import Domain
import SQL
import Testing

@testable import Server

extension TestServer {
    /// Runs `body` with `count` more servers on the same database. Each has its own loops, sessions and clock, as
    /// another process would.
    /// - Parameters:
    ///   - tokenKeys: the token keys of the peers, the newest first.
    ///   - configure: changes the configuration of each peer.
    func withPeers(
        _ count: Int, tokenKeys: [[UInt8]] = [tokenKey], configure: @Sendable (inout Configuration) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation,
        _ body: @Sendable ([TestServer]) async throws -> Void
    ) async throws {
        var running: [(server: NagzServer, log: LogRecorder)] = []
        var peers: [TestServer] = []
        let outcome: Result<Void, any Error>
        do {
            for _ in 0..<count {
                let (clock, log) = (ManualClock(), LogRecorder())
                clock.set(to: self.clock.now())
                var configuration = Self.configuration(of: database.url, tokenKeys, loops: 1, log, .error)
                configure(&configuration)
                let server = try await NagzServer(configuration, clock: clock, random: random)
                running.append((server, log))
                peers.append(
                    TestServer(
                        port: try await server.start(host: "127.0.0.1", port: 0),
                        metricsPort: try await server.listenForMetrics(host: "127.0.0.1", port: 0), clock: clock,
                        random: random, database: database, log: log, routes: routes))
            }
            outcome = .success(try await body(peers))
        } catch {
            outcome = .failure(error)
        }
        for (server, log) in running {
            await server.shutDown(within: .seconds(2))
            for line in log.close() { Issue.record("a peer's log: \(line)", sourceLocation: sourceLocation) }
        }
        try outcome.get()
    }

    /// Inserts another session of a person, as another device would have.
    func anotherSession(of person: TestPerson) async throws -> TestPerson {
        let session: SessionID = random.identifier(at: clock.now())
        try await sql(
            """
            INSERT INTO sessions (id, user_id, created_at, expires_at)
            VALUES (\(session), \(person.id), \(clock.now()), \(clock.now() + .days(3_650)))
            """)
        return TestPerson(
            id: person.id, session: session, pseudonym: person.pseudonym, name: person.name, email: person.email,
            familyID: person.familyID, role: person.role)
    }
}
