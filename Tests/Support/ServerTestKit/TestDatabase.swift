import Foundation
import Postgres
import Reactor
import SQL
import Server
import Synchronization
import Testing

/// A superuser's sessions with one database, on their own loop, for tests that read or change it without the server.
final class TestDatabase: Sendable {
    let url: String
    private let loop: EventLoop
    private let database: LoopBound<Database>

    init(url: String, sessions: Int = 1) async throws {
        self.url = url
        loop = try EventLoop(name: "test-database")
        try loop.start()
        database = try await Self.open(url, sessions, on: loop)
    }

    func close() async {
        await Self.close(database, on: loop)
        loop.stop()
    }

    /// Runs `body` as a task of the loop, as the server's own requests are.
    func run<Value: Sendable>(_ body: @escaping @Sendable (Database) async throws -> Value) async throws -> Value {
        let database = database
        return try await loop.runTask { _ in try await body(database.value) }
    }

    /// Reads rows.
    func rows<Value: Sendable>(
        _ statement: SQL, _ read: @escaping @Sendable (Row) throws -> Value
    ) async throws -> [Value] {
        try await run { try await $0.query(statement).map(read) }
    }

    private static func open(
        _ url: String, _ sessions: Int, on loop: isolated EventLoop
    ) throws -> LoopBound<Database> {
        var limits = Database.Limits()
        limits.connections = sessions
        limits.batchesPerConnection = 1
        limits.requestTimeout = .seconds(30)
        limits.batchTimeout = .seconds(60)
        let database = Database(try ConnectionOptions(url: url), limits: limits, poller: loop.poller)
        database.open()
        return LoopBound(value: database)
    }

    private static func close(_ database: LoopBound<Database>, on loop: isolated EventLoop) { database.value.close() }
}

