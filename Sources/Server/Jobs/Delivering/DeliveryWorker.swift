import Domain
import HTTPClient
import Postgres
import Reactor

/// Sends the pending deliveries, each channel in a lane of its own, so that a slow provider holds up no other.
final class DeliveryWorker: BackgroundJob {
    /// Short statements only.
    static let limits = Database.Limits(connections: 2)

    /// The time that deliveries under way may take when the server stops.
    private static let drainTime = Duration.seconds(5)

    private let clients: [HTTPClient]
    private let poller: Poller
    let lanes: [DeliveryLane]

    /// - Parameters:
    ///   - services: with database sessions of their own, on a loop of their own.
    ///   - figures: one for each channel.
    ///   - spans: where the spans of calls go; nil where none are exported.
    init(
        _ services: Services, _ options: DeliveryOptions, figures: [DeliveryFigures], spans: SpanQueue? = nil, log: Log,
        reach: @escaping (DeliveryLane.Point) throws -> Void = { _ in }
    ) {
        poller = services.database.poller
        let calls = CallTracer(services.random, services.clock, exportingTo: spans)
        func client(_ networks: NetworkGuard) -> HTTPClient {
            HTTPClient(
                services.database.poller, networks: networks, authorities: options.authorities,
                tracer: calls.tracer(of: "notification provider"))
        }
        let operators = client(options.networks)
        let browsers = options.webPush.map { push in
            let client = client(push.networks)
            let provider = WebPushProvider(
                push, client, services.database.poller, services.clock, services.random, staleAfter: options.staleAfter)
            return (client: client, provider: provider)
        }
        clients = [operators] + [browsers?.client].compactMap(\.self)
        lanes = figures.map { figures in
            let isPush = figures.channel == .push
            let chosen = isPush ? options.push : options.sms
            let provider: any MessageProvider =
                switch chosen {
                case .log: LogProvider(log)
                case .webhook(let webhook): WebhookProvider(webhook, operators, services.clock)
                case .apns(let apns): APNsProvider(apns, operators, services.clock, staleAfter: options.staleAfter)
                }
            return DeliveryLane(
                services, figures.channel, over: [provider] + (isPush ? [browsers?.provider].compactMap(\.self) : []),
                passesTokens: isPush && options.passesTokens, passesPhones: !isPush && options.passesTokens,
                policy: options.retries, staleAfter: options.staleAfter, figures: figures, calls: calls, log: log,
                reach: reach)
        }
    }

    func start() { for lane in lanes { lane.start() } }

    func stop() { for lane in lanes { lane.stop() } }

    /// Lets, after `stop`, deliveries under way end, for a short time, and closes the connections to the providers. The
    /// others are tried again by another instance when their lease ends.
    func finish() async {
        let timer = poller.schedule(at: .now() + Self.drainTime) { [clients] in for client in clients { client.close() }
        }
        for lane in lanes { await lane.drain() }
        poller.cancel(timer)
        for client in clients { client.close() }
    }
}
