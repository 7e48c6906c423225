import Domain
import SQL
import Testing

@testable import Server

extension TestServer {
    /// Runs `body` with `count` more servers over the same database, each with loops, sessions and a clock of its own,
    /// as further processes would have them.
    /// - Parameters:
    ///   - tokenKeys: theirs, the newest first.
    ///   - configure: changes what they are told at start.
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
                        port: try await server.listen(host: "127.0.0.1", port: 0),
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

    /// One more session of a person's, as another device would have it.
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
