import Foundation
import Postgres
import Reactor
import SQL
import Testing

@Suite("TLS")
struct TLSTests {
    @Test(
        "large results of many batches come whole over TLS, from a server whose name was checked",
        arguments: ["127.0.0.1", "localhost"])
    func largeResults(host: String) async throws {
        var limits = Database.Limits()
        limits.connections = 1
        limits.batchesPerConnection = 16
        limits.requestTimeout = .seconds(300)
        limits.batchTimeout = .seconds(300)
        try await withSecureDatabase(limits, host: host) { secure in
            let session = try await secure.query("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").onlyRow()
            #expect(try session["ssl"] == true)
            // Rows of every length around TLS's records of 16 kB and libpq's buffer, 6 MB in all.
            let outcomes = await together(24, on: secure) { number in
                let rows = try await secure.query(
                    """
                    SELECT repeat(chr(\(96 + number % 26)::int), (\(number * 1_021) * i)::int) AS text
                    FROM generate_series(1, 6) i
                    """)
                return try (0..<rows.count).map { index in
                    let text: String = try rows[index]["text"]
                    return "\(text.utf8.count / 1_021) \(Set(text.utf8).count)"
                }.joined(separator: ", ")
            }.inOrder
            #expect(
                outcomes == (1...24).map { number in (1...6).map { "\(number * $0) 1" }.joined(separator: ", ") })
        }
    }
}

/// Runs `body` with sessions that check the server's certificate and its name, `host`.
func withSecureDatabase(
    _ limits: Database.Limits, host: String, resolver: HostResolver = .system,
    _ body: @escaping @Sendable (Database) async throws -> Void
) async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "nagz-\(UUID().uuidString).crt")
    defer { try? FileManager.default.removeItem(at: file) }
    try await withDatabase { database in
        let row = try await database.query(
            "SELECT current_setting('ssl') = 'on' AS tls, pg_read_file(current_setting('ssl_cert_file'), 0, 65536, true) AS file"
        ).onlyRow()
        guard try row["tls"] else {
            Issue.record("the test cluster speaks no TLS: ssl = on, certificate for 127.0.0.1 (deploy/test does)")
            return
        }
        let certificate: String = try row["file"]
        try certificate.write(to: file, atomically: true, encoding: .utf8)
        let options = try ConnectionOptions(
            url: try testURL(["host": host, "sslmode": "verify-full", "sslrootcert": file.path]))
        let secure = Database(options, limits: limits, resolver: resolver, poller: database.poller)
        secure.open()
        defer { secure.close() }
        try await body(secure)
    }
}
