import Audit
import Contract
import Domain
import HTTP
import JSON
import NagzAI
import Postgres
import Reactor
import SQL

/// A position in the history: the next page begins below it.
struct ExecutionPosition: Hashable {
    let at: Timestamp
    let id: ExecutionID

    init(at: Timestamp, id: ExecutionID) {
        self.at = at
        self.id = id
    }

    /// Parses a cursor; nil when there is none.
    /// - Throws: 422 for text that is no cursor.
    init?(cursor: String?) throws(APIError) {
        guard let cursor else { return nil }
        guard let bytes = bytes(base64URL: cursor[...]), bytes.count == 24 else { throw APIError.cursorIsUnknown }
        func word(_ index: Int) -> UInt64 { bytes[(index * 8)..<(index * 8 + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
        at = Timestamp(microseconds: Int64(bitPattern: word(0)))
        id = ExecutionID(high: word(1), low: word(2))
        guard (Timestamp.epoch...Timestamp.lastSecond).contains(at) else { throw APIError.cursorIsUnknown }
    }

    var cursor: String {
        base64URL((0..<8).map { UInt8(truncatingIfNeeded: at.microseconds >> Int64(56 - 8 * $0)) } + id.bytes)
    }
}

extension Executions {
    /// Records that a page examines at most, where a filter may leave most of them out.
    private static let scanDepth = 2_000
    /// Records that one call deletes at most.
    private static let deletions = 10_000

    /// Lists the caller's own executions, and for guardians those of the whole family. A page may be short and still
    /// have a cursor, where many records do not match the filter.
    func list(_ caller: Caller, _ call: Call<ExecutionListQuery, NoBody>) async throws -> ExecutionPage {
        let query = call.parameters
        let person = try await readable(query.filter.userID, in: query.filter.familyID, caller)
        let (items, next) = try await page(
            query.filter, of: person, below: ExecutionPosition(cursor: query.cursor), limit: query.limit)
        return ExecutionPage(items: items.map { $0.seen(by: caller.userID) }, nextCursor: next?.cursor)
    }

    func get(_ caller: Caller, _ call: Call<ExecutionPath, NoBody>) async throws -> ExecutionTrace {
        let trace = call.parameters.traceID
        let member = try await services.access.member(caller, orThrow: .noSuchExecution, services.database)
        let seesAll = RoleMatrix.denialOfInsights(isSelf: false, by: MemberState(role: member.role)) == nil
        let rows = try await services.database.query(
            ExecutionStatements.attempts(trace, of: seesAll ? nil : caller.userID, in: member.familyID))
        guard !rows.isEmpty else { throw APIError.noSuchExecution }
        return ExecutionTrace(
            traceID: trace, attempts: try rows.map { try ExecutionRecord($0).seen(by: caller.userID) })
    }

    /// Exports executions as lines of JSON, read page by page while they are sent.
    func export(_ caller: Caller, _ call: Call<ExecutionFilter, NoBody>) async throws -> Response {
        let filter = call.parameters
        let export = try services.exports.begin(caller.userID, from: caller.context.remote)
        let person = try await readable(filter.userID, in: filter.familyID, caller)
        let work = LoopBound(value: self)
        return Response(
            .ok, .jsonLines,
            body: .stream { body in
                defer { withExtendedLifetime(export) {} }
                let executions = work.value
                var position: ExecutionPosition?
                repeat {
                    let now = executions.services.clock.now()
                    _ = try await executions.readable(filter.userID, in: filter.familyID, caller.at(now))
                    let (items, next) = try await executions.page(filter, of: person, below: position, limit: 200)
                    var lines: [UInt8] = []
                    for item in items { lines += item.seen(by: caller.userID).jsonBytes + [UInt8(ascii: "\n")] }
                    if !lines.isEmpty { try await body.write(lines) }
                    position = next
                } while position != nil
            })
    }

    /// Returns the person whose executions the caller may read; nil for everybody's.
    /// - Throws: 403 for what the role matrix does not allow.
    private func readable(_ user: UserID?, in family: FamilyID, _ caller: Caller) async throws -> UserID? {
        let member = try await services.access.member(caller, of: family, services.database)
        let denial = RoleMatrix.denialOfInsights(isSelf: false, by: MemberState(role: member.role))
        guard let denial, user != caller.userID else { return user }
        guard user == nil else { try await services.refuse(caller, member, .aiExecutionsReadDenied, denial) }
        return caller.userID
    }

    private func page(
        _ filter: ExecutionFilter, of user: UserID?, below position: ExecutionPosition?, limit: Int
    ) async throws -> (items: [ExecutionRecord], next: ExecutionPosition?) {
        let depth = ExecutionStatements.isSelective(filter) ? Self.scanDepth : limit + 1
        let rows = try await services.database.query(
            ExecutionStatements.scan(filter, of: user, below: position, depth: depth, limit: limit))
        var items: [ExecutionRecord] = []
        for index in 0..<rows.count {
            let row = rows[index]
            if items.count == limit {
                return (items, items.last.map { ExecutionPosition(at: $0.createdAt, id: $0.id) })
            }
            if try row["matches"] { items.append(try ExecutionRecord(row)) }
            if try row["is_last"] {
                return (items, ExecutionPosition(at: try row["created_at"], id: try row["id"]))
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
            let rows = try await queries.query(ExecutionStatements.attempts(trace, of: caller.userID, in: family))
            guard !rows.isEmpty else { throw APIError.noSuchExecution }
            return .perform(
                deletion(rows.count, by: member, ExecutionStatements.delete(trace, of: caller.userID)), NoAnswer())
        }
    }

    /// Deletes the caller's executions before a moment, the oldest first, 10,000 at most.
    func deleteEarlier(
        _ caller: Caller, _ call: Call<ExecutionDeletionQuery, NoBody>
    ) async throws -> ExecutionDeletion {
        let (family, moment) = (call.parameters.familyID, call.parameters.before)
        return try await services.ledger.write(caller, in: family) { queries in
            let member = try await services.access.member(caller, of: family, queries)
            let count: Int = try await queries.query(
                ExecutionStatements.count(of: caller.userID, in: family, before: moment, limit: Self.deletions)
            ).one()["count"]
            guard count > 0 else { return .answer(ExecutionDeletion(deleted: 0)) }
            let statement = ExecutionStatements.delete(
                of: caller.userID, in: family, before: moment, limit: Self.deletions)
            return .perform(deletion(count, by: member, statement), ExecutionDeletion(deleted: count))
        }
    }

    private func deletion(_ count: Int, by member: Member, _ statement: SQL) -> Act {
        Act(
            kind: .aiExecutionsDeleted, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
            details: ["count": "\(count)"], stampedRows: 0, statements: [statement])
    }
}

extension ExecutionRecord {
    /// Returns the record as a person sees it: without the constraints for anybody but the requester, because some may
    /// be the requester's own.
    fileprivate func seen(by user: UserID) -> ExecutionRecord {
        guard user != userID else { return self }
        var record = self
        (record.execution.evaluated, record.execution.applied) = ([], [])
        (record.execution.warnings, record.execution.violation) = ([], nil)
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
