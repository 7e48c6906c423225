import Domain
import JSON
import NagzAI

extension ExecutionRequest {
    public static let longestText = 2_000
}
