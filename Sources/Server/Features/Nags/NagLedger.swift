import Domain
import Postgres
import SQL

/// The ledger of a nag: its family's or its connection's.
///
/// A read by a nag's id asks for one of them at a time. One statement for both would join twice as much, and nearly every
/// nag is a family's.
enum NagLedger {
    case family
    case connection

    /// The rows that `read` finds of a nag in the family's ledger, else in a connection's. They have a column `family_id`,
    /// null where there is no such nag.
    static func search(_ read: (NagLedger) async throws -> Rows) async throws -> Rows {
        let rows = try await read(.family)
        guard let row = rows.first, try row["family_id"] as FamilyID? == nil else { return rows }
        return try await read(.connection)
    }

    /// Joins the nag `n` of that id, of the family of the member `m` or of any connection.
    func join(_ nag: NagID) -> SQL {
        switch self {
        case .family:
            "LEFT JOIN nags n ON n.family_id = m.family_id AND n.id = \(nag) AND n.connection_id IS NULL"
        case .connection: "LEFT JOIN nags n ON n.id = \(nag) AND n.connection_id IS NOT NULL"
        }
    }

    /// `NagStatements.homeJoin` where it finds anything.
    var homeJoin: SQL { self == .family ? "" : NagStatements.homeJoin }

    /// `NagStatements.settingsFamily`.
    var settingsFamily: SQL { self == .family ? "n.family_id" : NagStatements.settingsFamily }

    /// `NagStatements.guardsRecipient`.
    var guardsRecipient: SQL { self == .family ? "false AS guards_recipient" : NagStatements.guardsRecipient }
}
