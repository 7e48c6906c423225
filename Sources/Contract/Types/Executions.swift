import Domain
import JSON
import NagzAI

extension ExcuseSummaryRequest {
    /// The lengths of an excuse, in Unicode scalars.
    public static let textLengths = 1...2_000
}

extension ExecutionListQuery {
    public init(_ filter: ExecutionFilter, cursor: String? = nil, limit: Int = 50) {
        self.init(filter: filter, cursor: cursor, limit: limit)
    }
}
