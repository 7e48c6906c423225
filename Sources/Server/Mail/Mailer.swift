import Audit
import Contract
import Domain
import HTTPClient
import JSON
import Reactor

/// Sends mails about accounts, beside the requests that cause them. Used on one loop only.
///
/// Neither addresses nor words are logged.
final class Mailer {
    private let options: MailOptions
    private let client: HTTPClient
    private let handover: MessageHandover
    private let clock: any WallClock
    private let random: any Randomness
    private let log: Log

    init(_ options: MailOptions, _ clock: any WallClock, _ random: any Randomness, _ log: Log, _ poller: Poller) {
        (self.options, self.clock, self.random, self.log) = (options, clock, random, log)
        handover = MessageHandover(poller)
        client = HTTPClient(poller, networks: options.networks, authoritiesPath: options.authorities)
    }

    /// Sends a mail in the background.
    func send(_ mail: AccountMail, to address: String) {
        let id: DeliveryID = random.identifier(at: clock.now())
        handover.begin { [weak self] in
            await self?.handOver(mail, to: address, id: id)
        } orReport: { [log] reason in
            log.write(.error, "mail_not_sent") { json in
                json.field("mail", mail.name)
                json.field("reason", reason)
            }
        }
    }

    /// Ends the running attempts.
    func close() { client.close() }

    private func handOver(_ mail: AccountMail, to address: String, id: DeliveryID) async -> MessageHandover.Fault? {
        do throws(HTTPClientError) {
            switch options.transport {
            case .relay(let relay):
                let reply = try await client.send(message(mail, to: address, id), to: relay)
                return reply == 250 ? nil : MessageHandover.Fault(reason: "reply \(reply)", isTransient: reply < 500)
            case .webhook(let webhook):
                let body = mail.webhookBody(id, from: options.from, to: address, publicURL: options.publicURL)
                return MessageHandover.Fault(try await client.send(webhook.request(id, body, at: clock.now())))
            }
        } catch {
            return MessageHandover.Fault(error)
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

    /// Returns a date as in RFC 5322, section 3.3.
    private static func date(_ moment: Timestamp) -> String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let date = UniversalTime().local(moment).date
        return "\(date.day) \(months[date.month - 1]) \(date.year) \(moment.rfc3339.dropFirst(11).prefix(8)) +0000"
    }
}
