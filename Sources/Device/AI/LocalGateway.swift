import LoopbackClient
import ModelProviders
import NagzAI
import Reactor
import Synchronization

/// A model behind a service with OpenAI's protocol on this machine, such as llama.cpp's server. Its URL cannot lead to
/// another machine. Its requests run on an event loop of their own, so any task may use it.
public final class LocalGateway: ModelProvider, Sendable {
    public let name = ProviderName.localGateway
    public let reach = Reach.device
    public let capabilities: ProviderCapabilities

    private let url: LoopbackURL
    private let model: String
    private let key: ModelKey?
    private let loop: EventLoop
    /// The client and provider; nil before the first call.
    private let currentConnection = Mutex<LoopBound<Connection>?>(nil)

    private final class Connection {
        let client: LoopbackClient
        let provider: HTTPModelProvider

        init(_ client: LoopbackClient, _ provider: HTTPModelProvider) {
            (self.client, self.provider) = (client, provider)
        }
    }

    /// - Parameters:
    ///   - model: the name of one of the models that the service lists.
    ///   - key: the service's key; nil if it needs none.
    /// - Throws: if the kernel refuses a descriptor or a thread.
    public init(
        _ url: LoopbackURL, model: String, key: ModelKey? = nil, capabilities: ProviderCapabilities = .localStandard
    ) throws(SystemError) {
        (self.url, self.model, self.key, self.capabilities) = (url, model, key, capabilities)
        loop = try EventLoop(name: "nagz-model")
        try loop.start()
    }

    deinit {
        let connection = currentConnection.withLock(\.self)
        loop.post { loop in
            connection?.value.client.close()
            loop.stop()
        }
    }

    public func generate(_ request: ModelRequest) async throws(ModelFault) -> ModelResult {
        let outcome = await runOnLoop { provider async -> Result<ModelResult, ModelFault> in
            do throws(ModelFault) { return .success(try await provider.generate(request)) } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    public func availability() async -> Availability {
        await runOnLoop { provider async -> Availability in await provider.availability() }
    }

    /// Runs `body` on the event loop. The body is cancelled with the calling task.
    private func runOnLoop<Value: Sendable>(
        _ body: @escaping @Sendable (HTTPModelProvider) async -> Value
    ) async -> Value {
        await loop.runCancellableTask { poller in await body(self.openProvider(poller)) }
    }

    /// Returns the provider, and creates it with its client at the first call. Call it on the loop only.
    private func openProvider(_ poller: Poller) -> HTTPModelProvider {
        if let connection = currentConnection.withLock(\.self) { return connection.value.provider }
        let client = LoopbackClient(poller)
        let httpProvider = HTTPModelProvider.openAICompatible(
            name, reach, capabilities, at: .loopback(client, url), model: model, key: key)
        let connection = LoopBound(value: Connection(client, httpProvider))
        currentConnection.withLock { $0 = connection }
        return httpProvider
    }
}
