/// Which pages of other origins may call this server (the Fetch standard's CORS protocol); credentials never.
public struct CORSPolicy: Sendable {
    /// Serialised origins (`https://app.example`), or `*` alone for every origin.
    public let origins: Set<String>
    public let maxAge: Int
    private let grant: [HeaderField]
    private let allowsAll: Bool

    public static let allowedHeaders =
        "authorization, content-type, idempotency-key, if-match, traceparent, x-request-id"
    public static let allowedMethods = "GET, POST, PUT, PATCH, DELETE"
    public static let exposedHeaders =
        "x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, retry-after, etag, location"

    public init(origins: Set<String>, maxAge: Int = 600) {
        self.origins = origins
        self.maxAge = maxAge
        allowsAll = origins.contains("*")
        grant = [
            HeaderField("access-control-allow-methods", Self.allowedMethods),
            HeaderField("access-control-allow-headers", Self.allowedHeaders),
            HeaderField("access-control-max-age", String(maxAge)),
        ]
    }

    /// The answer to a preflight: an OPTIONS with Origin and Access-Control-Request-Method. Nil for other requests.
    public func preflight(_ request: borrowing Request) -> Response? {
        guard request.method == .options, let origin = request.headers["origin"],
            request.headers.contains("access-control-request-method")
        else { return nil }
        var response = Response(.noContent)
        response.fields = [HeaderField("vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")]
        if let allowed = allowed(origin) {
            response.fields.append(HeaderField("access-control-allow-origin", allowed))
            response.fields += grant
        }
        return response
    }

    /// Adds what a page of an allowed origin needs to read the answer; `Vary` even when the origin is not allowed,
    /// because the answer depends on it.
    public func apply(to response: inout Response, for request: borrowing Request) {
        apply(to: &response, origin: request.headers.contains("origin") ? request.headers["origin"] : nil)
    }

    /// - Parameter origin: the request's; nil for one that has none.
    func apply(to response: inout Response, origin: String?) {
        if !allowsAll { response.vary.insert(.origin) }
        guard let origin, let allowed = allowed(origin) else { return }
        response.fields.append(HeaderField("access-control-allow-origin", allowed))
        response.fields.append(HeaderField("access-control-expose-headers", Self.exposedHeaders))
    }

    /// The configured origin, if there is one only: what a request is refused for whose own origin could not be read.
    var soleOrigin: String? { origins.count == 1 ? origins.first : nil }

    private func allowed(_ origin: String) -> String? {
        allowsAll ? "*" : origins.contains(origin) ? origin : nil
    }
}
