import HTTPClient
import ModelProviders
import NagzAI
import Reactor

/// Checks the services that the server calls: the gateway of a language model, and the receivers of notifications and
/// mails. It sends no message and nothing that people wrote: it asks the gateway for its list of models, sends an
/// OPTIONS request to a webhook or APNs, and signs in at a mail relay. People's own providers are not called.
public struct ProviderCheck: Sendable {
    private let models: ModelOptions
    private let deliveries: DeliveryOptions
    private let sendsDeliveries: Bool
    private let mail: MailOptions?

    public init(models: ModelOptions, deliveries: DeliveryOptions, sendsDeliveries: Bool, mail: MailOptions?) {
        (self.models, self.deliveries, self.sendsDeliveries) = (models, deliveries, sendsDeliveries)
        self.mail = mail
    }

    public func run() async throws -> [CheckResult] {
        let loop = try EventLoop(name: "nagz-check")
        try loop.start()
        defer { loop.stop() }
        return try await loop.runTask { poller in
            [
                await checkGateway(poller),
                await checkDelivery("push", deliveries.push, isUsed: sendsDeliveries, poller),
                // Every instance sends codes.
                await checkDelivery(
                    "sms", deliveries.sms, isUsed: sendsDeliveries || deliveries.codeGateway != nil, poller),
                await checkMail(poller),
            ]
        }
    }

    private func checkGateway(_ poller: Poller) async -> CheckResult {
        let gateways = ModelGateways(models, poller)
        defer { gateways.close() }
        guard let server = gateways.serverGateway, let model = models.gateway?.model else {
            return .notConfigured("model gateway", "only the built-in rules answer")
        }
        switch await server.availability() {
        case .available: return .ok("model gateway", "it answers, and lists \(model)")
        case .unavailable(.unknownModel):
            return .warning(
                "model gateway", "it does not list \(model); the built-in rules answer instead",
                advice: "correct NAGZ_MODEL_NAME, or load the model there")
        case .unavailable(let reason):
            return .warning(
                "model gateway", "it is not available (\(reason.rawValue)); the built-in rules answer instead",
                advice: "start it, or correct NAGZ_MODEL_URL and NAGZ_MODEL_KEY_FILE")
        }
    }

    /// - Parameter isUsed: whether this instance sends messages by the provider.
    private func checkDelivery(
        _ name: String, _ provider: DeliveryOptions.Provider, isUsed: Bool, _ poller: Poller
    ) async -> CheckResult {
        guard isUsed else { return .notConfigured(name, "this instance sends no notifications") }
        let url: String
        switch provider {
        case .log: return .notConfigured(name, "messages go to the log")
        case .webhook(let webhook): url = webhook.url
        case .apns(let apns): url = apns.endpoint
        }
        let client = HTTPClient(poller, networks: deliveries.networks, authoritiesPath: deliveries.authorities)
        defer { client.close() }
        return await checkWebhook(name, url, client, whileUnavailable: "messages are retried for a day")
    }

    private func checkMail(_ poller: Poller) async -> CheckResult {
        guard let mail else {
            return .notConfigured("mail", "forgotten passwords are reset with nagz admin reset-password")
        }
        let client = HTTPClient(poller, networks: mail.networks, authoritiesPath: mail.authorities)
        defer { client.close() }
        switch mail.transport {
        case .webhook(let hook):
            return await checkWebhook("mail", hook.url, client, whileUnavailable: "mails are retried for six minutes")
        case .relay(let relay):
            do throws(HTTPClientError) {
                try await client.checkLogin(at: relay)
                return .ok("mail", "the relay answers")
            } catch {
                return .failed(
                    "mail", "the relay is not available: \(error)",
                    advice: "correct --mail and --mail-password-file, or allow the network with --delivery-networks")
            }
        }
    }

    /// - Parameter whileUnavailable: what happens to messages until the provider is available again, for the advice.
    private func checkWebhook(
        _ name: String, _ url: String, _ client: HTTPClient, whileUnavailable: String
    ) async -> CheckResult {
        do throws(HTTPClientError) {
            // A webhook need not know this method: no status below 500 is a fault, and 501 means an unknown method.
            let response = try await client.send(HTTPClientRequest("OPTIONS", url, limits: .providerResponse))
            return response.status < 500 || response.status == 501
                ? .ok(name, "the provider answers")
                : .warning(name, "the provider answers with status \(response.status)", advice: "see its log")
        } catch {
            let text = "the provider is not available: \(error)"
            guard error == .forbiddenAddress || error == .malformedRequest else {
                return .warning(name, text, advice: "correct its address, or start it; \(whileUnavailable)")
            }
            return .failed(
                name, text, advice: "correct --\(name), or allow the network with --delivery-networks")
        }
    }
}
