import Domain
import JSON
import NagzAI

extension ExecutionRequest {
    public static let longestText = 2_000
}

extension ExecutionListQuery {
    public init(_ filter: ExecutionFilter, cursor: String? = nil, limit: Int = 50) {
        self.init(filter: filter, cursor: cursor, limit: limit)
    }
}