/// Makes test databases: copies of a template that is migrated once in a test process. Only a few exist at a time.
actor TestCluster {
    static let shared = TestCluster()

    private static let liveLimit = 6
    private let prefix = "nagz_test_\(ProcessInfo.processInfo.processIdentifier)"
    private var administration: Task<TestDatabase, any Error>?
    private var template: Task<String, any Error>?
    private var planning: Task<TestDatabase, any Error>?
    private var count = 0
    private var live = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// A database that is copied. It has no sessions.
    struct Template: Sendable {
        fileprivate let name: String
    }

    /// Runs `body` with a superuser's URL of a new database, and drops the database afterwards.
    /// - Parameter template: the database to copy; nil for a migrated, empty one.
    func withDatabase<Value: Sendable>(
        copyOf template: Template? = nil, _ body: @Sendable (_ url: String) async throws -> Value
    ) async throws -> Value {
        if live >= Self.liveLimit { await withCheckedContinuation { waiting.append($0) } } else { live += 1 }
        defer { if waiting.isEmpty { live -= 1 } else { waiting.removeFirst().resume() } }
        let name = try await copy(template)
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await body(Self.url(of: name))) } catch { outcome = .failure(error) }
        try await administer("DROP DATABASE \(name) WITH (FORCE)")
        return try outcome.get()
    }

    /// Creates a template from a migrated database that `prepare` fills. It is dropped when the process ends.
    func template(_ prepare: @Sendable (_ url: String) async throws -> Void) async throws -> Template {
        let name = try await copy(nil)
        TemplatesAtExit.add(name)
        try await prepare(Self.url(of: name))
        return Template(name: name)
    }

    /// Returns the database of empty tables in which statements are planned. All tests share it, so the plan of a
    /// statement does not depend on the order of tests.
    func planningDatabase() async throws -> TestDatabase {
        let task =
            planning
            ?? Task {
                let name = try await copy(nil)
                TemplatesAtExit.add(name)
                return try await TestDatabase(url: Self.url(of: name))
            }
        planning = task
        return try await task.value
    }

    /// Closes the session of the planning database before the database is dropped. Otherwise the lost session would be
    /// opened again, which libpq cannot do after OpenSSL's cleanup at the end of the process.
    fileprivate func closePlanningDatabase() async {
        guard let database = try? await planning?.value else { return }
        await database.close()
    }

    /// - Returns: the new database's name.
    private func copy(_ template: Template?) async throws -> String {
        let source = if let template { template.name } else { try await migratedTemplate() }
        count += 1
        let name = "\(prefix)_\(count)"
        try await administer(
            "CREATE DATABASE \(name) TEMPLATE \(source) OWNER \(TestLogin.owner.name) STRATEGY FILE_COPY")
        // A copy does not have the template's grants on the database itself.
        try await administer("REVOKE TEMPORARY ON DATABASE \(name) FROM PUBLIC")
        return name
    }

    private func migratedTemplate() async throws -> String {
        if let template { return try await template.value }
        let name = "\(prefix)_template"
        let task = Task {
            TemplatesAtExit.add(name)
            try await administer("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
            try await Self.migrate(name, administer)
            return name
        }
        template = task
        return try await task.value
    }

    /// Creates the roles and a migrated database. Roles belong to the whole cluster, so only one process may create
    /// them at a time.
    private static func migrate(
        _ name: String, _ administer: @Sendable @escaping (String) async throws -> Void
    ) async throws {
        let migrations = repository.appending(path: "Migrations").path()
        try await Schema.withDatabase(clusterURL()) { cluster in
            _ = try await cluster.query("SELECT pg_advisory_lock(4711)")
            for statement in TestLogin.statements { try await administer(statement) }
            try await administer("CREATE DATABASE \(name) OWNER \(TestLogin.owner.name)")
            let url = TestLogin.owner.url(try url(of: name))
            try await Schema.migrate(folder: migrations, databaseURL: url) { _ in }
        }
    }

    /// Runs a statement on the cluster's own database, through sessions that stay open.
    fileprivate func administer(_ statement: String) async throws {
        if administration == nil {
            administration = Task { try await TestDatabase(url: Self.clusterURL(), sessions: 3) }
        }
        try await administration?.value.run { _ = try await $0.query(SQL(unsafeSQL: statement)) }
    }

    private static func clusterURL() throws -> String {
        try #require(
            ProcessInfo.processInfo.environment["NAGZ_TEST_DATABASE_URL"],
            "set NAGZ_TEST_DATABASE_URL to a superuser's URL of a test cluster (deploy/test does)")
    }

    /// Returns the URL of a database. If a URL names two databases, libpq uses the last one.
    private static func url(of name: String) throws -> String {
        let url = try clusterURL()
        guard url.contains("://") else { return "\(url) dbname=\(name)" }
        return "\(url)\(url.contains("?") ? "&" : "?")dbname=\(name)"
    }
}

/// A login of the test cluster besides its superuser.
enum TestLogin: String {
    /// The owner of the databases and of all that the migrations create. It may create no roles.
    case owner
    /// The login of the server.
    case server

    var name: String { "nagz_test_\(rawValue)" }

    /// Returns the superuser's URL with this login. If a URL has two users or passwords, libpq uses the last ones.
    func url(_ url: String) -> String {
        url.contains("://") ? "\(url)&user=\(name)&password=\(rawValue)" : "\(url) user=\(name) password=\(rawValue)"
    }

    /// The statements that create the roles, if they do not exist.
    static let statements = [
        ("nagz_server", "CREATE ROLE nagz_server"),
        (owner.name, "CREATE ROLE \(owner.name) LOGIN PASSWORD 'owner' IN ROLE nagz_server"),
        (server.name, "CREATE ROLE \(server.name) LOGIN PASSWORD 'server' IN ROLE nagz_server"),
    ].map { name, statement in
        """
        DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '\(name)') THEN \(statement); END IF; END $$
        """
    }
}

/// The folder of the repository from which this test was built.
let repository = URL(filePath: #filePath).appending(path: "../../../..").standardizedFileURL

/// Drops the templates when the test process ends normally.
private enum TemplatesAtExit {
    private static let names = Mutex<[String]>([])

    static func add(_ name: String) {
        names.withLock { names in
            if names.isEmpty { atexit { TemplatesAtExit.drop() } }
            names.append(name)
        }
    }

    private static func drop() {
        let names = names.withLock(\.self)
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await TestCluster.shared.closePlanningDatabase()
            for name in names {
                try? await TestCluster.shared.administer("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
            }
            done.signal()
        }
        _ = done.wait(timeout: .now() + 5)
    }
}
