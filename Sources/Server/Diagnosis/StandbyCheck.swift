import Postgres
import SQL

/// Checks that the standby for reads of the feed is a standby, and one of the primary's cluster.
public struct StandbyCheck: Sendable {
    private let databaseURL: String
    private let standbyURL: String

    /// - Parameters:
    ///   - databaseURL: the URL of the server's login at the primary.
    ///   - standbyURL: the URL of the same login at the standby.
    public init(databaseURL: String, standbyURL: String) {
        (self.databaseURL, self.standbyURL) = (databaseURL, standbyURL)
    }

    public func run() async -> CheckResult {
        do {
            let primary = try await Self.readPosition(databaseURL, "pg_current_wal_lsn()")
            let standby = try await Self.readPosition(
                standbyURL, "pg_last_wal_replay_lsn()", Standby.connectionDefaults)
            return Self.result(isSameCluster: primary.cluster == standby.cluster, primary.bytes - standby.bytes)
        } catch {
            return .failed(
                "standby", "\(error)",
                advice: "start the standby, or correct the URL in --standby; until then the primary answers")
        }
    }

    /// - Parameter lagBytes: the size of the part of the primary's log that the standby has not replayed.
    static func result(isSameCluster: Bool, _ lagBytes: Int) -> CheckResult {
        guard isSameCluster else {
            return .failed(
                "standby", "it belongs to another PostgreSQL cluster, so the primary answers instead",
                advice: "name a standby of the database in --standby")
        }
        return .ok("standby", "a standby of the database, \(max(0, lagBytes)) bytes behind")
    }

    /// Returns the identifier of the cluster, and a position in its write-ahead log in bytes.
    /// - Parameters:
    ///   - position: the SQL expression of the position.
    ///   - defaults: the connection settings for what the URL leaves open.
    private static func readPosition(
        _ url: String, _ position: SQL, _ defaults: [(keyword: String, value: String)] = []
    ) async throws -> (cluster: Int, bytes: Int) {
        try await Schema.withDatabase(url, defaults: defaults) { database in
            let row = try await database.query(
                """
                SELECT system_identifier AS cluster, (\(position) - '0/0')::bigint AS bytes FROM pg_control_system()
                """
            ).onlyRow()
            return (try row["cluster"], try row["bytes"])
        }
    }
}
