import Postgres
import Reactor
import SQL
import Testing

@Suite("Listening for notifications")
struct NotificationTests {
    /// What a listener said, on its loop.
    private final class Record {
        var payloads: [String] = []
        var beginnings = 0
    }

    private static func withListener(
        _ body: @escaping @Sendable (Database, Record, NotificationListener) async throws -> Void
    ) async throws {
        try await withDatabase { database in
            let name: String = try await database.query("SELECT current_database() AS name").onlyRow()["name"]
            let record = Record()
            let listener = NotificationListener(
                try ConnectionOptions(url: try testURL(), database: name),
                listen: "LISTEN changes", poller: database.poller, heartbeatInterval: .seconds(3_600),
                timeout: .seconds(600),
                onListening: { record.beginnings += 1 }, onNotification: { record.payloads.append($0) })
            listener.start()
            while record.beginnings < 1 { await Task.yield() }
            try await body(database, record, listener)
            listener.stop()
            #expect(!listener.isListening)
        }
    }

    @Test("a listener receives payloads in order, and none of another channel")
    func payloads() async throws {
        try await Self.withListener { database, record, _ in
            for payload in ["one", "", "drei €"] {
                _ = try await database.query("SELECT pg_notify('other', 'no'), pg_notify('changes', \(payload))")
            }
            while record.payloads.count < 3 { await Task.yield() }
            #expect(record.payloads == ["one", "", "drei €"])
        }
    }

    @Test("a listener listens again after its session was killed, and says so")
    func killed() async throws {
        try await Self.withListener { database, record, listener in
            for round in 2...4 {
                let killed: Bool? = try await database.query(
                    """
                    SELECT pg_terminate_backend(pid) AS is_killed FROM pg_stat_activity
                    WHERE query LIKE 'LISTEN%' AND datname = current_database() AND pid <> pg_backend_pid()
                    """
                ).first?["is_killed"]
                #expect(killed == true)
                while record.beginnings < round { await Task.yield() }
                _ = try await database.query("SELECT pg_notify('changes', \("after \(round)"))")
                while record.payloads.last != "after \(round)" { await Task.yield() }
                #expect(listener.isListening)
            }
        }
    }
}
