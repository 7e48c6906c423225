import HTTPClient
import LoopbackClient

/// The endpoint of a provider's model: its base URL, and the client that sends requests to it.
public enum ModelEndpoint {
    /// A gateway on this machine.
    case loopback(LoopbackClient, LoopbackURL)
    /// A third party. The client's guard MUST NOT allow addresses of the private network, because people choose the
    /// URL.
    case thirdParty(HTTPClient, ThirdPartyURL)

    /// Sends a request once, over a new connection, because the other end may have closed an idle one.
    func send(
        _ method: String, _ path: String, headers: [(name: String, value: String)], body: [UInt8]?,
        limits: HTTPClientRequest.Limits
    ) async throws(HTTPClientError) -> HTTPClientResponse {
        switch self {
        case .loopback(let client, let url):
            return try await client.send(
                method, url, path, headers: headers, body: body, limits: limits, isSentAtMostOnce: true)
        case .thirdParty(let client, let url):
            var request = HTTPClientRequest(method, url.text + path, headers: headers, body: body, limits: limits)
            request.isSentAtMostOnce = true
            return try await client.send(request)
        }
    }

    /// The time limits of an endpoint of this kind.
    var limits: ModelLimits {
        switch self {
        case .loopback: .loopback
        case .thirdParty: .thirdParty
        }
    }
}

/// The base URL of a third party's service: `https` only, with a host, an optional port and an optional path, and
/// nothing else, at most 500 bytes.
public struct ThirdPartyURL: Hashable, Sendable {
    /// The URL without trailing slashes.
    public let text: String

    public init?(_ text: String) {
        guard text.hasPrefix("https://"), (9...500).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !text.contains(where: { "?#@\\".contains($0) })
        else { return nil }
        var text = text
        while text.hasSuffix("/") { text.removeLast() }
        let host = text.dropFirst("https://".utf8.count).prefix { $0 != "/" && $0 != ":" }
        guard !host.isEmpty else { return nil }
        self.text = text
    }

    /// Whether the host may be on the public internet. This is true for an address, and for a name with a dot unless a
    /// standard reserves its top-level domain, or `home.arpa`, for other uses (RFC 6761, 6762, 7686, 8375, 9476 and
    /// ICANN's `internal`).
    public var canBePublic: Bool {
        let host = text.dropFirst("https://".utf8.count).prefix { $0 != "/" }
        if host.hasPrefix("[") { return true }
        let labels = host.prefix { $0 != ":" }.split(separator: ".", omittingEmptySubsequences: false)
        guard let last = labels.last, !last.isEmpty else { return false }
        // Text that resolvers read as an address, in any notation, is checked when the connection is opened.
        if last.first.map({ ("0"..."9").contains($0) }) == true { return true }
        let isHome = labels.suffix(2).map { $0.lowercased() } == ["home", "arpa"]
        return labels.count > 1 && !isHome && !Self.reservedTopLevelDomains.contains(last.lowercased())
    }

    private static let reservedTopLevelDomains: Set = [
        "alt", "example", "internal", "invalid", "local", "localhost", "onion", "test",
    ]
}

/// The limits of a question to a model: durations, which depend on the endpoint, and sizes, which do not.
package struct ModelLimits: Sendable {
    /// The maximum duration of opening a connection.
    var connectTimeout: Duration
    /// The maximum duration of a question, including the list of models.
    var questionTimeout: Duration
    /// The maximum duration of the request for the list of models.
    var listTimeout: Duration

    package init(connectTimeout: Duration, questionTimeout: Duration, listTimeout: Duration = .seconds(2)) {
        (self.connectTimeout, self.questionTimeout, self.listTimeout) = (connectTimeout, questionTimeout, listTimeout)
    }

    static let loopback = Self(connectTimeout: .seconds(1), questionTimeout: .seconds(8))
    static let thirdParty = Self(connectTimeout: .seconds(3), questionTimeout: .seconds(20))

    /// The maximum size of a request in bytes.
    static let maxRequestBytes = 64 << 10
    /// The maximum size of an answer in bytes.
    static let maxAnswerBytes = 256 << 10

    /// Returns the limits of one request.
    /// - Parameter totalTimeout: the maximum duration of the request.
    func requestLimits(totalTimeout: Duration) -> HTTPClientRequest.Limits {
        var limits = HTTPClientRequest.Limits()
        limits.maxResponseHeadBytes = 32 << 10
        limits.maxResponseBodyBytes = Self.maxAnswerBytes
        limits.connectTimeout = min(connectTimeout, totalTimeout)
        limits.totalTimeout = totalTimeout
        // A model sends nothing until its answer is complete, so a stall is no fault.
        limits.stallTimeout = totalTimeout + .seconds(1)
        return limits
    }
}

/// The secret key of a provider's service. Its description hides it.
public struct ModelKey: Sendable, CustomStringConvertible, CustomReflectable {
    let text: String

    public init(_ text: String) { self.text = text }

    public var description: String { "ModelKey" }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
