import Audit
import Contract
import Domain
import HTTP
import JSON
import NagzAI
import Postgres
import Reactor
import SQL

/// A position in the history. The next page has the executions before it.
struct ExecutionPosition: Hashable {
    let createdAt: Timestamp
    let id: ExecutionID

    init(createdAt: Timestamp, id: ExecutionID) {
        self.createdAt = createdAt
        self.id = id
    }

    /// Parses a cursor; nil for no cursor.
    /// - Throws: 422 for text that is no cursor.
    init?(cursor: String?) throws(APIError) {
        guard let cursor else { return nil }
        guard let bytes = bytes(base64URL: cursor[...]), bytes.count == 24 else { throw APIError.cursorIsUnknown }
        func word(_ index: Int) -> UInt64 { bytes[(index * 8)..<(index * 8 + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
        createdAt = Timestamp(microseconds: Int64(bitPattern: word(0)))
        id = ExecutionID(high: word(1), low: word(2))
        guard (Timestamp.epoch...Timestamp.lastSecond).contains(createdAt) else { throw APIError.cursorIsUnknown }
    }

    var cursor: String {
        base64URL((0..<8).map { UInt8(truncatingIfNeeded: createdAt.microseconds >> Int64(56 - 8 * $0)) } + id.bytes)
    }
}

extension Executions {
    /// The largest number of records that a page examines if its filter may exclude some.
    private static let maxScannedPerPage = 2_000
    /// The largest number of records that one call deletes.
    private static let maxDeletionsPerCall = 10_000

    /// Lists the caller's own executions, or for guardians those of the whole family. If many records do not match the
    /// filter, a page may have fewer items than its limit and still a cursor.
    func list(_ caller: Caller, _ call: Call<ExecutionListQuery, NoBody>) async throws -> ExecutionPage {
        let query = call.parameters
        let person = try await permittedUser(query.filter.userID, in: query.filter.familyID, caller)
        let (items, next) = try await page(
            query.filter, of: person, before: ExecutionPosition(cursor: query.cursor), limit: query.limit)
        return ExecutionPage(items: items.map { $0.redacted(for: caller.userID) }, nextCursor: next?.cursor)
    }

    /// Returns the attempts under a trace: the caller's own, or for guardians those of the whole family.
    func get(_ caller: Caller, _ call: Call<ExecutionPath, NoBody>) async throws -> ExecutionTrace {
        let trace = call.parameters.traceID
        let member = try await services.access.member(caller, orThrow: .noSuchExecution, services.database)
        let seesAll = RoleMatrix.denialOfMemberData(isSelf: false, by: MemberState(role: member.role)) == nil
        let rows = try await services.database.query(
            ExecutionStatements.attempts(trace, of: seesAll ? nil : caller.userID, in: member.familyID))
        guard !rows.isEmpty else { throw APIError.noSuchExecution }
        return ExecutionTrace(
            traceID: trace, attempts: try rows.map { try ExecutionRecord($0).redacted(for: caller.userID) })
    }

    /// Exports executions as lines of JSON. Pages are read while earlier ones are sent. The caller's rights are checked
    /// before each page, which has only the executions that the caller may read then.
    func export(_ caller: Caller, _ call: Call<ExecutionFilter, NoBody>) async throws -> Response {
        let filter = call.parameters
        let runningExport = try services.exportLimiter.begin(caller.userID, from: caller.context.remote)
        _ = try await permittedUser(filter.userID, in: filter.familyID, caller)
        let loopBoundSelf = LoopBound(value: self)
        return Response(
            .ok, .jsonLines,
            body: .stream { body in
                defer { withExtendedLifetime(runningExport) {} }
                let executions = loopBoundSelf.value
                var position: ExecutionPosition?
                repeat {
                    let now = executions.services.clock.now()
                    let person = try await executions.permittedUser(
                        filter.userID, in: filter.familyID, caller.copy(at: now))
                    let (items, next) = try await executions.page(filter, of: person, before: position, limit: 200)
                    var lines: [UInt8] = []
                    for item in items { lines += item.redacted(for: caller.userID).jsonBytes + [UInt8(ascii: "\n")] }
                    if !lines.isEmpty { try await body.write(lines) }
                    position = next
                } while position != nil
            })
    }

    /// Returns the person whose executions are to be read; nil for all members. If the request names nobody, a guardian
    /// reads those of all members, and other callers read their own.
    /// - Throws: 403 if the role matrix does not allow the caller to read the requested person's executions.
    private func permittedUser(_ user: UserID?, in family: FamilyID, _ caller: Caller) async throws -> UserID? {
        let member = try await services.access.member(caller, of: family, services.database)
        let denial = RoleMatrix.denialOfMemberData(isSelf: false, by: MemberState(role: member.role))
        guard let denial, user != caller.userID else { return user }
        guard user == nil else { try await services.refuse(caller, member, .aiExecutionsReadDenied, denial) }
        return caller.userID
    }

    private func page(
        _ filter: ExecutionFilter, of user: UserID?, before position: ExecutionPosition?, limit: Int
    ) async throws -> (items: [ExecutionRecord], next: ExecutionPosition?) {
        let depth = ExecutionStatements.isSelective(filter) ? Self.maxScannedPerPage : limit + 1
        let rows = try await services.database.query(
            ExecutionStatements.scan(filter, of: user, before: position, depth: depth, limit: limit))
        var items: [ExecutionRecord] = []
        for row in rows {
            if items.count == limit {
                return (items, items.last.map { ExecutionPosition(createdAt: $0.createdAt, id: $0.id) })
            }
            if try row["matches"] { items.append(try ExecutionRecord(row)) }
            if try row["is_last"] {
                return (items, ExecutionPosition(createdAt: try row["created_at"], id: try row["id"]))
            }
        }
        return (items, nil)
    }

    // MARK: Deleting

    /// Deletes the caller's attempts under a trace. The audit log keeps its entries.
    func delete(_ caller: Caller, _ call: Call<ExecutionPath, NoBody>) async throws -> NoAnswer {
        let trace = call.parameters.traceID
        let family = try await services.access.member(caller, orThrow: .noSuchExecution, services.database).familyID
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let count: Int = try await queries.query(ExecutionStatements.count(trace, of: caller.userID, in: family))
                .onlyRow()["count"]
            guard count > 0 else { throw APIError.noSuchExecution }
            return .perform(
                deletionAct(count, by: member, ExecutionStatements.delete(trace, of: caller.userID)), NoAnswer())
        }
    }

    /// Deletes the caller's executions before a moment, the oldest first, 10,000 at most.
    func deleteEarlier(
        _ caller: Caller, _ call: Call<ExecutionDeletionQuery, NoBody>
    ) async throws -> ExecutionDeletion {
        let (family, moment) = (call.parameters.familyID, call.parameters.before)
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let deletionCount: Int = try await queries.query(
                ExecutionStatements.count(
                    of: caller.userID, in: family, before: moment, limit: Self.maxDeletionsPerCall)
            ).onlyRow()["count"]
            guard deletionCount > 0 else { return .answer(ExecutionDeletion(deleted: 0)) }
            let statement = ExecutionStatements.delete(
                of: caller.userID, in: family, before: moment, limit: Self.maxDeletionsPerCall)
            return .perform(
                deletionAct(deletionCount, by: member, statement), ExecutionDeletion(deleted: deletionCount))
        }
    }

    private func deletionAct(_ count: Int, by member: Member, _ statement: SQL) -> Act {
        Act(
            kind: .aiExecutionsDeleted, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            details: ["count": "\(count)"], stampedRows: 0, statements: [statement])
    }
}

extension ExecutionRecord {
    /// Returns the record as a person may see it. Only the requester sees the constraints, because some may be the
    /// requester's own.
    fileprivate func redacted(for user: UserID) -> ExecutionRecord {
        guard user != userID else { return self }
        var record = self
        (record.execution.evaluated, record.execution.applied) = ([], [])
        (record.execution.warnings, record.execution.violationReason) = ([], nil)
        return record
    }

    fileprivate init(_ row: Row) throws {
        let (name, code): (String, String?) = (try row["operation"], try row["error_code"])
        guard let operation = AskedOperation(rawValue: name) else {
            throw PostgresError.unexpectedShape("an operation")
        }
        self.init(
            id: try row["id"], familyID: try row["family_id"], userID: try row["user_id"], traceID: try row["trace_id"],
            questionID: try row["question_id"], operation: operation, nagID: try row["nag_id"], errorCode: code,
            createdAt: try row["created_at"],
            execution: try ExecutionReport(stored: row))
    }
}
