import Audit
import Contract
import Domain
import Postgres
import Reactor
import SQL

/// Commits acts: the only way to write. Every act of a family locks that family's row of the ledger, gets the next
/// sequence number and time, and leaves its audit entry in the same transaction.
///
/// A feature reads what it needs, decides in plain Swift, and returns an `Act`. The act is committed only if its basis
/// still holds. Otherwise the feature reads and decides again. After two lost races it does so while the row is locked,
/// so that it cannot lose a third one. Acts of different families share durable transactions (`GroupCommit`). The
/// client is answered after the commit. If the process dies before, the act either happened completely, with its entry,
/// or not at all.
final class Ledger {
    /// The time by which a family's clock may run ahead of the wall clock. While it is further ahead, writes are
    /// refused.
    static let maxClockLead = Timestamp.Span.minutes(10)
    /// The largest difference between the server's clock and the database's at which the server is ready. Tokens,
    /// due times and the ledger's times are compared across both clocks.
    static let maxClockSkew = Timestamp.Span.seconds(30)
    private static let optimisticAttempts = 2
    /// The maximum number of concurrent writes of a family on one loop.
    private static let concurrentWritesPerFamily = 8

    /// Counters of the decisions so far.
    struct Tally {
        /// The number of committed acts.
        var committedActs = 0
        /// The number of decisions that were made again: the ledger had not accepted the write, usually because its
        /// basis had changed, or another act had stored the person's sealing key first.
        var lostRaces = 0
        /// The number of transactions that decided while the family's row was locked.
        var lockedDecisions = 0
    }

    var tally = Tally()
    /// The number of batches of writes started so far (`GroupCommit.sharedBatchCount`).
    var batchCount: Int { commits.sharedBatchCount }
    /// The number of writes that were refused because too many waited, or because they waited too long.
    var refusalCount: Int { commits.refusalCount }

    let database: Database
    private let commits: GroupCommit
    /// The limiter of a family's concurrent writes. Further writes wait here and hold nothing that other families need.
    let writeLimiter: KeyedLimiter<FamilyID>
    /// The limiter of writes that lock their family's row: one for each family, and few enough to leave sessions for
    /// others.
    let rowLockLimiter: KeyedLimiter<FamilyID>
    private let random: any Randomness
    let sealing: Sealing
    private let comparesClocks: Bool
    /// The listener that is notified of each committed act's family; nil where nobody listens.
    private let changes: ChangedFamilies?

    /// - Parameters:
    ///   - sealing: seals the details about people; nil for throw-away data.
    ///   - comparesClocks: whether an act whose time is far from the database's own is refused. Otherwise a machine with
    ///     a fast clock would advance the clocks of families, and the other instances would have to wait for them; one
    ///     with a slow clock would date entries of the audit log back.
    init(
        database: Database, random: any Randomness, sealing: Sealing? = nil, comparesClocks: Bool = false,
        changes: ChangedFamilies? = nil
    ) {
        self.changes = changes
        self.comparesClocks = comparesClocks
        self.database = database
        self.random = random
        self.sealing = sealing ?? Sealing(nil, random: random)
        commits = GroupCommit(database)
        writeLimiter = KeyedLimiter(database.poller, limitPerKey: Self.concurrentWritesPerFamily)
        rowLockLimiter = KeyedLimiter(database.poller, limit: max(1, database.connectionLimit / 2), limitPerKey: 1)
    }

