import Domain
import HTTPClient
import LoopbackClient
import ModelProviders
import NagzAI
import Reactor

/// The models outside this process: the server's own gateway, and third parties that are called with people's keys. Used
/// on one loop.
package final class ModelGateways {
    /// The server's gateway; nil if none is configured.
    let server: HTTPModelProvider?
    private let thirdParties: HTTPClient
    private let loopback: LoopbackClient

    init(_ options: ModelOptions, _ poller: Poller) {
        thirdParties = HTTPClient(poller, networks: options.networks, authorities: options.authorities)
        let loopback = LoopbackClient(poller)
        self.loopback = loopback
        server = options.gateway.map { gateway in
            // Of the styles this is the one that every runtime we know of has.
            .openAICompatible(
                .serverGateway, .server, .localStandard, at: .loopback(loopback, gateway.url), model: gateway.model,
                key: gateway.key, schemaStyle: .jsonObject)
        }
    }

    /// Ends all calls. Later ones fail.
    func close() {
        thirdParties.close()
        loopback.close()
    }

    /// The provider that is called with a person's key. Each has its own memory of faults.
    func provider(_ key: OpenedAIKey) -> HTTPModelProvider {
        let host = ModelHost.thirdParty(thirdParties, key.endpoint)
        if key.provider == .anthropic {
            return .anthropic(at: host, model: key.model, key: key.secret)
        }
        return .openAICompatible(
            .ownProvider, .thirdParty, .thirdParty, at: host, model: key.model, key: key.secret,
            schemaStyle: key.schemaStyle, tokensField: key.tokensField)
    }

    /// Whether the URL's host is, or resolves to, an address that third parties are not called at. It sends a request
    /// without a key, over the path that later calls take, and believes nothing of the answer. A host that cannot be
    /// resolved or reached now may be a public one: every later connection is checked too.
    func isInner(_ url: ThirdPartyURL) async throws -> Bool {
        var limits = HTTPClientRequest.Limits()
        (limits.head, limits.body) = (32 << 10, 256 << 10)
        (limits.connecting, limits.whole) = (.seconds(2), .seconds(3))
        do throws(HTTPClientError) {
            _ = try await thirdParties.send(HTTPClientRequest("GET", url.text + "/models", limits: limits))
            return false
        } catch {
            if error == .cancelled { throw CancellationError() }
            return error == .ownNetwork || error == .malformedRequest
        }
    }
}
