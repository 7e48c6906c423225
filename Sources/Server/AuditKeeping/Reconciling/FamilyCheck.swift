import Audit
import Domain
import Postgres
import SQL

/// Checks one family: its chain and bodies, its leaves in the log, its clock, and its rows against its entries.
///
/// Entries never change, so they are read page by page. The newest are read together with the clock and the rows, in
/// one snapshot, which contains every concurrent act either with its row or not at all.
struct FamilyCheck {
    let database: Database
    let sealing: Sealing
    let trustedKeys: TrustedKeys
    let clock: any WallClock

    init(_ database: Database, _ keys: AuditKeyring, _ sealing: Sealing, clock: any WallClock) {
        self.clock = clock
        self.database = database
        self.sealing = sealing
        trustedKeys = TrustedKeys(pinned: keys.signingKeys.map(\.verifier))
    }

    /// Checks the family, and a second time if retention deleted entries meanwhile.
    /// - Parameters:
    ///   - pause: called between pages, outside any transaction; throws to cancel the check.
    ///   - renew: called between pages of the final snapshot, in which the check does not pause; throws to cancel the
    ///     check. The snapshot keeps its database session meanwhile.
    func run(
        _ family: FamilyID, pause: (_ entries: Int) async throws -> Void = { _ in },
        renew: () async throws -> Void = {}
    ) async throws -> StateReport {
        let prune = try await readPrune(of: family)
        let report = try await check(family, prune, pause, renew)
        // Entries that retention deleted during the check look like missing ones, so the check is then repeated.
        let currentPrune = try await readPrune(of: family)
        return currentPrune == prune ? report : try await check(family, currentPrune, pause, renew)
    }

    private func check(
        _ family: FamilyID, _ prune: Prune?, _ pause: (_ entries: Int) async throws -> Void,
        _ renew: () async throws -> Void
    ) async throws -> StateReport {
        var scan = ChainScan(family, prune)
        // Entries written during the rests are read at the end, without rests: otherwise a busy family would never be
        // finished, and an entry that was read before it had its leaf would look skipped.
        let end: Int64? = try await database.query(ReconcileStatements.newestSequenceNumber(of: family)).first?["seq"]
        while true {
            let rows = try await database.query(ReconcileStatements.entryPage(of: family, after: scan.lastNumber))
            guard rows.count == ReconcileStatements.pageSize, try rows[rows.count - 1]["leaf"] as [UInt8]? != nil else {
                break
            }
            try await scanEntries(rows, &scan, database)
            guard scan.lastNumber < end ?? .max else { break }
            try await pause(rows.count)
        }
        let pagedScan = scan
        return try await database.transaction { transaction in
            _ = try await transaction.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            return try await finish(pagedScan, transaction, renew)
        }
    }

    /// Reads the newest record of the entries that retention deleted; nil if there is none, or if it is not valid.
    private func readPrune(of family: FamilyID) async throws -> Prune? {
        guard let text: String = try await database.query(ReconcileStatements.newestPrune(of: family)).first?["note"],
            let note = SignedNote(text), trustedKeys.hasSigner(of: note), let prune = Prune(text: note.text),
            prune.family == family
        else { return nil }
        return prune
    }

    // MARK: Entries

    /// Verifies and replays the entries, and compares the accounts that they opened.
    private func scanEntries(_ rows: Rows, _ scan: inout ChainScan, _ queries: any Queries) async throws {
        var accountOpenings: [(person: Pseudonym, user: String?, number: Int64)] = []
        for row in rows {
            let prepared = try PreparedEntry(row, sealing)
            let (entry, act) = (prepared.entry, prepared.entry.act)
            let key: Pseudonym? = try row["key_id"]
            let isSealed = try (row["body"] as [UInt8]?).map { _ in key != nil }
            let verifiedBody = scan.verifyAndReplay(
                prepared, leaf: try row["leaf"], isSealed: isSealed)
            if let person = act.subject, AuditKind(rawValue: act.kind)?.createsAccount == true,
                scan.replay.damage.firstUnappliedNumber == nil
            {
                accountOpenings.append((person, verifiedBody?["user"], entry.number))
            }
        }
        guard !accountOpenings.isEmpty else { return }
        let accountRows = try await queries.query(ReconcileStatements.accounts(of: accountOpenings.map(\.person)))
        var accounts: [Pseudonym: UserID] = [:]
        for row in accountRows {
            accounts[try row["pseudonym"]] = try row["id"]
        }
        for (person, user, number) in accountOpenings {
            scan.compareAccount(person, user, number, currentAccount: accounts[person])
        }
    }

