/// One outgoing request.
public struct HTTPClientRequest: Sendable {
    /// The method's token, such as `GET`.
    public var method: String
    /// An `http:` or `https:` URL.
    public var url: String
    /// Names and values, sent in this order.
    public var headers: [(name: String, value: String)]
    /// The content; nil for a request without one.
    public var body: [UInt8]?
    public var limits: Limits
    /// Whether the request is sent at most once, over a new connection. If libcurl reused a connection that turns out
    /// to be closed, it would send the request again, and the server might get it twice.
    public var isSentAtMostOnce = false
    /// The absolute path of a Unix-domain socket to connect to, whatever host the URL names; nil for a connection over
    /// IP.
    public var unixSocket: String?

    public init(
        _ method: String, _ url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil,
        limits: Limits = Limits()
    ) {
        (self.method, self.url, self.headers, self.body, self.limits) = (method, url, headers, body, limits)
    }

    /// The limits of size and time of one request.
    public struct Limits: Sendable {
        /// The largest size of the response's header lines, in bytes.
        public var maxResponseHeadBytes = 64 << 10
        /// The largest size of the response's content, in bytes.
        public var maxResponseBodyBytes = 1 << 20
        /// The longest time from the start to an open connection, with resolution and TLS.
        public var connectTimeout = Duration.seconds(5)
        /// The longest time from the start to the response's last byte.
        public var totalTimeout = Duration.seconds(30)
        /// The longest time without a byte in either direction, at least a second; fractions of a second are ignored.
        public var stallTimeout = Duration.seconds(15)

        public init() {}
    }

    /// Whether no part of the request could be read as another header, another request or another protocol.
    var isWellFormed: Bool {
        let urlStart = url.prefix(8).lowercased()
        guard urlStart.hasPrefix("http://") || urlStart.hasPrefix("https://") else { return false }
        guard url.utf8.count <= 8_192, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return false }
        guard Self.isToken(method) else { return false }
        if let unixSocket, !unixSocket.hasPrefix("/") || unixSocket.utf8.contains(0) { return false }
        return headers.allSatisfy { name, value in
            Self.isToken(name) && value.utf8.allSatisfy { $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F }
        }
    }

    /// The host and the path that a request is sent to.
    struct Target: Hashable {
        /// The host and port, as in the URL.
        let authority: String
        /// The path and query.
        let path: String
    }

    /// The target; nil for a malformed request, and for a URL without a host or with a user.
    var target: Target? {
        guard isWellFormed, let scheme = url.firstRange(of: "://") else { return nil }
        let rest = url[scheme.upperBound...]
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let (authority, path) = (rest[..<end], rest[end...].prefix { $0 != "#" })
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        return Target(authority: String(authority), path: path.hasPrefix("/") ? String(path) : "/\(path)")
    }

    /// Whether the text is a token (RFC 9110 §5.6.2).
    private static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "A")...UInt8(ascii: "Z"):
                    true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }
}

/// The response to an outgoing request.
public struct HTTPClientResponse: Sendable {
    public var status: Int
    /// The header fields in their order, names in lower case.
    public var headers: [(name: String, value: String)] = []
    public var body: [UInt8] = []
    /// Whether the response came over HTTP/2.
    public var isHTTP2 = false

    /// Returns the first value of a header field by its name in lower case.
    public func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

    /// The number of seconds that the server asks the client to wait: the value of `Retry-After`. Nil if the field is
    /// missing, is a date, or has more than six digits.
    public var retryAfterSeconds: Int? {
        guard let text = header("retry-after"), (1...6).contains(text.utf8.count),
            text.utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        return Int(text)
    }
}

/// A reason why there is no complete response. It contains nothing of the request or the response.
public enum HTTPClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The request or its URL is not valid.
    case malformedRequest
    /// The host name cannot be resolved.
    case unresolvable
    /// The connection was refused, or there is no route.
    case unreachable
    /// The client may not connect to the address: the client's `NetworkGuard` does not allow it.
    case forbiddenAddress
    /// The certificate is not valid for that name, or TLS failed otherwise.
    case untrusted
    case timedOut
    /// The response is larger than its limit.
    case tooLarge
    /// The connection ended within the response, or the response is not HTTP.
    case interrupted
    /// The task was cancelled, or the client was closed.
    case cancelled
    /// A mail relay did not accept the user or the password.
    case loginDenied
    /// Any other error, with libcurl's number.
    case failed(code: UInt32)

    public var description: String {
        switch self {
        case .malformedRequest: "the URL or a header is not valid"
        case .unresolvable: "the host name cannot be resolved"
        case .unreachable: "the host cannot be reached"
        case .forbiddenAddress: "the address is in a private network that is not allowed"
        case .untrusted: "TLS failed, or the certificate is not valid for the host"
        case .timedOut: "no complete answer in time"
        case .tooLarge: "the answer is too large"
        case .interrupted: "the connection ended within the answer"
        case .cancelled: "cancelled"
        case .loginDenied: "the relay refuses the user or the password"
        case .failed(let code): "libcurl error \(code)"
        }
    }
}
