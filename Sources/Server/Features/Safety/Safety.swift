import Audit
import Contract
import Domain
import Postgres
import SQL

/// Blocks, which anybody may make, and relationships, which guardians suspend.
package final class Safety {
    private let services: Services

    package init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `safety`: blocks between people, and suspended relationships.
    func register(in routes: RouteTable) {
        routes.signedIn(API.listBlocks, listBlocks)
        routes.signedIn(API.createBlock, block)
        routes.signedIn(API.updateBlock, updateBlock)
        routes.signedIn(API.suspendRelationship, suspendRelationship)
    }

    // MARK: Blocks

    /// Lists the caller's own blocks, including lifted ones, newest first.
    func listBlocks(_ caller: Caller, _ call: Call<PageRequest, NoBody>) async throws -> Page<BlockResponse> {
        _ = try await services.access.account(caller, services.database)
        let rows = try await services.database.query(BlockStatements.page(by: caller.userID, call.parameters))
        return try Page(rows, answering: call.parameters) { try BlockResponse($0) }
    }

    /// Blocks a person. Two people have at most one block in each direction, so blocking again reactivates it. Open
    /// nags of connections between them are cancelled before the block is stored.
    package func block(_ caller: Caller, _ call: Call<NoParameters, BlockCreate>) async throws -> BlockResponse {
        let target = call.body.targetID
        guard target != caller.userID else { throw APIError.blocksSelf }
        return try await write(caller, against: target) { blocker, queries in
            let rows = try await queries.query(BlockStatements.targetWithBlock(by: caller.userID, against: target))
            guard let row = rows.first else { throw APIError.noSuchUser }
            let existingBlock = try BlockResponse(row)
            if let existingBlock, existingBlock.state == .active { return .answer(existingBlock) }
            var block =
                existingBlock
                ?? BlockResponse(
                    id: services.random.identifier(at: caller.now), actorID: caller.userID, targetID: target,
                    state: .active)
            block.state = .active
            let act = try await blocker.act(
                .blockCreated, block, subject: try row["target_pseudonym"],
                existingBlock == nil
                    ? BlockStatements.insert(block, at: caller.now) : BlockStatements.update(block, at: caller.now),
                at: caller.now, queries)
            return .perform(act, block)
        }
    }

    /// Lifts one of the caller's own blocks, or reactivates it.
    package func updateBlock(_ caller: Caller, _ call: Call<BlockPath, BlockUpdate>) async throws -> BlockResponse {
        let blockQuery = BlockStatements.block(call.parameters.blockID, by: caller.userID)
        let target: UserID? = try await services.database.query(blockQuery).first?["target_id"]
        return try await write(caller, against: target) { blocker, queries in
            let rows = try await queries.query(
                BlockStatements.block(call.parameters.blockID, by: caller.userID))
            guard let row = rows.first, var block = try BlockResponse(row) else { throw APIError.noSuchBlock }
            if block.state == call.body.state { return .answer(block) }
            block.state = call.body.state
            let act = try await blocker.act(
                block.state == .active ? .blockCreated : .blockLifted, block,
                subject: try row["target_pseudonym"], BlockStatements.update(block, at: caller.now), at: caller.now,
                queries)
            return .perform(act, block)
        }
    }

    /// The person who sets or lifts a block, with the newest sequence number of the act's ledger: that of the person's
    /// family, or the one outside families.
    private struct Blocker {
        let pseudonym: Pseudonym
        let seq: Int64

        /// Returns the act that stores a block by `statement` and counts the change.
        /// - Throws: 429 when the person has reached the day's limit of changes.
        func act(
            _ kind: AuditKind, _ block: BlockResponse, subject: Pseudonym?, _ statement: SQL, at now: Timestamp,
            _ queries: any Queries
        ) async throws -> Act {
            let count = try await DailyCount(limit: .blockChanges, user: block.actorID).checkedIncrement(
                at: now, queries)
            return Act(
                kind: kind, basis: .nothingChanged(since: seq), actor: pseudonym, subject: subject,
                resource: block.id.retyped(), changesRights: true, stampedRows: 0, statements: [statement, count])
        }
    }

    /// Performs the decision about a block. Open nags of connections between the two people are cancelled first if
    /// necessary.
    /// - Parameter target: the person who is blocked; nil if there is no such block, which `decide` refuses.
    private func write(
        _ caller: Caller, against target: UserID?,
        _ decide: (Blocker, any Queries) async throws -> Decision<BlockResponse>
    ) async throws -> BlockResponse {
        let recipients = NagStatements.openConnectionNagRecipients(between: caller.userID, and: target ?? caller.userID)
        return try await ConnectionNagCancellation(services).cancelAndRetry(
            onViolationOf: .blockedHasNoConnectionNag, recipients, caller.context
        ) {
            try await services.writeToOwnChain(caller) { account, seq, queries in
                try await decide(Blocker(pseudonym: account.pseudonym, seq: seq), queries)
            }
        }
    }

    // MARK: Relationships

    /// Suspends the relationship of two members: neither may nag the other. The suspension ends only if one of them
    /// leaves and a guardian readmits them, which is possible for accounts that were made in the family. Leaving and
    /// joining again by a code does not end it.
    func suspendRelationship(
        _ caller: Caller, _ call: Call<RelationshipPath, NoBody>
    ) async throws -> RelationshipResponse {
        let member = try await services.access.member(
            caller, orThrow: .noSuchRelationship, services.database)
        return try await services.ledger.write(caller, in: member.familyID) { queries in
            let member = try await services.access.member(caller, of: member.familyID, queries)
            let rows = try await queries.query(
                RelationshipStatements.relationship(
                    call.parameters.relationshipID, from: caller.userID, in: member.familyID))
            if let denial = member.denial(of: .suspendRelationship) {
                return .denied(.relationshipSuspendDenied, to: member, denial)
            }
            guard let row = rows.first else { throw APIError.noSuchRelationship }
            var relationship = RelationshipResponse(
                id: try row["id"], partyA: try row["party_a"], partyB: try row["party_b"], status: try row["status"])
            // A relationship that was revoked with a membership stays revoked, which is stricter.
            guard relationship.status == .active else { return .answer(relationship) }
            relationship.status = .suspended
            return .perform(
                Act(
                    kind: .relationshipSuspended, basis: .nothingChanged(since: member.seq), actor: member.pseudonym,
                    subject: try row["other_pseudonym"], resource: relationship.id.retyped(), changesRights: true,
                    stampedRows: 0, statements: [RelationshipStatements.suspend(relationship.id)]),
                relationship)
        }
    }
}

extension BlockResponse {
    /// Reads a block from a row; nil if the row has none.
    fileprivate init?(_ row: Row) throws(PostgresError) {
        guard let id: BlockID = try row["id"] else { return nil }
        self.init(id: id, actorID: try row["actor_id"], targetID: try row["target_id"], state: try row["state"])
    }
}
