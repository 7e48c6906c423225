import Contract
import Domain
import Postgres

/// Delivers messages to people or their devices. A provider is used on one loop only.
protocol MessageProvider: AnyObject {
    /// Whether the provider sends one message to a person rather than to each device.
    var sendsPerPerson: Bool { get }
    /// Returns whether the provider sends messages to devices of a platform.
    func supportsDevices(_ platform: DevicePlatform) -> Bool
    /// The maximum number of messages that the provider sends at the same time.
    var maxConcurrentSends: Int { get }
    /// Sends one message. It MUST answer within two minutes.
    /// - Parameter device: nil for a provider that sends one message per person.
    func send(_ message: DeliveryMessage, to device: DeviceTarget?) async -> SendingOutcome
}

/// The outcome of sending one message.
enum SendingOutcome: Hashable, Sendable {
    /// The provider has accepted the message; `reference` is its name for it.
    case acknowledged(reference: String?)
    /// The provider may accept the message later; `after` is the time that it asks to wait, nil if it names none.
    case retry(reason: String, after: Timestamp.Span? = nil)
    /// The provider will never accept this message.
    case rejected(reason: String)
    /// The provider does not know the device, or the device's token is invalid. The device is then deleted.
    case deviceGone
}

/// A device that a message goes to.
struct DeviceTarget: Sendable {
    let id: DeviceID
    let platform: DevicePlatform
    /// The device's push token, a secret.
    let token: String
    /// The keys of a browser's subscription; nil for other devices.
    let keys: WebPushKeys?

    /// Reads a row of `DeviceStatements.pushTargets`.
    init(_ row: Row) throws(PostgresError) {
        (id, platform, token) = (try row["id"], try row["platform"], try row["token"])
        if let p256dh: [UInt8] = try row["p256dh"], let auth: [UInt8] = try row["auth"] {
            keys = WebPushKeys(p256dh: p256dh, auth: auth)
        } else {
            keys = nil
        }
    }
}
