import HTTPClient
import Reactor

/// Hands over mails and text messages about accounts in the background. Used on one loop only.
///
/// Messages are kept in memory only, because they may hold codes. If the process ends before a message is accepted, it
/// is lost, and the person has to request another one. A message that is not accepted is tried three more times within
/// six minutes.
final class MessageHandover {
    /// A reason for which a message was not accepted, and whether a retry may succeed.
    struct Fault {
        let reason: String
        let isTransient: Bool
    }

    /// Messages under way; further ones are dropped.
    private static let limit = 64
    private static let waits: [Duration] = [.seconds(5), .seconds(60), .seconds(300)]

    private let poller: Poller
    private var underWay = 0

    init(_ poller: Poller) { self.poller = poller }

    /// - Parameters:
    ///   - hand: hands the message over; returns nil once it was accepted.
    ///   - report: called with the reason when no further attempt is made.
    func begin(_ hand: @escaping () async -> Fault?, orReport report: @escaping (String) -> Void) {
        guard underWay < Self.limit else { return report("too many messages under way") }
        underWay += 1
        attempt(0, hand, report)
    }

    private func attempt(_ number: Int, _ hand: @escaping () async -> Fault?, _ report: @escaping (String) -> Void) {
        poller.spawn { [self] in
            guard let fault = await hand() else {
                underWay -= 1
                return
            }
            guard fault.isTransient, number < Self.waits.count else {
                underWay -= 1
                return report(fault.reason)
            }
            poller.schedule(at: .now() + Self.waits[number]) { [weak self] in self?.attempt(number + 1, hand, report) }
        }
    }
}

extension MessageHandover.Fault {
    /// - Returns: nil for a cancelled request: the server is stopping, and nobody waits for the result.
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
