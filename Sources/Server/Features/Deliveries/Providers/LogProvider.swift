import Contract
import Domain

/// Writes messages to the server's log, without the nag's words, if no other provider is configured.
final class LogProvider: MessageProvider {
    let sendsPerPerson = true
    let maxConcurrentSends = 64
    private let log: Log

    init(_ log: Log) { self.log = log }

    func supportsDevices(_: DevicePlatform) -> Bool { false }

    func send(_ message: DeliveryMessage, to _: DeviceTarget?) async -> SendingOutcome {
        log.write(.info, "delivery") {
            $0.field("delivery_id", message.id)
            $0.field("channel", message.channel)
            $0.field("cause", message.event)
            if let nag = message.nagID { $0.field("nag_id", nag) }
            $0.field("user_id", message.recipientID)
        }
        return .acknowledged(reference: "log")
    }
}
