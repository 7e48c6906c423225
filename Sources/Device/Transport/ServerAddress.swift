import Domain
import Foundation

/// A server's address: `https` with any host, or `http` with a host of the local network.
///
/// Plain HTTP does not encrypt tokens, so it is accepted only for loopback, private IPv4 addresses (RFC 1918,
/// link-local) and names that end with `.local`.
public struct ServerAddress: Hashable, Sendable, CustomStringConvertible {
    public let isEncrypted: Bool
    /// The host; an IPv6 address has no brackets.
    public let host: String
    public let port: UInt16

    /// Parses `https://host` or `http://host`, with or without a port. Nil for anything else, and for `http` with a
    /// host beyond the local network.
    public init?(_ text: String) {
        guard let parts = URLComponents(string: text), let name = parts.host?.lowercased(), !name.isEmpty,
            let scheme = parts.scheme?.lowercased(), scheme == "http" || scheme == "https",
            parts.user == nil, parts.query == nil, parts.fragment == nil, parts.path.isEmpty || parts.path == "/"
        else { return nil }
        isEncrypted = scheme == "https"
        guard let port = UInt16(exactly: parts.port ?? (isEncrypted ? 443 : 80)), port > 0 else { return nil }
        host = name.hasPrefix("[") ? String(name.dropFirst().dropLast()) : name
        self.port = port
        guard isEncrypted || Self.isInLocalNetwork(host) else { return nil }
    }

    private static func isInLocalNetwork(_ host: String) -> Bool {
        if host == "localhost" || host == "::1" || host.hasSuffix(".local") { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
        guard parts.count == 4, let first = parts[0], let second = parts[1], !parts.contains(nil) else { return false }
        switch (first, second) {
        case (127, _), (10, _), (192, 168), (169, 254): return true
        case (172, 16...31): return true
        default: return false
        }
    }

    /// The URL without a trailing slash.
    public var description: String {
        "\(isEncrypted ? "https" : "http")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
