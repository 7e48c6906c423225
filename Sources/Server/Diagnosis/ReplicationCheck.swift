import Postgres
import SQL

/// Checks whether the server can read how far standbys are behind.
enum ReplicationCheck {
    /// Checks the database's standbys; nil for a database without them.
    static func run(_ queries: any Queries) async throws -> CheckResult? {
        let row = try await queries.query("SELECT * FROM \(ReplicationStatus.source)").onlyRow()
        let owner: String = try await queries.query(
            "SELECT relowner::regrole::text AS owner FROM pg_class WHERE oid = to_regclass('schema_migrations')"
        ).onlyRow()["owner"]
        return result(try ReplicationStatus(row), owner: owner)
    }

    /// Returns the result for a status; nil for a database without standbys.
    /// - Parameter owner: the role that owns the schema.
    static func result(_ status: ReplicationStatus, owner: String) -> CheckResult? {
        guard status.standbys > 0 else { return nil }
        let standbys = status.standbys == 1 ? "one standby" : "\(status.standbys) standbys"
        guard status.hasDetails else {
            return .warning(
                "replication", "\(standbys); the lag is unknown, because the schema's owner may not read it",
                advice:
                    "as a superuser, GRANT pg_read_all_stats TO \(owner); the metrics then have nagz_replication_lag_seconds"
            )
        }
        let lagBytes = max(0, status.writtenPosition - (status.replayedPosition ?? status.writtenPosition))
        return .ok(
            "replication",
            "\(standbys), \(status.synchronousStandbys) of them synchronous, \(lagBytes) bytes behind at most")
    }
}
