import Domain
import SQL

/// Every statement on the status of the background check (the table `audit_pass`).
enum PassStatements {
    private static let columns: SQL = """
        started_at, behind, families, entries, findings, first_finding, incomplete, finished_at, last_families,
        last_entries, last_findings, last_finding, last_incomplete
        """

    /// Reads the progress of the running pass and the result of the last full one.
    static let pass: SQL = "SELECT \(columns) FROM audit_pass"

    /// Takes or extends the lease of the check for 30 seconds by the database's clock. It returns no row while another
    /// instance has the lease.
    static func takeLease(_ holder: RequestID) -> SQL {
        """
        UPDATE audit_pass SET holder = \(holder), held_until = statement_timestamp() + interval '30 seconds'
        WHERE holder = \(holder) OR held_until < statement_timestamp()
        RETURNING \(columns)
        """
    }

    /// Begins a pass at the first family, with all counts at zero. It changes no row if another instance has the lease.
    static func begin(_ holder: RequestID, at now: Timestamp) -> SQL {
        """
        UPDATE audit_pass SET started_at = \(now), behind = NULL, families = 0, entries = 0, findings = 0,
            first_finding = NULL, incomplete = NULL
        WHERE holder = \(holder)
        """
    }

    /// Stores the holder's progress, and extends the lease. It changes no row if another instance has taken the lease.
    static func saveAndExtendLease(_ holder: RequestID, _ status: PassStatus.Status, after last: FamilyID?) -> SQL {
        """
        UPDATE audit_pass SET behind = \(last), families = \(status.families), entries = \(status.entries),
            findings = \(status.findings), first_finding = \(status.firstFinding), incomplete = \(status.incompleteReason),
            held_until = statement_timestamp() + interval '30 seconds'
        WHERE holder = \(holder)
        """
    }

    /// Stores the result of a pass, and resets the progress. It changes no row if another instance has taken the lease.
    static func finish(_ holder: RequestID, _ status: PassStatus.Status) -> SQL {
        """
        UPDATE audit_pass SET started_at = NULL, behind = NULL, families = 0, entries = 0, findings = 0,
            first_finding = NULL, incomplete = NULL, finished_at = \(status.finishedAt),
            last_families = \(status.lastPassFamilies), last_entries = \(status.lastPassEntries), last_findings = \(status.lastPassFindings),
            last_finding = \(status.lastPassFirstFinding), last_incomplete = \(status.lastPassIncompleteReason)
        WHERE holder = \(holder)
        """
    }
}
