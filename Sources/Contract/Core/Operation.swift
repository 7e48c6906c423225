/// One operation of the API as data: what the router matches, the client prints and the OpenAPI document describes.
public struct Operation: Hashable, Sendable {
    /// The request methods in use.
    public enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    /// Who may call it at all; roles and consents are the features' own business.
    public enum Access: Sendable {
        case open, bearer
    }

    /// Which rate limit it counts against.
    public enum RateTier: Sendable {
        /// 300 a minute.
        case read
        /// Reads below one nag, which clients make for each nag of a list: 1,200 a minute.
        case nagDetail
        /// 200 a minute.
        case write
        /// Status changes, excuses and uploads: 60 a minute.
        case frequentWrite
        /// Sign-up and sign-in: 60 a minute by address. Guesses are counted besides, by account and by address.
        case auth
        /// Probes and scrapes: not limited.
        case exempt
    }

    /// The group it belongs to: a folder of the server, a tag of the document.
    public enum Tag: String, Sendable, CaseIterable {
        case version, auth, accounts, preferences, families, connections, nags, gamification, safety, consents, reports,
            ai, sync, audit,
            legal, metrics, operations
    }

    /// The document's `operationId`.
    public let id: String
    public let method: Method
    /// With parameters in braces: `/api/v1/nags/{nag_id}`.
    public let path: String
    public let tag: Tag
    public let successStatus: Int
    public let access: Access
    public let tier: RateTier

    public init(
        _ id: String, _ method: Method, _ path: String, tag: Tag, status: Int = 200, access: Access = .bearer,
        tier: RateTier? = nil
    ) {
        self.id = id
        self.method = method
        self.path = path
        self.tag = tag
        successStatus = status
        self.access = access
        self.tier = tier ?? Self.usualTier(method, path)
    }

    private static func usualTier(_ method: Method, _ path: String) -> RateTier {
        guard method == .get else { return .write }
        return path.hasPrefix("/api/v1/nags/{nag_id}/") ? .nagDetail : .read
    }
}
