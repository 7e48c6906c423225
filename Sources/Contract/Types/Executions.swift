import Domain
import JSON
import NagzAI

extension ExecutionRequest {
    /// The maximum length of a text, in Unicode scalars.
    public static let maxTextLength = 2_000
}

extension ExecutionListQuery {
    public init(_ filter: ExecutionFilter, cursor: String? = nil, limit: Int = 50) {
        self.init(filter: filter, cursor: cursor, limit: limit)
    }
}
