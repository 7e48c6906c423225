/// An operation of the API as data, for the router, the client and the OpenAPI document.
public struct Operation: Hashable, Sendable {
    /// The request methods of the API.
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// Whether a sign-in is required. The features check roles and consents.
    public enum Access: Sendable {
        case open, bearer
    }

    /// The rate limit that applies, for each person, or for each address without a sign-in.
    public enum RateTier: Sendable {
        /// 300 per minute.
        case read
        /// Reads of one nag's details or of a picture, which clients make for each nag of a list: 1,200 per minute.
        case nagDetail
        /// 200 per minute.
        case write
        /// Status changes, excuses, recomputed escalations and uploads: 60 per minute.
        case frequentWrite
        /// Operations that call a third party on behalf of a person: 5 per minute.
        case thirdParty
        /// Sign-up, sign-in, and changes of a password, an email address or a telephone number: 60 per minute. Failed
        /// attempts are also counted, per account and per address.
        case auth
        /// Health probes, and responses that stay the same as long as the server runs: unlimited.
        case exempt
    }

    /// The operation's group: a folder of the server and a tag of the OpenAPI document.
    public enum Tag: String, Sendable, CaseIterable {
        case version, auth, accounts, preferences, families, connections, nags, attachments, gamification, safety,
            consents,
            policies, incentives, reports, devices, deliveries, ai, constraints, executions, drafts, ingestion, keys,
            sync, audit, legal, metrics, operations
    }

    /// The OpenAPI document's `operationId`.
    public let id: String
    public let method: Method
    /// The path, with parameters in braces: `/api/v1/nags/{nag_id}`.
    public let path: String
    public let tag: Tag
    public let successStatus: Int
    public let access: Access
    public let tier: RateTier
    /// The maximum number of bytes of a body; nil for the server's limit.
    public let bodyLimit: Int?
    /// Whether responses have the header `X-Trace-Id`.
    public let isTraced: Bool

    public init(
        _ id: String, _ method: Method, _ path: String, tag: Tag, status: Int = 200, access: Access = .bearer,
        tier: RateTier? = nil, isTraced: Bool = false, bodyLimit: Int? = nil
    ) {
        self.id = id
        self.method = method
        self.path = path
        self.tag = tag
        successStatus = status
        self.access = access
        self.isTraced = isTraced
        self.bodyLimit = bodyLimit
        self.tier = tier ?? Self.defaultTier(method, path)
    }

    private static func defaultTier(_ method: Method, _ path: String) -> RateTier {
        guard method == .get else { return .write }
        return path.hasPrefix("/api/v1/nags/{nag_id}/") ? .nagDetail : .read
    }
}
