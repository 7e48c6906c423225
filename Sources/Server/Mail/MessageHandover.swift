import HTTPClient
import Reactor

/// Hands over mails and text messages about accounts in the background. Used on one loop only.
///
/// Messages are kept in memory only, because they may hold codes. If the process ends before a message is accepted, the
/// message is lost, and the person has to request another one. After a transient fault a message is tried again, up to
/// three times within about six minutes.
final class MessageHandover {
    /// A reason for which a message was not accepted, and whether a retry may succeed.
    struct Fault {
        let reason: String
        let isTransient: Bool
    }

    /// The largest number of messages under way; further ones are dropped.
    private static let maxMessagesUnderWay = 64
    private static let retryDelays: [Duration] = [.seconds(5), .seconds(60), .seconds(300)]

    private let poller: Poller
    private var messagesUnderWay = 0

    init(_ poller: Poller) { self.poller = poller }

    /// Begins to hand over a message.
    /// - Parameters:
    ///   - handOver: hands the message over; returns nil if it was accepted or cancelled.
    ///   - report: called with the reason if the message is given up.
    func begin(_ handOver: @escaping () async -> Fault?, orReport report: @escaping (String) -> Void) {
        guard messagesUnderWay < Self.maxMessagesUnderWay else { return report("too many messages under way") }
        messagesUnderWay += 1
        attempt(0, handOver, report)
    }

    private func attempt(
        _ retryIndex: Int, _ handOver: @escaping () async -> Fault?, _ report: @escaping (String) -> Void
    ) {
        poller.spawn { [self] in
            guard let fault = await handOver() else {
                messagesUnderWay -= 1
                return
            }
            guard fault.isTransient, retryIndex < Self.retryDelays.count else {
                messagesUnderWay -= 1
                return report(fault.reason)
            }
            poller.schedule(at: .now() + Self.retryDelays[retryIndex]) { [weak self] in
                self?.attempt(retryIndex + 1, handOver, report)
            }
        }
    }
}

extension MessageHandover.Fault {
    /// Creates the fault of a failed request; nil for a cancelled one: the server is stopping, and nobody waits for the
    /// result.
    init?(_ error: HTTPClientError) {
        if error == .cancelled { return nil }
        self.init(reason: error.description, isTransient: error != .loginDenied)
    }

    /// Reads the fault in a webhook's response; nil where the webhook has accepted the message.
    init?(_ response: HTTPClientResponse) {
        switch WebhookProvider.outcome(response) {
        case .acknowledged, .deviceGone: return nil
        case .retry(let reason, _): self.init(reason: reason, isTransient: true)
        case .rejected(let reason): self.init(reason: reason, isTransient: false)
        }
    }
}