    /// Runs `decide` against a current read of the database and carries out its decision.
    ///
    /// `decide` may run several times; it MUST have no effects but its decision. All that the write waits for has one
    /// deadline: its turn, sessions and locks.
    /// - Throws: what `decide` throws, the refusal it decides on, a `PostgresError`, or a refusal of the ledger: 503 if
    ///   too many writes wait or the clocks differ too much, 429 if the family's clock runs too far ahead.
    func write<Answer: WireContent>(
        _ caller: Caller, in family: FamilyID, _ decide: (any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer {
        try await idempotently(caller) { try await write(caller.context, idempotency: $0, in: family, decide) }
    }

    /// Writes for a request without a signed-in caller, or for an act of the server's own.
    /// - Parameter idempotency: the record of a signed-in caller's write; nil if there is no caller or no key.
    func write<Answer: WireContent>(
        _ context: CallContext, idempotency: IdempotencyRecord? = nil, in family: FamilyID,
        _ decide: (any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer {
        let deadline = database.newRequestDeadline
        try await writeLimiter.enter(family, until: deadline)
        defer { writeLimiter.leave(family) }
        return try await retryingOnKeyConflict {
            for _ in 0..<Self.optimisticAttempts {
                if let answer = try await attempt(context, idempotency, in: family, until: deadline, decide) {
                    return answer
                }
                tally.lostRaces += 1
            }
            return try await writeLockingRow(context, idempotency, in: family, until: deadline, decide)
        }
    }

    /// Decides and writes once. Returns nil if the act's statement returned no row, and so wrote nothing: the basis no
    /// longer holds, or the clocks forbid it. Not inlined, so that the frame of every write stays small.
    @inline(never)
    private func attempt<Answer: WireContent>(
        _ context: CallContext, _ idempotency: IdempotencyRecord?, in family: FamilyID, until deadline: MonotonicTime,
        _ decide: (any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer? {
        let queries = database.queries(until: deadline)
        let decision = try await countDenial(decide(queries), in: family, context.now, queries)
        guard let person = decision.dataSubject else { return try decision.outcome() }
        let seal = try await sealing.makeSeal(for: person, queries)
        let (write, canMerge) = statement(for: decision, in: family, context, idempotency, seal)
        let rows = try await commits.run(
            write, key: GroupCommit.Key(high: family.high, low: family.low), canMerge: canMerge, until: deadline)
        if rows.isEmpty { return nil }
        recordCommit(seal, in: family)
        return try decision.outcome()
    }

    /// Creates the ledger of a new family: `foundation` inserts the family and its row of the ledger, which the act's
    /// own statement then finds. All of it is one transaction.
    /// - Throws: what `decide` throws, 503 if the clocks differ too much, or a `PostgresError`.
    func createFamilyLedger<Answer: WireContent>(
        _ caller: Caller, _ family: FamilyID,
        _ decide: (any Queries) async throws -> (foundation: [SQL], act: Act, answer: Answer)
    ) async throws -> Answer {
        try await idempotently(caller) { idempotency in
            try await retryingOnKeyConflict {
                if comparesClocks {
                    let row = try await database.query(
                        "SELECT \(isWithinClockSkew) AS is_within_skew FROM (SELECT \(caller.now) AS now) act"
                    ).onlyRow()
                    guard try row["is_within_skew"] else { throw APIError.clocksDiffer }
                }
                let (foundation, act, answer) = try await decide(database)
                let seal = try await seal(for: act, database)
                let actStatement = statement(
                    act, in: family, caller.context, idempotency: idempotency, storedAnswer: answer.content, seal: seal)
                _ = try await database.pipeline(foundation + [actStatement])
                recordCommit(seal, in: family)
                return answer
            }
        }
    }

    /// Returns the stored answer to an earlier request with the same `Idempotency-Key`, and marks the response as a
    /// replay; nil if there is no stored answer, or the caller sent no key.
    /// - Throws: 422 if the key was used for another request.
    func replayEarlierAnswer<Answer: WireContent>(_ caller: Caller) async throws -> Answer? {
        try await IdempotencyRecord(caller)?.replayEarlierAnswer(database)
    }

    /// Runs `body`, unless a request with the same `Idempotency-Key` was answered before: then it returns the stored
    /// answer.
    /// - Throws: what `body` throws, or 422 if the key was used for another request.
    func idempotently<Answer: WireContent>(
        _ caller: Caller, _ body: (IdempotencyRecord?) async throws -> Answer
    ) async throws -> Answer {
        guard let idempotency = IdempotencyRecord(caller) else { return try await body(nil) }
        if let earlier: Answer = try await idempotency.replayEarlierAnswer(database) { return earlier }
        do {
            return try await body(idempotency)
        } catch let error as PostgresError where error.violates(.idempotencyKey) {
            // The same key was used at the same time: the other request's answer is the first answer.
            if let earlier: Answer = try await idempotency.replayEarlierAnswer(database) { return earlier }
            throw error
        } catch let refusal as APIError {
            // The refusal may come from the same write, done by the other request already.
            if let earlier: Answer = try await idempotency.replayEarlierAnswer(database) { return earlier }
            throw refusal
        }
    }

    /// Runs `body`, and runs it once more if another act has stored a sealing key of the same person first: then that
    /// key is found.
    func retryingOnKeyConflict<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        do {
            return try await body()
        } catch let error as PostgresError where error.violates(.subjectKey) {
            tally.lostRaces += 1
            return try await body()
        }
    }

    /// Counts a denial, and returns the decision to carry out. A denial that the audit log recorded within the hour is
    /// recorded again only when its number is a power of ten.
    private func countDenial<Answer>(
        _ decision: Decision<Answer>, in family: FamilyID, _ now: Timestamp, _ queries: any Queries
    ) async throws -> Decision<Answer> {
        guard case .refuse(var act, let refusal) = decision, let counter = RefusalCount(act, in: family) else {
            return decision
        }
        guard let count = try await counter.incrementIfStarted(at: now, queries) else {
            // Of several concurrent denials only one is the first. The others lose the race and are counted.
            if case .rightsUnchanged(let seq) = act.basis { act.basis = .nothingChanged(since: seq) }
            act.statements.append(counter.insert(at: now))
            return .refuse(act, refusal)
        }
        guard RefusalCount.isRecorded(count) else { return .refuseAgain(refusal) }
        act.details["count"] = "\(count)"
        // Each count is given out once, so the entry must not be decided again.
        act.basis = .nothing
        return .refuse(act, refusal)
    }

    /// Counts a committed act, reports its family to the listener, and caches the key that sealed it.
    func recordCommit(_ seal: Sealing.Seal?, in family: FamilyID) {
        tally.committedActs += 1
        changes?.insert(family)
        if let seal { sealing.cache(seal.key) }
    }

    @inline(never)
    private func writeLockingRow<Answer: WireContent>(
        _ context: CallContext, _ idempotency: IdempotencyRecord?, in family: FamilyID, until deadline: MonotonicTime,
        _ decide: (any Queries) async throws -> Decision<Answer>
    ) async throws -> Answer {
        try await rowLockLimiter.enter(family, until: deadline)
        defer { rowLockLimiter.leave(family) }
        tally.lockedDecisions += 1
        let boundOutcome = try await database.transaction(until: deadline) { transaction in
            try await lockRow(of: family, context.now, transaction)
            let decision = try await countDenial(decide(transaction), in: family, context.now, transaction)
            var seal: Sealing.Seal?
            if let person = decision.dataSubject {
                seal = try await sealing.makeSeal(for: person, transaction)
                let rows = try await transaction.query(
                    statement(for: decision, in: family, context, idempotency, seal).write)
                guard !rows.isEmpty else { throw LedgerFault.refusedWhileLocked }
            }
            return LoopBound(value: (decision, seal))
        }
        let (decision, seal) = boundOutcome.value
        if decision.dataSubject != nil { recordCommit(seal, in: family) }
        return try decision.outcome()
    }

    /// Locks the family's row until the transaction ends.
    /// - Throws: 503 if the clocks differ too much; 429 if the family's clock runs too far ahead.
    func lockRow(of family: FamilyID, _ now: Timestamp, _ transaction: Transaction) async throws {
        let rows = try await transaction.query(
            """
            SELECT c.ts, \(isWithinClockSkew) AS is_within_skew FROM family_clock c, (SELECT \(now) AS now) act
            WHERE c.family_id = \(family) FOR UPDATE OF c
            """)
        if try rows.first?["is_within_skew"] == false { throw APIError.clocksDiffer }
        if let familyTime = try rows.first?["ts"] as Timestamp?, familyTime >= now + Self.maxClockLead {
            throw APIError.familyChangesTooFast
        }
    }

    /// A fault of the program: the ledger refused an act that was decided while its row was locked.
    enum LedgerFault: Error { case refusedWhileLocked }

    // MARK: The statement

    /// The beginnings of the common table expressions that contain an act's `statements`. An act has at most as many
    /// statements as there are beginnings.
    private static let cteBeginnings: [SQL] = [
        ", row1 AS (", ", row2 AS (", ", row3 AS (", ", row4 AS (", ", row5 AS (", ", row6 AS (", ", row7 AS (",
        ", row8 AS (", ", row9 AS (", ", row10 AS (", ", row11 AS (", ", row12 AS (",
        ", row13 AS (", ", row14 AS (", ", row15 AS (", ", row16 AS (", ", row17 AS (", ", row18 AS (",
        ", row19 AS (", ", row20 AS (", ", row21 AS (", ", row22 AS (",
    ]

    /// Returns the key that seals the act's details; nil where nothing is sealed.
    func seal(for act: Act, _ queries: any Queries) async throws -> Sealing.Seal? {
        try await sealing.makeSeal(for: act.dataSubject, queries)
    }

    /// Returns the decision's act as a statement, and whether it may be merged with others. The decision MUST have an
    /// act. Not inlined, because its copies would be in the frame of every write.
    @inline(never)
    func statement<Answer: WireContent>(
        for decision: Decision<Answer>, in family: FamilyID, _ context: CallContext, _ idempotency: IdempotencyRecord?,
        _ seal: Sealing.Seal?
    ) -> (write: SQL, canMerge: Bool) {
        switch decision {
        case .perform(let act, let answer):
            let storedAnswer = idempotency == nil ? nil : answer.content
            let write = statement(
                act, in: family, context, idempotency: idempotency, storedAnswer: storedAnswer, seal: seal)
            return (write, act.canMerge && idempotency == nil)
        case .refuse(let act, _): return (statement(act, in: family, context, seal: seal), false)
        case .refuseAgain, .answer: preconditionFailure("nothing to write")
        }
    }

    /// Returns the whole act as one statement. It returns one row; it returns none, and writes nothing, if the basis
    /// no longer holds, the clocks differ too much, or the family's clock runs too far ahead.
    /// - Parameters:
    ///   - storedAnswer: the content of the answer, which is stored for retries; only with `idempotency`.
    ///   - seal: nil leaves the details unsealed.
    func statement(
        _ act: Act, in family: FamilyID, _ context: CallContext, idempotency: IdempotencyRecord? = nil,
        storedAnswer: [UInt8]? = nil,
        seal: Sealing.Seal? = nil
    ) -> SQL {
        precondition(act.statements.count <= Self.cteBeginnings.count && act.stampedRows <= 400)
        let salt = random.bytes(32)
        let body = act.details.canonicalBytes
        let entry = AuditEntry.Act(
            kind: act.kind.rawValue, actor: act.actor, subject: act.subject, resource: act.resource,
            trace: context.trace,
            request: context.request, commitment: AuditBody.commitment(salt: salt, body: body))
        let sealed = seal?.key.seal(body, commitment: entry.commitment, nonce: sealing.nonce()) ?? body
        var text = SQL.StringInterpolation(literalCapacity: 0, interpolationCount: 16)
        text.appendInterpolation(ledgerStamp(act, in: family, context, entry.canonicalBytes))
        for (beginning, statement) in zip(Self.cteBeginnings, act.statements) {
            text.appendInterpolation(beginning)
            text.appendInterpolation(statement)
            text.appendLiteral(")")
        }
        if let keyInsertion = seal?.keyInsertion {
            text.appendInterpolation(", subject_key AS (\(keyInsertion))" as SQL)
        }
        text.appendInterpolation(
            """
            , entry AS (
                INSERT INTO audit_entry
                    (family_id, n, at, kind, actor, subject, resource, trace, request, commit, prev, hash)
                SELECT family_id, seq, ts, \(entry.kind), \(entry.actor), \(entry.subject), \(entry.resource),
                       trace, \(entry.request), \(entry.commitment), prev_head, head FROM ledger_stamp
            ), payload AS (
                INSERT INTO audit_payload (family_id, n, key_id, salt, body)
                SELECT family_id, seq, \(seal?.key.id), \(salt), \(sealed) FROM ledger_stamp
            )
            """ as SQL)
        if let idempotency, let storedAnswer { text.appendInterpolation(idempotency.insert(storedAnswer)) }
        text.appendInterpolation(" SELECT \(merged: "ordinal, ")seq, ts FROM ledger_stamp" as SQL)
        return SQL(stringInterpolation: text)
    }

    /// The condition that the request's time, `act.now`, is close enough to the database's clock.
    private var isWithinClockSkew: SQL { comparesClocks ? "act.now \(Self.clockSkewRange)" : "true" }

    /// The end of a comparison of a server's time with the database's clock: the time may be at most
    /// `maxClockSkew` ahead, and at most `maxClockLead` behind, because a request keeps the time of its
    /// beginning and may take minutes.
    static let clockSkewRange: SQL = """
        BETWEEN statement_timestamp() - \(literal: Int(maxClockLead.microseconds)) * interval '1 microsecond'
        AND statement_timestamp() + \(literal: Int(maxClockSkew.microseconds)) * interval '1 microsecond'
        """

    /// The condition that the family's clock, in its row `c`, is at most `maxClockLead` ahead of `act.now`.
    private static let isFamilyClockWithinLead: SQL = """
        c.ts < act.now + \(literal: Int(maxClockLead.microseconds)) * interval '1 microsecond'
        """

    /// Returns the common table expression `ledger_stamp`, which locks the family's row and contains its next sequence
    /// number and time, the next link of its chain, and the request's time and trace, which many statements need.
    private func ledgerStamp(_ act: Act, in family: FamilyID, _ context: CallContext, _ entryBytes: [UInt8]) -> SQL {
        let basis: SQL =
            switch act.basis {
            case .nothingChanged(let seq): "AND c.seq = \(seq)"
            case .rightsUnchanged(let seq): "AND c.authority_seq <= \(seq)"
            case .nothing: ""
            }
        // Most acts stamp one row and change no rights: as literals these are no parameters to send and merge.
        let rows: SQL = act.stampedRows == 1 ? "1" : "\(act.stampedRows)::integer"
        let authoritySeq: SQL = act.changesRights ? "c.seq + 1" : "c.authority_seq"
        let nextTime: SQL = "ledger_ts(c.ts, c.burst, act.now, \(rows))"
        return """
            WITH \(SQL.requestTable)ledger_stamp AS (
                UPDATE family_clock c SET
                    seq = c.seq + 1,
                    ts = \(nextTime),
                    burst = ledger_burst(c.ts, c.burst, \(nextTime), \(rows)),
                    authority_seq = \(authoritySeq),
                    awaits_sequencing = true,
                    prev_head = c.head,
                    head = sha256('\\x01'::bytea || c.head || uuid_send(c.family_id) || int8send(c.seq + 1)
                                  || timestamptz_send(\(nextTime)) || \(entryBytes))
                FROM \(merged: "request CROSS JOIN LATERAL ")(SELECT \(context.now) AS now, \(context.trace) AS trace) act
                WHERE c.family_id = \(family) AND \(Self.isFamilyClockWithinLead)
                    AND \(isWithinClockSkew) \(basis)
                RETURNING c.family_id, c.seq, c.ts, c.prev_head, c.head, act.now, act.trace\(merged: ", request.*")
            )
            """
    }
}
