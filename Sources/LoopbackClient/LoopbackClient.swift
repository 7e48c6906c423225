import HTTPClient
import Reactor

/// Sends requests to services on this machine, and nowhere else: `LoopbackURL` cannot hold another address, and the
/// peer of each connection is checked before a request is sent over it. It is used on one event loop.
public final class LoopbackClient {
    private let client: HTTPClient

    /// - Parameters:
    ///   - authoritiesPath: the path of a PEM file with trusted certificates; nil for the system's.
    ///   - tracer: begins the span of each request; if it is nil, no `traceparent` is sent.
    public init(_ poller: Poller, authoritiesPath: String? = nil, tracer: RequestTracer? = nil) {
        client = HTTPClient(poller, networks: .loopback, authoritiesPath: authoritiesPath, tracer: tracer)
    }

    /// Ends all requests, which throw `cancelled`, and closes all connections. Later requests throw `cancelled`.
    public func close() { client.close() }

    /// Sends a request and waits for the complete response, whatever its status.
    /// - Parameters:
    ///   - path: begins with a slash, and is appended to the path of the URL.
    ///   - isSentAtMostOnce: whether the request is sent at most once, over a new connection.
    public func send(
        _ method: String, _ url: LoopbackURL, _ path: String, headers: [(name: String, value: String)] = [],
        body: [UInt8]? = nil, limits: HTTPClientRequest.Limits = .init(), isSentAtMostOnce: Bool = false
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        // Without a slash the path would change the host or the port.
        guard path.hasPrefix("/") else { throw .malformedRequest }
        let target = url.target(path)
        var request = HTTPClientRequest(method, target.url, headers: headers, body: body, limits: limits)
        request.unixSocket = target.unixSocket
        request.isSentAtMostOnce = isSentAtMostOnce
        return try await client.send(request)
    }
}
