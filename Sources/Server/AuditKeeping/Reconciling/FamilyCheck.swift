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
    let trusted: TrustedKeys
    let clock: any WallClock

    init(_ database: Database, _ keys: AuditKeyring, _ sealing: Sealing, clock: any WallClock) {
        self.clock = clock
        self.database = database
        self.sealing = sealing
        trusted = TrustedKeys(pinned: keys.signing.map(\.verifier))
    }

    /// - Parameters:
    ///   - pause: called between pages, outside any transaction; throws to give up.
    ///   - renew: called between pages of the final snapshot, during which the check does not rest; throws to give up.
    ///     The snapshot keeps its database session meanwhile.
    func run(
        _ family: FamilyID, pause: (_ entries: Int) async throws -> Void = { _ in },
        renew: () async throws -> Void = {}
    ) async throws -> StateReport {
        let prune = try await prune(of: family)
        let report = try await check(family, prune, pause, renew)
        // Entries that retention deleted in the meantime look like missing ones.
        let later = try await self.prune(of: family)
        return later == prune ? report : try await check(family, later, pause, renew)
    }

    private func check(
        _ family: FamilyID, _ prune: Prune?, _ pause: (_ entries: Int) async throws -> Void,
        _ renew: () async throws -> Void
    ) async throws -> StateReport {
        var scan = ChainScan(family, prune)
        // Entries written during the rests are read at the end, without rests: otherwise a busy family would never be
        // finished, and an entry that was read before it had its leaf would look skipped.
        let end: Int64? = try await database.query(ReconcileStatements.newest(of: family)).first?["seq"]
        while true {
            let rows = try await database.query(ReconcileStatements.entries(of: family, after: scan.last))
            guard rows.count == ReconcileStatements.pageSize, try rows[rows.count - 1]["leaf"] as [UInt8]? != nil else {
                break
            }
            try await take(rows, &scan, database)
            guard scan.last < end ?? .max else { break }
            try await pause(rows.count)
        }
        let read = scan
        return try await database.transaction { transaction in
            _ = try await transaction.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            return try await finish(read, transaction, renew)
        }
    }

    /// The entries that retention deleted, if the record is signed.
    private func prune(of family: FamilyID) async throws -> Prune? {
        guard let text: String = try await database.query(ReconcileStatements.prune(of: family)).first?["note"],
            let note = SignedNote(text), trusted.haveSigned(note), let prune = Prune(text: note.text),
            prune.family == family
        else { return nil }
        return prune
    }

    // MARK: Entries

    private func take(_ rows: Rows, _ scan: inout ChainScan, _ queries: any Queries) async throws {
        var opened: [(person: Pseudonym, user: String?, number: Int64)] = []
        for index in 0..<rows.count {
            let row = rows[index]
            let prepared = try PreparedEntry(row, sealing)
            let (entry, act) = (prepared.entry, prepared.entry.act)
            let key: Pseudonym? = try row["key_id"]
            let isSealed = try (row["body"] as [UInt8]?).map { _ in key != nil }
            let body = scan.take(
                prepared, leaf: try row["leaf"], isSealed: isSealed)
            if let person = act.subject, StateEffect(kind: act.kind)?.opensAccount == true,
                scan.replay.damage.stop == nil
            {
                opened.append((person, body?["user"], entry.number))
            }
        }
        guard !opened.isEmpty else { return }
        let found = try await queries.query(ReconcileStatements.accounts(of: opened.map(\.person)))
        var accounts: [Pseudonym: UserID] = [:]
        for index in 0..<found.count { accounts[try found[index]["pseudonym"]] = try found[index]["id"] }
        for (person, user, number) in opened { scan.opened(person, user, number, isNow: accounts[person]) }
    }

    // MARK: Rows

    private func finish(
        _ read: ChainScan, _ queries: any Queries, _ renew: () async throws -> Void
    ) async throws -> StateReport {
        var scan = read
        while true {
            let rows = try await queries.query(ReconcileStatements.entries(of: scan.family, after: scan.last))
            try await take(rows, &scan, queries)
            try await renew()
            guard rows.count == ReconcileStatements.pageSize else { break }
        }
        let ends = try await queries.query(
            ReconcileStatements.ends(of: scan.family, cut: scan.cut, last: scan.last)
        ).one()
        scan.end(clock: try ends["seq"], head: try ends["head"])
        let strays: [(name: StaticString, code: String, isTail: Bool)] = [
            ("early_entry", "out_of_order", false), ("early_body", "body_without_entry", false),
            ("late_body", "body_without_entry", false), ("early_leaf", "missing_entry", false),
            ("late_leaf", "missing_entry", true),
        ]
        for (name, code, isTail) in strays {
            guard let number: Int64 = try ends[name] else { continue }
            scan.damaged(code, number)
            if isTail { scan.endsEarly() }
        }
        let relationships = try await relationships(of: scan.family, queries)
        var state = FamilyReconciliation(
            scan.replay, relationships: relationships,
            // A day more: the clocks of servers differ.
            deletedBefore: clock.now() - GamificationStatements.period + .days(1))
        try await checkRows(of: scan.family, &state, relationships, queries, renew)
        var report = scan.report()
        report.merge(state.finish())
        return report
    }

    private func relationships(of family: FamilyID, _ queries: any Queries) async throws -> [RelationshipRow] {
        try await queries.query(ReconcileStatements.relationships(of: family)).map { row throws(PostgresError) in
            RelationshipRow(id: try row["id"], parties: [try row["a"], try row["b"]], status: try row["status"])
        }
    }

    private func checkRows(
        of family: FamilyID, _ state: inout FamilyReconciliation, _ relationships: [RelationshipRow],
        _ queries: any Queries, _ renew: () async throws -> Void
    ) async throws {
        for row in try await queries.query(ReconcileStatements.members(of: family)).map(MemberRow.init) {
            state.check(.member(row))
        }
        for row in relationships { state.check(.relationship(row)) }
        for row in try await queries.query(ReconcileStatements.connection(family)).map(ConnectionRow.init) {
            state.check(.connection(row))
        }
        var lastConsent: ConsentID?
        while true {
            let rows = try await queries.query(ReconcileStatements.consents(of: family, after: lastConsent))
            for row in try rows.map(ConsentRow.init) {
                state.check(.consent(row))
                lastConsent = row.id
            }
            try await renew()
            if rows.count < ReconcileStatements.pageSize { break }
        }
        for row in try await queries.query(ReconcileStatements.policies(of: family)).map(PolicyRow.init) {
            state.check(.policy(row))
        }
        var lastNag: NagID?
        while true {
            let rows = try await queries.query(ReconcileStatements.nags(of: family, after: lastNag))
            for row in try rows.map(NagRow.init) {
                state.check(.nag(row))
                lastNag = row.id
            }
            try await renew()
            if rows.count < ReconcileStatements.pageSize { break }
        }
        var lastScore: (at: Timestamp, id: EventID)?
        while true {
            let rows = try await queries.query(ReconcileStatements.scores(of: family, after: lastScore))
            for index in 0..<rows.count {
                let row = try ScoreRow(rows[index])
                state.check(.score(row))
                lastScore = (try rows[index]["sync_ts"], row.id)
            }
            try await renew()
            if rows.count < ReconcileStatements.pageSize { break }
        }
        for row in try await queries.query(ReconcileStatements.totals(of: family)).map(TotalsRow.init) {
            state.check(.totals(row))
        }
        for row in try await queries.query(ReconcileStatements.badges(of: family)).map(BadgeRow.init) {
            state.check(.badge(row))
        }
        try await checkIncentives(of: family, &state, queries, renew)
        try await checkConstraints(of: family, &state, queries, renew)
    }
}

