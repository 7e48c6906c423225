import Audit
import ChildProcesses
import Foundation
import JSON
import Postgres
import SQL
import Testing

@testable import ServerTestKit

/// A configured server as its operator has it: a migrated database, and a folder with the files of secrets.
struct OperatorScene: Sendable {
    let folder: String
    /// The superuser's.
    let url: String

    static let key = hexadecimal((0..<32).map { 7 * $0 + 1 })

    static func run(_ body: @Sendable (OperatorScene) async throws -> Void) async throws {
        try await TestCluster.shared.withDatabase { url in
            try await withTemporaryFolder { folder in
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                let scene = OperatorScene(folder: folder, url: url)
                try scene.write("\(key)\n", to: "token")
                try scene.write("origin nagz.test/log\nsign \(key)\nseal \(key)\n", to: "audit")
                try await body(scene)
            }
        }
    }

    /// Writes a file that only its owner may read.
    func write(_ text: String, to name: String, mode: Int = 0o600) throws {
        let path = folder + "/" + name
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    var environment: [String: String] {
        [
            "PATH": "/usr/bin:/bin", "DATABASE_URL": TestLogin.server.url(url),
            "NAGZ_TOKEN_KEY_FILE": folder + "/token", "NAGZ_AUDIT_KEY_FILE": folder + "/audit",
        ]
    }

    /// The same in a configuration file, with the password in a passfile.
    /// - Returns: the file's path.
    func writeConfigurationFile() throws -> String {
        var parts = try #require(URLComponents(string: url))
        (parts.user, parts.password) = (nil, nil)
        let server = TestLogin.server
        try write("*:*:*:\(server.name):\(server.rawValue)\n", to: "pgpass")
        let address = try #require(parts.string) + (parts.query == nil ? "?" : "&")
        try write(
            """
            # all that the server is told
            database-url = \(address)user=\(server.name)&passfile=\(folder)/pgpass&target_session_attrs=read-write
            token-key-file = \(folder)/token
            audit-key-file = \(folder)/audit
            audit-checkpoint-file = \(folder)/checkpoint
            migrations = \(repository.appending(path: "Migrations").path())
            host = 127.0.0.1
            port = 0
            loops = 1
            metrics = off
            log = off
            """, to: "nagz.conf", mode: 0o644)
        return folder + "/nagz.conf"
    }

    /// Runs statements as a superuser.
    func sql(_ statements: String...) async throws {
        let database = try await TestDatabase(url: url)
        for statement in statements { _ = try await database.rows(SQL(unsafeSQL: statement)) { _ in } }
        await database.close()
    }

    /// Runs a checking verb to its end.
    /// - Parameters:
    ///   - changes: of the environment; an empty text takes a variable away.
    ///   - shell: what a shell does before.
    func check(
        _ verb: String = "doctor", _ options: [String] = [], _ changes: [String: String] = [:], shell: String = ""
    ) throws -> CheckRun {
        let program = try #require(NagzProgram.url)
        let process = try ChildProcess(
            URL(filePath: "/bin/sh"), ["-c", shell + #"exec "$0" "$@""#, program.path(), verb] + options,
            in: repository,
            environment: environment.merging(changes) { $1 }.filter { !$1.isEmpty })
        let (output, errors) = (ChildProcess.text(process.output), ChildProcess.text(process.errors))
        return CheckRun(status: process.wait(), output: output, errors: errors)
    }

    /// Every file with its content, mode and times, and every row of the database.
    func everything() async throws -> [String: String] {
        var found: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            var status = stat()
            try #require(stat("\(folder)/\(name)", &status) == 0)
            let content = try Data(contentsOf: URL(filePath: "\(folder)/\(name)")).base64EncodedString()
            let times =
                "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec) \(status.st_ctim.tv_sec).\(status.st_ctim.tv_nsec)"
            found[name] = "\(status.st_mode) \(times) \(content)"
        }
        let database = try await TestDatabase(url: url)
        let tables = try await database.rows(
            """
            SELECT relname::text AS name, query_to_xml(format('SELECT * FROM %I t ORDER BY t::text', relname), true, false, '')::text
                AS content
            FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
            """
        ) { (try $0["name"] as String, try $0["content"] as String) }
        await database.close()
        for (name, content) in tables { found["table \(name)"] = content }
        return found
    }
}

/// What a checking verb said.
struct CheckRun: Sendable {
    let status: Int32?
    let output: String
    let errors: String

    /// Status and texts of a check, by `--json`.
    func result(_ name: String) throws -> (status: String, text: String, advice: String)? {
        let checks = try JSONValue(parsing: Array(output.utf8).span)["checks"]?.arrayValue ?? []
        return checks.first { $0["name"]?.stringValue == name }.map {
            ($0["status"]?.stringValue ?? "", $0["text"]?.stringValue ?? "", $0["advice"]?.stringValue ?? "")
        }
    }

    /// The lines of checks that are neither fine nor left out.
    var complaints: [Substring] {
        output.split(separator: "\n").filter { line in
            !["ok  ", "not configured  ", "all checks passed", "no check failed"].contains { line.hasPrefix($0) }
        }
    }
}
