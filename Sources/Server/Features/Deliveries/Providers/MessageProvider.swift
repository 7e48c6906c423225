import Contract
import Domain
import Postgres

/// Takes messages to people. Used on one loop.
protocol MessageProvider: AnyObject {
    /// Whether each person gets one message.
    var addressesPeople: Bool { get }
    /// Whether each device of that platform gets a message of its own.
    func addresses(_ platform: DevicePlatform) -> Bool
    /// The number of messages that the provider takes at once.
    var concurrency: Int { get }
    /// Sends one message. It MUST answer within two minutes.
    /// - Parameter device: nil for a provider that addresses people.
    func send(_ message: DeliveryMessage, to device: DeviceTarget?) async -> SendingOutcome
}

/// A provider's answer.
enum SendingOutcome: Hashable, Sendable {
    /// It has the message; `reference` is its own name for it.
    case acknowledged(reference: String?)
    /// It may take the message later.
    case retry(reason: String, after: Timestamp.Span? = nil)
    /// It will never take this message.
    case rejected(reason: String)
    /// It does not know the device any more.
    case deviceGone
}

/// A device that a message goes to.
struct DeviceTarget: Sendable {
    let id: DeviceID
    let platform: DevicePlatform
    /// A secret.
    let token: String
    /// A browser's.
    let keys: WebPushKeys?

    /// Reads a row of `DeviceStatements.live`.
    init(_ row: Row) throws(PostgresError) {
        (id, platform, token) = (try row["id"], try row["platform"], try row["token"])
        if let p256dh: [UInt8] = try row["p256dh"], let auth: [UInt8] = try row["auth"] {
            keys = WebPushKeys(p256dh: p256dh, auth: auth)
        } else {
            keys = nil
        }
    }
}
