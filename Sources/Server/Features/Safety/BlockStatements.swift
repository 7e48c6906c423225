import Contract
import Domain
import SQL

/// Every statement on blocks.
enum BlockStatements {
    /// A condition: one of the two people blocks the other. Both are SQL expressions or values.
    static func isBlocked(between one: SQL, and other: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM blocks b WHERE b.state = 'active'
            AND ((b.actor_id = \(one) AND b.target_id = \(other)) OR (b.actor_id = \(other) AND b.target_id = \(one))))
        """
    }

    /// A condition: the first person blocks the second. Both are SQL expressions or values.
    static func hasBlocked(_ actor: SQL, _ target: SQL) -> SQL {
        """
        EXISTS (SELECT 1 FROM blocks b WHERE b.state = 'active' AND b.actor_id = \(actor) AND b.target_id = \(target))
        """
    }

    /// Reads a page of the blocks that a person made, active and lifted, the newest first.
    static func page(by user: UserID, _ page: PageRequest) -> SQL {
        page.select(
            "b.id, b.actor_id, b.target_id, b.state", from: "blocks", as: "b", where: "b.actor_id = \(user)",
            orderBy: "b.created_at DESC, b.id DESC")
    }

    /// Reads a person's pseudonym, and the blocker's block against them, active or lifted, if there is one. No row: the
    /// account does not exist or is deleted, or there is no block and the blocker knows the person neither from a
    /// family nor from a connection.
    static func targetWithBlock(by actor: UserID, against target: UserID) -> SQL {
        """
        SELECT u.pseudonym AS target_pseudonym, b.id, b.actor_id, b.target_id, b.state
        FROM users u LEFT JOIN blocks b ON b.actor_id = \(actor) AND b.target_id = u.id
        WHERE u.id = \(target) AND u.status <> 'deleted' AND (b.id IS NOT NULL OR EXISTS (
            SELECT 1 FROM memberships own JOIN memberships theirs ON theirs.family_id = own.family_id
            WHERE own.user_id = \(actor) AND theirs.user_id = u.id)
            OR \(ConnectionStatements.everExisted(between: "\(actor)", and: "u.id"))
            OR \(NagStatements.existsOverConnection(between: "\(actor)", and: "u.id")))
        """
    }

    /// Reads the block with that ID, if that person made it.
    static func block(_ block: BlockID, by actor: UserID) -> SQL {
        """
        SELECT u.pseudonym AS target_pseudonym, b.id, b.actor_id, b.target_id, b.state
        FROM blocks b JOIN users u ON u.id = b.target_id
        WHERE b.id = \(block) AND b.actor_id = \(actor)
        """
    }

    static func insert(_ block: BlockResponse, at now: Timestamp) -> SQL {
        """
        INSERT INTO blocks (id, actor_id, target_id, state, created_at, updated_at)
        SELECT \(block.id), \(block.actorID), \(block.targetID), \(block.state), \(now), \(now) FROM ledger_stamp
        """
    }

    static func update(_ block: BlockResponse, at now: Timestamp) -> SQL {
        """
        UPDATE blocks SET state = \(block.state), updated_at = \(now) FROM ledger_stamp WHERE id = \(block.id)
        """
    }
}
