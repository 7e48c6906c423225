/// The address of a service on this machine: 127.0.0.1, ::1 or a Unix-domain socket. It cannot be any other address.
///
/// A name such as `localhost` is refused, because a resolver decides its address.
public struct LoopbackURL: Hashable, Sendable {
    private enum Host: Hashable {
        case ipv4(port: UInt16)
        case ipv6(port: UInt16)
        case unixSocket(path: String)
    }

    private let host: Host
    private let isSecure: Bool
    /// The path to which a request's path is appended: empty, or for example `/v1`.
    private let path: String

    /// Parses `http://127.0.0.1:8081/v1`, `https://[::1]:8443` and the like, whose port may be left out; nil for
    /// anything else.
    public init?(_ text: String) {
        guard let scheme = ["http://", "https://"].first(where: text.hasPrefix) else { return nil }
        let rest = text.dropFirst(scheme.utf8.count)
        let end = rest.firstIndex(of: "/") ?? rest.endIndex
        guard let path = Self.basePath(rest[end...]) else { return nil }
        (self.path, isSecure) = (path, scheme == "https://")
        let defaultPort: UInt16 = isSecure ? 443 : 80
        for (name, makeHost) in [("127.0.0.1", Host.ipv4), ("[::1]", Host.ipv6)] where rest[..<end].hasPrefix(name) {
            let portSuffix = rest[..<end].dropFirst(name.utf8.count)
            guard let port = portSuffix.isEmpty ? defaultPort : Self.parsePort(portSuffix) else { return nil }
            host = makeHost(port)
            return
        }
        return nil
    }

    /// Creates the address of a Unix-domain socket; nil for invalid paths.
    /// - Parameters:
    ///   - unixSocket: an absolute path.
    ///   - path: the path to which a request's path is appended: empty, or for example `/v1`.
    public init?(unixSocket: String, path: String = "") {
        guard unixSocket.hasPrefix("/"), (2...107).contains(unixSocket.utf8.count), !unixSocket.utf8.contains(0),
            let path = Self.basePath(path[...])
        else { return nil }
        (host, isSecure, self.path) = (.unixSocket(path: unixSocket), false, path)
    }

    /// Returns the URL of a request for the path, and the Unix socket to connect to; nil for TCP.
    func target(_ path: String) -> (url: String, unixSocket: String?) {
        let (authority, socket): (String, String?) =
            switch host {
            case .ipv4(let port): ("127.0.0.1:\(port)", nil)
            case .ipv6(let port): ("[::1]:\(port)", nil)
            // libcurl needs a host for the request's Host field.
            case .unixSocket(let path): ("127.0.0.1", path)
            }
        return ("\(isSecure ? "https" : "http")://\(authority)\(self.path)\(path)", socket)
    }

    /// Parses a colon and a port; nil for anything else, and for port 0.
    private static func parsePort(_ text: Substring) -> UInt16? {
        guard text.first == ":", (2...6).contains(text.utf8.count),
            text.utf8.dropFirst().allSatisfy({ (48...57).contains($0) }), let number = UInt16(text.dropFirst()),
            number > 0
        else { return nil }
        return number
    }

    /// Returns the path without slashes at its end; nil for text that is not a plain path.
    private static func basePath(_ text: Substring) -> String? {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !text.contains(where: { "?#@\\".contains($0) }),
            text.isEmpty || text.hasPrefix("/")
        else { return nil }
        var path = text
        while path.hasSuffix("/") { path.removeLast() }
        return String(path)
    }
}
