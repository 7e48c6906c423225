import HTTP

/// The header fields of this API, and those that pages of other origins may use.
enum HeaderFields {
    static let requestID: StaticString = "X-Request-Id"
    /// The field with the execution's trace, in responses of the AI and draft operations to requests that have passed
    /// authentication and the rate limit.
    static let traceID = "x-trace-id"
    /// The fields of a client's rate limit: requests allowed, requests left, and seconds until the next window.
    static let rateLimit = (
        limit: "x-ratelimit-limit", remaining: "x-ratelimit-remaining", reset: "x-ratelimit-reset"
    )

    /// The field which says that a response is that of an earlier request.
    static let idempotentReplay = "idempotent-replay"
    /// The field that lists the unknown parameters of a read.
    static let ignoredParameters = "ignored-parameters"

    static func corsPolicy(origins: [String]) -> CORSPolicy {
        CORSPolicy(
            origins: Set(origins),
            allowedHeaders: [
                "authorization", "content-type", "idempotency-key", "if-match", "prefer", "traceparent", "x-request-id",
            ],
            exposedHeaders: [
                "x-request-id", rateLimit.limit, rateLimit.remaining, rateLimit.reset, "retry-after", "etag",
                "location", traceID, ignoredParameters, idempotentReplay,
            ])
    }
}
