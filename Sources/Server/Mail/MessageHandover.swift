import HTTPClient
import Reactor

/// Hands messages about accounts over in the background. Used on one loop only.
///
/// A message is in memory only, because it may hold a code: if the process ends before it is taken, it is lost, and its owner
/// asks again. One that is not taken is tried three more times within six minutes.
final class MessageHandover {
    /// A reason for which a message was not taken, and whether that may pass.
    struct Fault {
        let reason: String
        let mayPass: Bool
    }

    /// Messages under way; further ones are dropped.
    private static let limit = 64
    private static let waits: [Duration] = [.seconds(5), .seconds(60), .seconds(300)]

    private let poller: Poller
    private var underWay = 0

    init(_ poller: Poller) { self.poller = poller }

    /// - Parameters:
    ///   - hand: hands the message over; nil once it was taken.
    ///   - report: is called with the reason when it is given up.
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
            guard fault.mayPass, number < Self.waits.count else {
                underWay -= 1
                return report(fault.reason)
            }
            poller.schedule(at: .now() + Self.waits[number]) { [weak self] in self?.attempt(number + 1, hand, report) }
        }
    }
}

extension MessageHandover.Fault {
    /// - Returns: nil where the server stops: nobody is there to be notified.
    init?(_ error: HTTPClientError) {
        if error == .cancelled { return nil }
        self.init(reason: error.description, mayPass: error != .loginDenied)
    }

    /// Reads the fault in a webhook's answer; nil where it has taken the message.
    init?(_ response: HTTPClientResponse) {
        switch WebhookProvider.outcome(response) {
        case .acknowledged, .deviceGone: return nil
        case .retry(let reason, _): self.init(reason: reason, mayPass: true)
        case .rejected(let reason): self.init(reason: reason, mayPass: false)
        }
    }
}
