import Domain
import JSON

extension ApprovalCreate {
    public static let longestComment = 2_000
}
