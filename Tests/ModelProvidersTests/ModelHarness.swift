import Foundation
import HTTPClient
import JSON
import LoopbackClient
import NagzAI
import Reactor
import TestHTTPServer
import Testing

@testable import ModelProviders

/// A clock that goes only where a test moves it.
final class TestClock: Sendable {
    private let instant = Locked(ContinuousClock.now)

    func now() -> ContinuousClock.Instant { instant.withLock { $0 } }

    func advance(_ span: Duration) { instant.withLock { $0 += span } }
}

/// Runs tests against a model's service that is not ours.
struct ModelHarness: Sendable {
    let server: TestHTTPServer
    let clock = TestClock()

    static let model = "test-model"
    static let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    static let request = ModelRequest(
        task: .coaching, systemPrompt: "Be kind.", userPrompt: "A tip: \"start\"", traceparent: trace)

    /// Runs `body` on a fresh event loop.
    static func onLoop<Value: Sendable>(
        _ body: @escaping @Sendable (Poller) async throws -> Value
    ) async throws -> Value {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        return try await loop.runTask(body)
    }

    /// The base URL at which the service answers as the word says.
    func url(_ word: String) -> String { server.url() + "/model/\(word)" }

    /// A gateway on this machine.
    func gateway(
        _ poller: Poller, _ word: String, model: String = model, key: String? = nil,
        style: SchemaStyle = .jsonSchema, tokens: TokensField = .maxTokens
    ) throws -> HTTPModelProvider {
        let url = try #require(LoopbackURL(url(word)))
        let clock = clock
        let provider = HTTPModelProvider.openAICompatible(
            .serverGateway, .server, .localStandard,
            at: .loopback(LoopbackClient(poller, authoritiesPath: server.authority), url), model: model,
            key: key.map(ModelKey.init), schemaStyle: style, tokensField: tokens, now: { clock.now() })
        provider.limits = .generous
        return provider
    }

    /// A third party, which for once is on this machine.
    func thirdParty(_ poller: Poller, _ word: String, isAnthropic: Bool) throws -> HTTPModelProvider {
        let networks = NetworkGuard(allowing: [try #require(NetworkBlock("127.0.0.1"))])
        let client = HTTPClient(poller, networks: networks, authoritiesPath: server.authority)
        let endpoint = ModelEndpoint.thirdParty(client, try #require(ThirdPartyURL(url(word))))
        let clock = clock
        let key = ModelKey("secret")
        let provider =
            isAnthropic
            ? HTTPModelProvider.anthropic(at: endpoint, model: Self.model, key: key, now: { clock.now() })
            : .openAICompatible(
                .ownProvider, .thirdParty, .thirdParty, at: endpoint, model: Self.model, key: key, now: { clock.now() })
        provider.limits = .generous
        return provider
    }

    /// What came to the service.
    func requests() async throws -> [JSONValue] {
        let server = server
        let body = try await Self.onLoop { poller in
            let client = LoopbackClient(poller, authoritiesPath: server.authority)
            defer { client.close() }
            let url = try #require(LoopbackURL(server.url()))
            return try await client.send("GET", url, "/requests").body
        }
        return try #require(try JSONValue(parsing: body)["requests"]?.arrayValue)
    }

    /// How many questions and how many requests for the list came to the service.
    func counts() async throws -> [Int] {
        let methods = try await requests().map { $0["method"]?.stringValue }
        return [methods.count { $0 == "POST" }, methods.count { $0 == "GET" }]
    }
}

extension ModelLimits {
    /// For a busy machine.
    static var generous: Self {
        Self(connectTimeout: .seconds(300), questionTimeout: .seconds(600), listTimeout: .seconds(300))
    }
}

/// What became of a question: the model's text or the fault.
func outcome(_ provider: some ModelProvider, _ request: ModelRequest = ModelHarness.request) async -> String {
    do throws(ModelFault) { return try await provider.generate(request).text } catch { return "\(error)" }
}
