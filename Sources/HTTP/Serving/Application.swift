/// The routes, the CORS policy and the error responses of a server, without its sockets.
public final class Application: Sendable {
    public let router: Router
    public let cors: CORSPolicy?
    public let proxies: TrustedProxies
    /// The size in bytes from which compressible content is sent as gzip; nil turns compression off.
    public let compressionThreshold: Int?
    /// The name of the response field for the request ID; nil sends none.
    public let requestIDField: StaticString?
    /// The function that creates the response to a request that reaches no handler, or whose response does not fit the
    /// memory limit. The given status replaces the response's own.
    public let refusal: @Sendable (Status, _ reason: String, RequestID) -> Response

    public init(
        router: Router, cors: CORSPolicy? = nil, proxies: TrustedProxies = .none, compressionThreshold: Int? = 1 << 10,
        requestIDField: StaticString? = nil,
        refusal: @escaping @Sendable (Status, _ reason: String, RequestID) -> Response = { status, reason, _ in
            .text(status, reason + "\n")
        }
    ) {
        self.router = router
        self.cors = cors
        self.proxies = proxies
        self.compressionThreshold = compressionThreshold
        self.requestIDField = requestIDField
        self.refusal = refusal
    }

    /// The decision which route serves a request, made from its head.
    enum RouteDecision: Sendable {
        case route(Route)
        /// No route matches. `allowed`: the methods that the path exists for, and OPTIONS; nil if the path does not
        /// exist. For `OPTIONS *` it has every method except TRACE.
        case none(allowed: MethodSet?)
    }

    /// Returns the decision for the request with this head.
    func routeDecision(for head: RequestHead) -> RouteDecision {
        if head.asksAboutServer {
            return .none(allowed: MethodSet(rawValue: .max).subtracting(MethodSet(.trace)))
        }
        switch router.match(head) {
        case .route(let route): return .route(route)
        case .notFound: return .none(allowed: nil)
        case .otherMethods(let methods): return .none(allowed: methods.union(MethodSet(.options)))
        }
    }

    /// Returns the response if no route matches: CORS preflight, OPTIONS, 405 or 404.
    func responseWithoutRoute(_ request: borrowing Request, allowed: MethodSet?) -> Response {
        if let preflight = cors?.preflightResponse(to: request) { return preflight }
        guard let allowed else { return refusalResponse(.notFound, "There is nothing at this path.", request.id) }
        var response =
            request.method == .options
            ? Response.noContent
            : refusalResponse(.methodNotAllowed, "This path does not take this method.", request.id)
        response.fields.append(HeaderField("allow", allowed.description))
        return response
    }

    private func refusalResponse(_ status: Status, _ reason: String, _ id: RequestID) -> Response {
        var response = refusal(status, reason, id)
        response.status = status
        return response
    }

    /// Returns the response to a request that HTTP itself refuses, with CORS fields.
    /// - Parameter origin: the request's `Origin`; nil if it has none.
    func refusalResponse(for fault: HTTPRequestError, origin: String?, _ id: RequestID) -> Response {
        var response = refusalResponse(fault.status, fault.reason, id)
        if fault.status == .serviceUnavailable { response.fields.append(HeaderField("retry-after", "1")) }
        cors?.apply(to: &response, origin: origin)
        return response
    }

    /// Returns the 503 that is sent instead of a response that does not fit the memory limit.
    func outOfMemoryResponse(_ request: borrowing Request) -> Response {
        var response = refusalResponse(
            .serviceUnavailable, "The server has no memory for this answer now. Try again.", request.id)
        response.fields.append(HeaderField("retry-after", "1"))
        cors?.apply(to: &response, for: request)
        return response
    }

    /// Applies CORS fields and compression, which depend on the request.
    func applyCORSAndGzip(to response: inout Response, for request: borrowing Request, with deflater: Deflater) {
        if let cors, response.field("access-control-allow-methods") == nil {
            cors.apply(to: &response, for: request)
        }
        guard let compressionThreshold, case .bytes(let content) = response.body, content.count >= compressionThreshold,
            let mediaType = response.mediaType, mediaType.isCompressible,
            response.field("content-encoding") == nil
        else { return }
        response.vary.insert(.acceptEncoding)
        guard request.headers.acceptsGzip, let compressed = deflater.compress(content) else { return }
        response.fields.append(HeaderField("content-encoding", "gzip"))
        response.body = .bytes(compressed)
    }
}
