import HTTP

/// Routes for the tests that want any server.
func sampleApplication(cors: CORSPolicy? = nil, proxies: TrustedProxies = .none) throws -> Application {
    let routes: [Route] = [
        .immediate(.get, "/") { _ in .text(.ok, "root") },
        .immediate(.post, "/") { request in Response(.ok, .text, bytes: request.body) },
        .immediate(.get, "/nags/{nag_id}") { .text(.ok, $0.parameter("nag_id") ?? "?") },
        .immediate(.put, "/nags/{nag_id}") { _ in .noContent },
        .immediate(.post, "/small", bodyLimit: 4) { request in Response(.ok, .text, bytes: request.body) },
        .immediate(.get, "/page") { _ in .text(.ok, String(repeating: "nag ", count: 1000)) },
        .immediate(.get, "/tagged") { .text(.ok, "tagged").taggedOrNotModified(EntityTag("v1"), for: $0) },
    ]
    return Application(router: try Router(routes), cors: cors, proxies: proxies, requestIDField: "X-Request-Id")
}

extension CORSPolicy {
    /// With lists of fields as a server has them.
    static func sample(_ origins: String...) -> CORSPolicy { sample(origins) }

    static func sample(_ origins: [String]) -> CORSPolicy {
        CORSPolicy(
            origins: Set(origins),
            allowedHeaders: [
                "authorization", "content-type", "idempotency-key", "if-match", "traceparent", "x-request-id",
            ],
            exposedHeaders: ["x-request-id", "retry-after", "etag"])
    }
}
