import Contract
import Domain
import Postgres
import SQL

/// The first row of the feed's statement: whether the caller may read the family, from which position, and what they
/// may see.
struct FeedGate {
    /// The gate's text columns, in their order.
    private enum TextColumn: Int, CaseIterable {
        /// The status of the caller's account.
        case status
        /// The stored numbers of the positions that the session was granted, separated by commas.
        case grantedPositions
        case visibility
        /// The feed's epoch.
        case epoch

        var column: Int { FeedColumns.texts.lowerBound + rawValue }

        var expression: SQL {
            switch self {
            case .status: "status"
            case .grantedPositions: "array_to_string(granted, ',')"
            case .visibility: "visibility::text"
            case .epoch: "epoch::text"
            }
        }
    }

    /// The select list over the statement's `gate`.
    static let columns = FeedColumns.selectList(
        .gate, stamp: "ts", ids: ["family_id"], moments: ["CASE WHEN is_known THEN start END"],
        texts: TextColumn.allCases.map(\.expression))

    /// The time of the family clock, which each write of the family advances.
    let clockTime: Timestamp
    /// Whether the position that the client named is valid.
    let isPositionValid: Bool
    let visibility: FeedVisibility
    /// The feed's present epoch (`FeedEpoch`).
    let epoch: Int64
    private let row: Row

    /// - Throws: 401 when the session has ended, 403 for somebody who is not an active member; `unexpectedShape` when
    ///   the rows are not those of the statement.
    init(_ rows: Rows) throws {
        guard let row = rows.first else { throw APIError.sessionHasEnded }
        guard row.integerOrZero(FeedColumns.part) == FeedPart.gate.rawValue else {
            throw PostgresError.unexpectedShape("the feed's gate")
        }
        try Access.requireActive(status: row.text(TextColumn.status.column) ?? "")
        guard !row.isNull(FeedColumns.ids.lowerBound) else { throw APIError(.authorizationDenied, .notAMember) }
        guard let epoch = row.text(TextColumn.epoch.column).flatMap({ Int64($0) }) else {
            throw PostgresError.unexpectedShape("the feed's epoch")
        }
        self.row = row
        self.epoch = epoch
        clockTime = row.timestamp(FeedColumns.stamp)
        isPositionValid = !row.isNull(FeedColumns.moments.lowerBound)
        visibility = FeedVisibility(rawValue: row.text(TextColumn.visibility.column).flatMap { Int64($0) } ?? 0)
    }

    /// Whether the position is among the newest that the session was granted.
    func isGranted(_ grant: GrantedPosition) -> Bool {
        row.withBytes(TextColumn.grantedPositions.column) { $0?.listsNumber(grant.storedNumber) ?? false }
    }
}

extension Span<UInt8> {
    /// Whether a number is in a list of decimal numbers separated by commas.
    fileprivate func listsNumber(_ wanted: Int64) -> Bool {
        var number: Int64 = 0
        for index in indices {
            if self[index] == UInt8(ascii: ",") {
                if number == wanted { return true }
                number = 0
            } else {
                number = number &* 10 &+ Int64(self[index] &- UInt8(ascii: "0"))
            }
        }
        return number == wanted
    }
}