    // MARK: Rows

    /// Reads the remaining entries, the clock and the rows in one snapshot, and returns the findings.
    private func finish(
        _ pagedScan: ChainScan, _ queries: any Queries, _ renew: () async throws -> Void
    ) async throws -> StateReport {
        var scan = pagedScan
        while true {
            let rows = try await queries.query(ReconcileStatements.entryPage(of: scan.family, after: scan.lastNumber))
            try await scanEntries(rows, &scan, queries)
            try await renew()
            guard rows.count == ReconcileStatements.pageSize else { break }
        }
        let ends = try await queries.query(
            ReconcileStatements.clockAndMisplacedNumbers(
                of: scan.family, lastPruned: scan.lastPrunedNumber, last: scan.lastNumber)
        ).onlyRow()
        scan.checkEnd(clock: try ends["seq"], head: try ends["head"])
        let misplacedNumbers: [(name: StaticString, code: String, isBeyondEnd: Bool)] = [
            ("early_entry", "out_of_order", false), ("early_body", "body_without_entry", false),
            ("late_body", "body_without_entry", false), ("early_leaf", "missing_entry", false),
            ("late_leaf", "missing_entry", true),
        ]
        for (name, code, isBeyondEnd) in misplacedNumbers {
            guard let number: Int64 = try ends[name] else { continue }
            scan.addDamage(code, number)
            if isBeyondEnd { scan.recordMissingEnd() }
        }
        let relationships = try await queries.query(ReconcileStatements.relationships(of: scan.family))
            .map { row throws(PostgresError) in (id: try row["id"] as ResourceID, row: try StateRow(relationship: row))
            }
        var state = FamilyReconciliation(
            scan.replay,
            relationships: relationships.reduce(into: [:]) { $0[$1.id] = $1.row.keys.first },
            // A day more: the clocks of servers differ.
            deletedBefore: clock.now() - GamificationStatements.retentionPeriod + .days(1))
        for relationship in relationships { state.check(relationship.row) }
        try await checkRows(of: scan.family, &state, queries, renew)
        var report = scan.makeReport()
        report.merge(state.finish())
        return report
    }

    private func checkRows(
        of family: FamilyID, _ state: inout FamilyReconciliation, _ queries: any Queries,
        _ renew: () async throws -> Void
    ) async throws {
        for (statement, read) in [
            (ReconcileStatements.members(of: family), StateRow.init(member:)),
            (ReconcileStatements.connection(family), StateRow.init(connection:)),
            (ReconcileStatements.policies(of: family), StateRow.init(policy:)),
            (ReconcileStatements.badges(of: family), StateRow.init(badge:)),
            (ReconcileStatements.incentiveRules(of: family), StateRow.init(incentiveRule:)),
        ] as [(SQL, (Row) throws -> StateRow)] {
            for row in try await queries.query(statement).map(read) { state.check(row) }
        }
        let pause = { (_: Int) in try await renew() }
        try await queries.forEachRow({ ReconcileStatements.consents(of: family, after: $0) }, pause: pause) {
            state.check(try StateRow(consent: $0))
        }
        try await queries.forEachRow({ ReconcileStatements.nags(of: family, after: $0) }, pause: pause) {
            state.check(try StateRow(nag: $0))
        }
        try await queries.forEachRow(
            { ReconcileStatements.points(of: family, after: $0) }, place: { (at: try $0["sync_ts"], id: try $0["id"]) },
            pause: pause
        ) {
            state.check(try StateRow(points: $0))
        }
        for row in try await queries.query(ReconcileStatements.totals(of: family)).map(TotalsRow.init) {
            state.check(row)
        }
        try await queries.forEachRow({ ReconcileStatements.incentives(of: family, after: $0) }, pause: pause) {
            state.check(try StateRow(incentive: $0))
        }
        try await queries.forEachRow(
            { ConstraintStatements.withOwners(after: $0, limit: ReconcileStatements.pageSize, in: family) },
            pause: pause
        ) {
            state.check(try StateRow(constraint: $0))
        }
    }
}
