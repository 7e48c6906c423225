import Domain
import JSON

extension JoinRequest {
    /// In characters. One that is no code is unknown, as any other.
    static let longestCode = 64
}
