/// The origins that may call this server from a browser (the CORS protocol of the Fetch standard), always without
/// credentials.
public struct CORSPolicy: Sendable {
    /// Serialised origins (`https://app.example`), or only `*` for every origin.
    public let origins: Set<String>
    /// The number of seconds for which a browser may cache a preflight response.
    public let maxAge: Int
    private let preflightFields: [HeaderField]
    private let exposedFields: [HeaderField]
    private let allowsAll: Bool

    public static let allowedMethods = "GET, POST, PUT, PATCH, DELETE"

    /// - Parameters:
    ///   - allowedHeaders: request fields that pages may send, besides those that Fetch always allows.
    ///   - exposedHeaders: response fields that pages may read, besides those that Fetch always allows.
    ///   - maxAge: for how many seconds a browser may cache a preflight response.
    public init(
        origins: Set<String>, allowedHeaders: [String] = [], exposedHeaders: [String] = [], maxAge: Int = 600
    ) {
        self.origins = origins
        self.maxAge = maxAge
        allowsAll = origins.contains("*")
        let methods = HeaderField("access-control-allow-methods", Self.allowedMethods)
        let age = HeaderField("access-control-max-age", String(maxAge))
        preflightFields = [methods] + Self.fields("access-control-allow-headers", allowedHeaders) + [age]
        exposedFields = Self.fields("access-control-expose-headers", exposedHeaders)
    }

    private static func fields(_ name: String, _ values: [String]) -> [HeaderField] {
        values.isEmpty ? [] : [HeaderField(name, values.joined(separator: ", "))]
    }

    /// Returns the response to a preflight: OPTIONS with Origin and Access-Control-Request-Method. Nil for other
    /// requests.
    public func preflightResponse(to request: borrowing Request) -> Response? {
        guard request.method == .options, let origin = request.headers["origin"],
            request.headers.contains("access-control-request-method")
        else { return nil }
        var response = Response(.noContent)
        response.fields = [HeaderField("vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")]
        if let allowed = allowedOrigin(for: origin) {
            response.fields.append(HeaderField("access-control-allow-origin", allowed))
            response.fields += preflightFields
        }
        return response
    }

    /// Adds the fields that let an allowed origin read the response. Unless the policy allows every origin, the
    /// response depends on the request's origin: then `Vary` is added for every request.
    public func apply(to response: inout Response, for request: borrowing Request) {
        apply(to: &response, origin: request.headers.contains("origin") ? request.headers["origin"] : nil)
    }

    /// - Parameter origin: the request's `Origin`; nil if it has none.
    func apply(to response: inout Response, origin: String?) {
        if !allowsAll { response.vary.insert(.origin) }
        guard let origin, let allowed = allowedOrigin(for: origin) else { return }
        response.fields.append(HeaderField("access-control-allow-origin", allowed))
        response.fields += exposedFields
    }

    /// The only configured origin; nil if there are several or none. If the `Origin` of a refused request could not be
    /// read, the refusal is sent for this origin.
    var soleOrigin: String? { origins.count == 1 ? origins.first : nil }

    private func allowedOrigin(for origin: String) -> String? {
        allowsAll ? "*" : origins.contains(origin) ? origin : nil
    }
}
