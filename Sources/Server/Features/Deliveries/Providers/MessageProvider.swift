import Contract
import Domain
import Postgres

/// Takes messages to people. Used on one loop.
protocol MessageProvider: AnyObject {
    /// Whether each device gets a message of its own; otherwise each person gets one.
    var addressesDevices: Bool { get }
    /// How many messages it takes at once.
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

    init(id: DeviceID, platform: DevicePlatform, token: String) {
        (self.id, self.platform, self.token) = (id, platform, token)
    }

    /// Reads a row of `DeviceStatements.live`.
    init(_ row: Row) throws(PostgresError) {
        self.init(id: try row["id"], platform: try row["platform"], token: try row["token"])
    }
}
