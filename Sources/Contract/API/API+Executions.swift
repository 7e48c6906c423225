import Domain
import NagzAI

// MARK: Parameters

extension ExecutionListQuery {
    public init(_ filter: ExecutionFilter, cursor: String? = nil, limit: Int = 50) {
        self.init(filter: filter, cursor: cursor, limit: limit)
    }
}
