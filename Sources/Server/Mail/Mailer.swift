import Audit
import Contract
import Domain
import HTTPClient
import JSON
import Reactor

/// Sends mails about accounts, beside the requests that cause them. Used on one loop only.
///
/// A mail is in memory only, because it may hold a code: if the process ends before it is sent, it is lost, and its owner
/// asks again. A relay that does not take it is tried three more times within six minutes. Neither addresses nor words
/// are logged.
final class Mailer {
    /// Mails under way; further ones are dropped.
    private static let limit = 64
    private static let waits: [Duration] = [.seconds(5), .seconds(60), .seconds(300)]

    private let options: MailOptions
    private let client: HTTPClient
    private let poller: Poller
    private let clock: any WallClock
    private let random: any Randomness
    private let log: Log
    private var underWay = 0

    init(_ options: MailOptions, _ clock: any WallClock, _ random: any Randomness, _ log: Log, _ poller: Poller) {
        (self.options, self.clock, self.random, self.log, self.poller) = (options, clock, random, log, poller)
        client = HTTPClient(poller, networks: options.networks, authorities: options.authorities)
    }

    /// Sends a mail in the background.
    func send(_ mail: AccountMail, to address: String) {
        guard underWay < Self.limit else { return report(mail, "too many mails under way") }
        underWay += 1
        attempt(mail, to: address, id: random.identifier(at: clock.now()), 0)
    }

    /// Ends the attempts under way.
    func close() { client.close() }

    private func attempt(_ mail: AccountMail, to address: String, id: DeliveryID, _ number: Int) {
        poller.spawn { [self] in
            guard let fault = await hand(mail, to: address, id: id) else {
                underWay -= 1
                return
            }
            guard fault.mayPass, number < Self.waits.count else {
                underWay -= 1
                return report(mail, fault.reason)
            }
            poller.schedule(at: .now() + Self.waits[number]) { [weak self] in
                self?.attempt(mail, to: address, id: id, number + 1)
            }
        }
    }

    private func report(_ mail: AccountMail, _ reason: String) {
        log.write(.error, "mail_not_sent") { json in
            json.field("mail", mail.name)
            json.field("reason", reason)
        }
    }

    /// Why a mail was not taken, and whether that may pass.
    private struct Fault {
        let reason: String
        let mayPass: Bool
    }

    private func hand(_ mail: AccountMail, to address: String, id: DeliveryID) async -> Fault? {
        do throws(HTTPClientError) {
            switch options.carrier {
            case .relay(let relay):
                let reply = try await client.send(message(mail, to: address, id), to: relay)
                return reply == 250 ? nil : Fault(reason: "reply \(reply)", mayPass: reply < 500)
            case .webhook(let webhook):
                let body = mail.webhookBody(id, from: options.from, to: address, link: options.publicURL)
                let request = webhook.request(id, body, at: clock.now())
                switch WebhookProvider.outcome(try await client.send(request)) {
                case .acknowledged: return nil
                case .retry(let reason, _): return Fault(reason: reason, mayPass: true)
                case .rejected(let reason): return Fault(reason: reason, mayPass: false)
                case .deviceGone: return nil
                }
            }
        } catch {
            // The server stops: nobody is there to be told.
            if error == .cancelled { return nil }
            return Fault(reason: error.description, mayPass: error != .loginDenied)
        }
    }

    private func message(_ mail: AccountMail, to address: String, _ id: DeliveryID) -> Mail {
        let domain = options.from.split(separator: "@").last ?? "localhost"
        return Mail(
            from: options.from, to: address,
            headers: [
                ("Subject", mail.subject), ("Date", Self.date(clock.now())), ("Message-ID", "<\(id)@\(domain)>"),
                ("MIME-Version", "1.0"), ("Content-Type", "text/plain; charset=utf-8"),
                ("Auto-Submitted", "auto-generated"),
            ], text: mail.text(options.publicURL))
    }

    /// RFC 5322, section 3.3.
    private static func date(_ moment: Timestamp) -> String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let date = UniversalTime().local(moment).date
        return "\(date.day) \(months[date.month - 1]) \(date.year) \(moment.rfc3339.dropFirst(11).prefix(8)) +0000"
    }
}
