import Audit
import Domain
import Postgres
import SQL

/// Checks the rows that belong to no family: accounts, administrators, and consents that people gave for themselves
/// alone. Each row must have its entry in some chain.
///
/// `FamilyCheck` checks the reverse: that the account of an entry exists and is the one that the entry names.
struct AccountCheck {
    let database: Database
    /// Whether retention has deleted entries, so that rows may lack their entries.
    let isPruned: Bool

    init(_ database: Database, _ keys: AuditKeyring) async throws {
        self.database = database
        let trustedKeys = TrustedKeys(pinned: keys.signingKeys.map(\.verifier))
        isPruned = try await database.query(ReconcileStatements.prunes)
            .map { row throws(PostgresError) -> String in try row["note"] }
            .contains { note in SignedNote(note).map { trustedKeys.hasSigner(of: $0) } ?? false }
    }

    /// - Parameter pause: called after each page of rows, with their number; throws to cancel the check.
    func run(pause: (_ rows: Int) async throws -> Void = { _ in }) async throws -> StateReport {
        var report = StateReport()
        try await checkAccounts(&report, pause)
        try await checkPersonalConsents(&report, pause)
        try await checkAdministrators(&report)
        return report
    }

    private func checkAccounts(_ report: inout StateReport, _ pause: (Int) async throws -> Void) async throws {
        try await database.forEachRow(ReconcileStatements.accounts(after:), pause: pause) { row in
            let user: UserID = try row["id"]
            report.comparedCount += 1
            guard try row["is_known"] else { return report.add(.erased) }
            if try !row["is_opened"] { addUnexplained(.account, user.description, &report) }
            if try row["is_deleted"], try !row["is_ended"] {
                addDifference(
                    .account, user.description, "status", "deleted", "not deleted", &report, mayBePruned: true)
            }
        }
        for row in try await database.query(ReconcileStatements.accountsDeletedOnlyInLog).map(Location.init(ofAccount:))
        {
            addDifference(.account, row.id, "status", "active", "deleted", &report, row)
        }
        let erased = try await database.query(ReconcileStatements.erasedCounts).onlyRow()
        let (accounts, people): (Int64, Int64) = (try erased["accounts"], try erased["people"])
        if accounts != people, !(isPruned && accounts > people) {
            addDifference(.account, "erased", "count", "\(accounts)", "\(people)", &report)
        }
    }

    private func checkPersonalConsents(_ report: inout StateReport, _ pause: (Int) async throws -> Void) async throws {
        try await database.forEachRow(ReconcileStatements.personalConsents(after:), pause: pause) { row in
            let consent: ConsentID = try row["id"]
            report.comparedCount += 1
            guard try row["is_given"] else { return addUnexplained(.consent, consent.description, &report) }
            let (isRevoked, isRevokedInLog): (Bool, Bool) = (try row["is_revoked"], try row["is_taken_back"])
            guard isRevoked != isRevokedInLog else { return }
            // The account of an erased person is unknown.
            guard try row["is_known"] else { return report.add(.erased) }
            addDifference(
                .consent, consent.description, "revoked", "\(isRevoked)", "\(isRevokedInLog)", &report,
                mayBePruned: isRevoked)
        }
    }

    private func checkAdministrators(_ report: inout StateReport) async throws {
        let rows = try await database.query(ReconcileStatements.administrators)
        for row in rows {
            let user: UserID = try row["user_id"]
            report.comparedCount += 1
            guard try row["is_known"] else {
                report.add(.erased)
                continue
            }
            guard try row["is_made"] else {
                addUnexplained(.administrator, user.description, &report)
                continue
            }
            let (isRevoked, isRevokedInLog): (Bool, Bool) = (try row["is_revoked"], try row["is_ended"])
            if isRevoked != isRevokedInLog {
                addDifference(
                    .administrator, user.description, "revoked", "\(isRevoked)", "\(isRevokedInLog)", &report,
                    mayBePruned: isRevoked)
            }
        }
        for row in try await database.query(ReconcileStatements.administratorsOnlyInLog).map(Location.init(ofPerson:)) {
            report.add(
                StateFinding(.administrator, row.id, .noRow, family: .outside, number: row.number))
        }
    }

    // MARK: Findings

    /// The place of a finding: an account or a pseudonym, with the family and the number of the entry about it.
    private struct Location {
        let id: String
        var family = FamilyID.outside
        let number: Int64

        init(ofAccount row: Row) throws(PostgresError) {
            let user: UserID = try row["id"]
            id = user.description
            family = try row["family_id"]
            number = try row["n"]
        }

        init(ofPerson row: Row) throws(PostgresError) {
            let person: Pseudonym = try row["subject"]
            id = person.description
            number = try row["n"]
        }
    }

    /// Adds a finding about a row without an entry, or counts the row as pruned if retention has deleted entries.
    private func addUnexplained(_ subject: StateFinding.Subject, _ id: String, _ report: inout StateReport) {
        if isPruned { report.add(.pruned) } else { report.add(StateFinding(subject, id, .noEntry, family: nil)) }
    }

    /// Adds a finding about a field of a row.
    /// - Parameter mayBePruned: whether an entry that retention deleted can explain the difference.
    private func addDifference(
        _ subject: StateFinding.Subject, _ id: String, _ field: String, _ found: String, _ expected: String,
        _ report: inout StateReport, _ location: Location? = nil, mayBePruned: Bool = false
    ) {
        if isPruned, mayBePruned { return report.add(.pruned) }
        var finding = StateFinding(subject, id, .differs, family: location?.family, number: location?.number)
        (finding.field, finding.found, finding.expected) = (field, found, expected)
        report.add(finding)
    }
}