extension PreparedEntry {
    /// Reads the columns `ReconcileStatements.entryColumns`.
    init(_ row: Row, _ sealing: Sealing) throws {
        let payload: ExportRecord.Payload =
            switch try sealing.body(row) {
            case .whole(let salt, let body): .whole(salt: salt, body: body)
            case .erased: .erased
            case .unreadable: .unreadable
            }
        let act = Audit.AuditEntry.Act(
            kind: try row["kind"], actor: try row["actor"], subject: try row["subject"],
            resource: try row["resource"], trace: try row["trace"], request: try row["request"],
            commitment: try row["commit"])
        let entry = Audit.AuditEntry(
            family: try row["family_id"], number: try row["n"], at: try row["at"], act: act,
            previous: try row["prev"], hash: try row["hash"])
        self.init(entry, payload, position: nil)
    }
}

extension MemberRow {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            user: try row["user_id"], person: try row["pseudonym"], role: try row["role"],
            isActive: try row["is_active"])
    }
}

extension ConnectionRow {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], inviter: try row["inviter"], invitee: try row["invitee"], status: try row["status"],
            inviterShares: try row["inviter_shares_children"], inviteeShares: try row["invitee_shares_children"])
    }
}

extension ConsentRow {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], person: try row["pseudonym"], type: try row["consent_type"],
            isRevoked: try row["is_revoked"], grantedBy: try row["granted_seq"])
    }
}

extension NagRow {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], creator: try row["creator"], recipient: try row["recipient"],
            category: try row["category"], dueAt: try row["due_at"], status: try row["status"],
            isDismissed: try row["is_dismissed"], phase: try row["phase"], parent: try row["parent_nag_id"],
            changedBy: try row["sync_seq"])
    }
}

extension ScoreRow {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            id: try row["id"], user: try row["user_id"], person: try row["pseudonym"], nag: try row["nag_id"],
            points: try row["points"], streakDelta: try row["streak"], isCompletion: try row["is_completion"],
            madeBy: try row["sync_seq"])
    }
}

extension TotalsRow {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            user: try row["user_id"],
            sums: ScoreSums(
                points: try row["points"], streak: try row["streak"], events: try row["events"],
                completions: try row["completions"]),
            dropped: ScoreSums(
                points: try row["dropped_points"], streak: try row["dropped_streak"],
                events: try row["dropped_events"], completions: try row["dropped_completions"]))
    }
}

extension BadgeRow {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(user: try row["user_id"], person: try row["pseudonym"], type: try row["badge_type"])
    }
}
