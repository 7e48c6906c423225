import Domain
import HTTPClient
import LoopbackClient
import ModelProviders
import NagzAI
import Reactor

/// The models outside this process: the server's own gateway, and third parties that are called with people's keys.
/// Used on one loop only.
package final class ModelGateways {
    /// The server's gateway; nil if none is configured.
    let serverGateway: HTTPModelProvider?
    /// The prompts for models; nil where no question is ever sent to one.
    let prompts: PromptBook?
    /// The state of models that all loops share.
    let shared: SharedModels
    private let limits: ModelLimits?
    private let thirdParties: HTTPClient
    private let loopback: LoopbackClient

    init(
        _ options: ModelOptions, prompts: PromptBook? = nil, shared: SharedModels = SharedModels(),
        calls: CallTracer? = nil,
        _ poller: Poller
    ) {
        (self.prompts, self.shared) = (prompts, shared)
        thirdParties = HTTPClient(
            poller, networks: options.networks, authoritiesPath: options.authorities,
            tracer: calls?.tracer(of: "third-party model"))
        let loopback = LoopbackClient(
            poller, authoritiesPath: options.authorities, tracer: calls?.tracer(of: "model gateway"))
        self.loopback = loopback
        serverGateway = options.gateway.map { gateway in
            // Every runtime that we know supports this style.
            .openAICompatible(
                .serverGateway, .server, .localStandard, at: .loopback(loopback, gateway.url), model: gateway.model,
                key: gateway.key, schemaStyle: .jsonObject, health: shared.gatewayHealth)
        }
        limits = options.limits
        if let limits { serverGateway?.limits = limits }
    }

    /// Ends all calls. Later ones fail.
    func close() {
        thirdParties.close()
        loopback.close()
    }

    /// Returns the provider that is called with a person's key.
    func provider(_ key: OpenedAIKey) -> HTTPModelProvider {
        let provider = provider(key, shared.health(ofKey: key.sealedSecretDigest))
        if let limits { provider.limits = limits }
        return provider
    }

    private func provider(_ key: OpenedAIKey, _ health: ProviderHealth) -> HTTPModelProvider {
        let endpoint = ModelEndpoint.thirdParty(thirdParties, key.endpoint)
        if key.provider == .anthropic {
            return .anthropic(at: endpoint, model: key.model, key: key.secret, health: health)
        }
        return .openAICompatible(
            .ownProvider, .thirdParty, .thirdParty, at: endpoint, model: key.model, key: key.secret,
            schemaStyle: key.schemaStyle, tokensField: key.tokensField, health: health)
    }

    /// Returns the state of the network to the provider of a key, as the latest calls found it.
    func networkState(of key: StoredAIKey) -> NetworkState { health(of: key).network }

    func health(of key: StoredAIKey) -> ProviderHealth { shared.health(ofKey: key.sealedSecretDigest) }

    /// Returns whether the URL's host is a public address or resolves to one. The check sends a request without a key
    /// through the client of later calls, and ignores the response. A name that does not resolve counts as internal,
    /// so that callers cannot find out which internal names exist. A host that does not respond counts as public,
    /// because every later connection is checked too.
    func resolvesToPublicAddress(_ url: ThirdPartyURL) async throws -> Bool {
        var limits = HTTPClientRequest.Limits()
        (limits.maxResponseHeadBytes, limits.maxResponseBodyBytes) = (32 << 10, 256 << 10)
        (limits.connectTimeout, limits.totalTimeout) = (.seconds(2), .seconds(3))
        do throws(HTTPClientError) {
            _ = try await thirdParties.send(HTTPClientRequest("GET", url.text + "/models", limits: limits))
            return true
        } catch {
            if error == .cancelled { throw CancellationError() }
            return ![.forbiddenAddress, .unresolvable, .malformedRequest].contains(error)
        }
    }
}
