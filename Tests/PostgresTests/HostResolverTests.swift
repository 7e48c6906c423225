import Dispatch
import Reactor
import SQL
import Testing

@testable import Postgres

@Suite("Names of the database's hosts")
struct HostResolverTests {
    /// Keeps those who come to it until it is opened.
    private final class Gate: Sendable {
        private let semaphore = DispatchSemaphore(value: 0)
        func pass() {
            semaphore.wait()
            semaphore.signal()
        }
        func open() { semaphore.signal() }
    }

    private static func limits(connectTimeout: Duration, givesUp: Bool = true) -> Database.Limits {
        var limits = Database.Limits()
        limits.connections = 1
        limits.connectTimeout = connectTimeout
        limits.requestTimeout = .seconds(60)
        limits.givesUpOnFailure = givesUp
        return limits
    }

    @Test("a resolver that never answers delays no timer and no other session, and its attempt ends in time")
    func deadResolver() async throws {
        try await withDatabase { database in
            let gate = Gate()
            defer { gate.open() }
            let resolver = HostResolver { _ in
                gate.pass()
                return .success([])
            }
            let unreachable = Database(
                try ConnectionOptions(url: try testURL(["host": "database.test"])),
                limits: Self.limits(connectTimeout: .milliseconds(500)), resolver: resolver, poller: database.poller)
            defer { unreachable.close() }
            unreachable.open()
            let ended = await together(3, on: database) { number in
                switch number {
                case 1: _ = try await unreachable.query("SELECT 1")
                case 2: _ = try await database.query("SELECT 1")
                default:
                    await withCheckedContinuation { done in
                        database.poller.schedule(at: database.poller.now + .milliseconds(1)) { done.resume() }
                    }
                }
                return "done"
            }
            // The resolver is not done yet: whoever had to wait for it would wait for the test's end.
            #expect(
                ended.inOrder == [
                    "database unavailable: the host name database.test was not resolved in time", "done", "done",
                ])
        }
    }

    @Test("an unanswered or unknown name does not keep a session from the other hosts")
    func otherHosts() async throws {
        try await withDatabase { database in
            let gate = Gate()
            defer { gate.open() }
            let resolver = HostResolver { name in
                switch name {
                case "database.test": return .success(["127.0.0.1"])
                case "unknown.test": return .failure(.unavailable("unknown"))
                default:
                    gate.pass()
                    return .success([])
                }
            }
            for hosts in ["dead.test,database.test", "unknown.test,database.test", "dead.test,127.0.0.1"] {
                let reachable = Database(
                    try ConnectionOptions(url: try testURL(["host": hosts])),
                    limits: Self.limits(connectTimeout: .seconds(4)), resolver: resolver, poller: database.poller)
                reachable.open()
                defer { reachable.close() }
                #expect(try await reachable.query("SELECT 1 AS one").onlyRow()["one"] == 1)
            }
        }
    }

    @Test("a failed lookup fails the session, and the next attempt looks up again")
    func failure() async throws {
        try await withDatabase { database in
            let lookups = Locked(0)
            let resolver = HostResolver { _ in
                let number = lookups.withLock { count in
                    count += 1
                    return count
                }
                return number < 3 ? .failure(.unavailable("no such name")) : .success(["127.0.0.1"])
            }
            func session(givesUp: Bool) throws -> Database {
                let database = Database(
                    try ConnectionOptions(url: try testURL(["host": "database.test"])),
                    limits: Self.limits(connectTimeout: .seconds(60), givesUp: givesUp), resolver: resolver,
                    poller: database.poller)
                database.open()
                return database
            }
            let refused = try session(givesUp: true)
            let error = await #expect(throws: PostgresError.self) { _ = try await refused.query("SELECT 1") }
            #expect(error == .unavailable("no such name"))
            refused.close()
            let retried = try session(givesUp: false)
            #expect(try await retried.query("SELECT 1 AS one").onlyRow()["one"] == 1)
            #expect(lookups.withLock { $0 } == 3)
            retried.close()
        }
    }

    @Test("simultaneous requests for a name share one lookup")
    func shared() async throws {
        let (gate, lookups) = (Gate(), Locked(0))
        let resolver = HostResolver { name in
            gate.pass()
            lookups.withLock { $0 += 1 }
            return .success([name, "127.0.0.1"])
        }
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        let answers = try await loop.runTask { poller in
            await withCheckedContinuation { (done: CheckedContinuation<[HostResolver.Answer], Never>) in
                var answers: [HostResolver.Answer] = []
                for _ in 0..<8 {
                    poller.spawn {
                        answers.append(await resolver.addresses(of: "a.test"))
                        if answers.count == 8 { done.resume(returning: answers) }
                    }
                }
                poller.spawn { gate.open() }
            }
        }
        #expect(answers == .init(repeating: .success(["a.test", "127.0.0.1"]), count: 8))
        #expect(lookups.withLock { $0 } == 1)
    }

    @Test("TLS checks the host name that was looked up, not the address")
    func nameInCertificate() async throws {
        let resolver = HostResolver { _ in .success(["127.0.0.1"]) }
        var limits = Self.limits(connectTimeout: .seconds(60))
        limits.requestTimeout = .seconds(60)
        try await withSecureDatabase(limits, host: "localhost", resolver: resolver) { secure in
            let row = try await secure.query("SELECT 1 AS one").onlyRow()
            #expect(try row["one"] == 1)
        }
        try await withSecureDatabase(limits, host: "elsewhere.test", resolver: resolver) { secure in
            let error = await #expect(throws: PostgresError.self) { _ = try await secure.query("SELECT 1") }
            #expect(error?.description.contains("does not match host name \"elsewhere.test\"") == true)
        }
    }
}
