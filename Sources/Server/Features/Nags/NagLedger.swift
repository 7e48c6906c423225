import Domain
import Postgres
import SQL

/// The kind of ledger that a nag is in: a family's or a connection's.
///
/// A read by a nag's ID tries the family's ledger first, and then the connections'. One statement for both would join
/// twice as much, and nearly every nag is a family's.
enum NagLedger {
    case family
    case connection

    /// Returns the rows that `read` finds in the family's ledger; if that ledger does not have the nag, those in a
    /// connection's. The rows have a column `family_id`, which is null if there is no such nag.
    static func search(_ read: (NagLedger) async throws -> Rows) async throws -> Rows {
        let rows = try await read(.family)
        guard let row = rows.first, try row["family_id"] as FamilyID? == nil else { return rows }
        return try await read(.connection)
    }

    /// Returns the join of the nag `n` with that ID: a nag of the family of the member `m`, or of any connection.
    func join(_ nag: NagID) -> SQL {
        switch self {
        case .family:
            "LEFT JOIN nags n ON n.family_id = m.family_id AND n.id = \(nag) AND n.connection_id IS NULL"
        case .connection: "LEFT JOIN nags n ON n.id = \(nag) AND n.connection_id IS NOT NULL"
        }
    }

    /// `NagStatements.recipientMembershipJoin` for nags of connections; empty for a family's nags, for which it would
    /// find nothing.
    var recipientMembershipJoin: SQL { self == .family ? "" : NagStatements.recipientMembershipJoin }

    /// The expression `NagStatements.settingsFamily`, simplified for a family's nags.
    var settingsFamily: SQL { self == .family ? "n.family_id" : NagStatements.settingsFamily }

    /// The column `NagStatements.guardsRecipient`, simplified for a family's nags.
    var guardsRecipient: SQL { self == .family ? "false AS guards_recipient" : NagStatements.guardsRecipient }

    /// A column: whether the member `m` is a guardian of the family that the creator of its nag `n` has left.
    var isAfterCreator: SQL {
        guard self == .family else { return "false AS is_after_creator" }
        let isCreatorMember = MembershipStatements.isMember("n.creator_id", of: "n.family_id")
        return "coalesce(m.role = 'guardian' AND NOT \(isCreatorMember), false) AS is_after_creator"
    }
}
