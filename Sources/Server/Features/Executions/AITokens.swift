import Audit
import Contract
import Domain

/// The tokens of AI sessions and confirmations: 256 random bits each, of which the server keeps a digest.
struct AITokens {
    /// The time after its last use at which an AI session expires.
    static let sessionIdleLifetime = Timestamp.Span.minutes(45)
    /// The time within which a person has to confirm.
    static let confirmationLifetime = Timestamp.Span.seconds(300)

    let random: any Randomness

    /// Returns a new token.
    func makeToken() -> Secret { Secret(base64URL(random.bytes(32))) }

    static func digest(_ token: Secret) -> [UInt8] { sha256(Array(token.wireText.utf8)) }
}
