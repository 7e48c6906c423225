import Domain
import HTTPClient
import Postgres
import Reactor

/// Sends the pending deliveries, with a sender for each channel, so that a slow provider delays no other channel.
final class DeliveryWorker: BackgroundJob {
    /// The limits of the worker's sessions, which run short statements only.
    static let limits = Database.Limits(connections: 2)

    /// The longest time that running deliveries may take when the server stops.
    private static let maxDrainTime = Duration.seconds(5)

    private let clients: [HTTPClient]
    private let poller: Poller
    let senders: [ChannelSender]

    /// - Parameters:
    ///   - services: with database sessions of their own, on a loop of their own.
    ///   - figures: one for each channel.
    ///   - spans: the queue for the spans of calls; nil where none are exported.
    init(
        _ services: Services, _ options: DeliveryOptions, figures: [DeliveryFigures], spans: SpanQueue? = nil, log: Log,
        reach: @escaping (ChannelSender.Point) throws -> Void = { _ in }
    ) {
        poller = services.database.poller
        let calls = CallTracer(services.random, services.clock, exportingTo: spans)
        func client(_ networks: NetworkGuard) -> HTTPClient {
            HTTPClient(
                services.database.poller, networks: networks, authoritiesPath: options.authorities,
                tracer: calls.tracer(of: "notification provider"))
        }
        let providerClient = client(options.networks)
        let webPush = options.webPush.map { push in
            let client = client(push.networks)
            let provider = WebPushProvider(
                push, client, services.database.poller, services.clock, services.random, staleAfter: options.staleAfter)
            return (client: client, provider: provider)
        }
        clients = [providerClient] + [webPush?.client].compactMap(\.self)
        senders = figures.map { figures in
            let isPush = figures.channel == .push
            let chosen = isPush ? options.push : options.sms
            let provider: any MessageProvider =
                switch chosen {
                case .log: LogProvider(log)
                case .webhook(let webhook): WebhookProvider(webhook, providerClient, services.clock)
                case .apns(let apns):
                    APNsProvider(apns, providerClient, services.clock, staleAfter: options.staleAfter)
                }
            return ChannelSender(
                services, figures.channel, over: [provider] + (isPush ? [webPush?.provider].compactMap(\.self) : []),
                passesTokens: isPush && options.sendsTokensAndPhones,
                passesPhones: !isPush && options.sendsTokensAndPhones, retryPolicy: options.retries,
                staleAfter: options.staleAfter, figures: figures, calls: calls, log: log, reach: reach)
        }
    }

    func start() { for sender in senders { sender.start() } }

    func stop() { for sender in senders { sender.stop() } }

    /// Waits for the running deliveries, at most `maxDrainTime`, and closes the connections to the providers.
    /// Another instance tries the unfinished deliveries again when their lease ends.
    func finish() async {
        let timer = poller.schedule(at: .now() + Self.maxDrainTime) { [clients] in
            for client in clients { client.close() }
        }
        for sender in senders { await sender.drain() }
        poller.cancel(timer)
        for client in clients { client.close() }
    }
}
