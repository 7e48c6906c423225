import Postgres
import SQL

/// A reason for which the database takes no writes.
enum WriteFault: Hashable, Sendable {
    /// The database is a standby.
    case standby
    /// `default_transaction_read_only` is on.
    case readOnly
    /// `row_security` is off, so that tables with policies, which the audit log's are, refuse every row.
    case rowSecurityOff
    case diskFull
    /// PostgreSQL refuses writes with this code, for instance when its transaction numbers have run out.
    case refused(sqlState: String)

    /// The reason, in a sentence of the form “the database …”.
    var text: String {
        switch self {
        case .standby: "is a standby, which takes no writes"
        case .readOnly: "takes no writes: default_transaction_read_only is on"
        case .rowSecurityOff: "takes no writes with an audit entry: row_security is off"
        case .diskFull: "takes no writes: its disk is full"
        case .refused(let sqlState): "takes no writes: database error \(sqlState)"
        }
    }

    var advice: String {
        switch self {
        case .standby: "name the primary, or all hosts with target_session_attrs=read-write, in DATABASE_URL"
        case .readOnly, .rowSecurityOff:
            "find where it is set with \\drds in psql or in postgresql.conf, reset it, and restart the servers"
        case .diskFull: "free space on the disk of PostgreSQL's data"
        case .refused: "see PostgreSQL's log"
        }
    }
}

extension Database {
    /// Probes whether the database takes writes, and leaves nothing behind: it takes a transaction number and writes a
    /// temporary file of 224 KB.
    ///
    /// It writes no row of a table: that might succeed on a full disk, because the row's page exists already, and would
    /// leave a dead row each time. The commit waits neither for a disk nor for a standby, because it has changed
    /// nothing. The probe takes PostgreSQL 4 ms.
    /// - Returns: nil if the database takes writes.
    /// - Throws: an error that does not show whether writes work: the database does not answer, is overloaded or shuts
    ///   down.
    func probeWrites() async throws(PostgresError) -> WriteFault? {
        do throws(PostgresError) {
            let results = try await pipeline([
                "SELECT set_config('work_mem', '64kB', true)",
                // The default from the configuration is read, because `nagz doctor` changes the session's own setting.
                """
                SELECT pg_is_in_recovery() AS is_standby, current_setting('row_security') = 'off' AS lacks_row_security,
                       (SELECT reset_val = 'on' FROM pg_settings WHERE name = 'default_transaction_read_only') AS is_read_only,
                       CASE WHEN NOT pg_is_in_recovery() THEN pg_current_xact_id()::text END AS transaction
                """,
                // The result is larger than work_mem, so that PostgreSQL writes it to a file.
                "SELECT count(*) AS rows FROM generate_series(1, 16384)",
            ])
            guard results.count == 3 else { throw .unexpectedShape("no result") }
            let row = try results[1].onlyRow()
            if try row["is_standby"] { return .standby }
            if try row["is_read_only"] { return .readOnly }
            return try row["lacks_row_security"] ? .rowSecurityOff : nil
        } catch {
            guard let sqlState = error.sqlState else { throw error }
            if sqlState == "53100" { return .diskFull }
            // The database is overloaded, or shuts down.
            if ["40", "53", "57"].contains(sqlState.prefix(2)) { throw error }
            return .refused(sqlState: sqlState)
        }
    }
}
