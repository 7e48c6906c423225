import Glibc

/// The proxies whose `X-Forwarded-For` is trusted.
///
/// Any client can send `X-Forwarded-For`: without a configured proxy the field is ignored, and the peer is the client.
public struct TrustedProxies: Sendable {
    /// A CIDR block.
    private struct Block {
        /// The address before the slash. It may be any address of the block, not only the first.
        let baseAddress: RemoteAddress
        /// The number of leading bits that all addresses of the block share, of 128.
        let prefixLength: Int

        func contains(_ address: RemoteAddress) -> Bool {
            func differ(_ left: UInt64, _ right: UInt64, inLeading bits: Int) -> Bool {
                bits > 0 && (left ^ right) >> UInt64(64 - min(bits, 64)) != 0
            }
            return !differ(baseAddress.high, address.high, inLeading: prefixLength)
                && !differ(baseAddress.low, address.low, inLeading: prefixLength - 64)
        }
    }

    /// The error of a text that is neither an address nor a CIDR block such as `10.0.0.0/8` or `2001:db8::/32`.
    public struct MalformedAddress: Error {
        public let text: String
    }

    public static let none = TrustedProxies(blocks: [])

    private let blocks: [Block]

    private init(blocks: [Block]) { self.blocks = blocks }

    /// Creates the set from texts such as `10.0.0.7` and `10.0.0.0/8`.
    public init(_ texts: [String]) throws(MalformedAddress) {
        var blocks: [Block] = []
        for text in texts {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let host = parts.first, let address = RemoteAddress(host: String(host)) else {
                throw MalformedAddress(text: text)
            }
            let addressBits = address.isIPv4 ? 32 : 128
            let prefix = parts.count == 2 ? String(parts[1]) : "\(addressBits)"
            guard let prefixBits = Int(prefix), (0...addressBits).contains(prefixBits), prefix == "\(prefixBits)" else {
                throw MalformedAddress(text: text)
            }
            blocks.append(Block(baseAddress: address, prefixLength: 128 - addressBits + prefixBits))
        }
        self.blocks = blocks
    }

    public func contains(_ address: RemoteAddress) -> Bool { blocks.contains { $0.contains(address) } }

    /// Returns the client of a request: the peer, or if the peer is a proxy, the last address in `X-Forwarded-For` that
    /// is not a proxy.
    ///
    /// Each proxy appends its own peer, so the addresses before the client's may be forged. The field is read from its
    /// end, up to a malformed element at most. If no such address is found, the result is the proxy that was read last,
    /// or the peer.
    public func client(of peer: RemoteAddress, _ headers: Headers) -> RemoteAddress {
        guard contains(peer) else { return peer }
        var hops: [RemoteAddress?] = []
        headers.forEachListElement(of: "x-forwarded-for") { element in
            hops.append(RemoteAddress(hop: element))
        }
        var client = peer
        for hop in hops.reversed() {
            guard let hop else { break }
            client = hop
            guard contains(hop) else { break }
        }
        return client
    }
}

extension RemoteAddress {
    /// Parses a numeric IPv4 or IPv6 address; nil for anything else.
    public init?(host: String) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if unsafe inet_pton(AF_INET, host, &bytes) == 1 {
            let low = bytes.prefix(4).reduce(0xFFFF) { $0 << 8 | UInt64($1) }
            self.init(high: 0, low: low, port: 0)
        } else if unsafe inet_pton(AF_INET6, host, &bytes) == 1 {
            self.init(bytes: bytes, port: 0)
        } else {
            return nil
        }
    }

    /// Parses an element of `X-Forwarded-For`: an address, to which some proxies append a port; the port
    /// is ignored.
    fileprivate init?(hop: Span<UInt8>) {
        guard hop.count <= 64 else { return nil }
        var text = ""
        for index in hop.indices { text.unicodeScalars.append(Unicode.Scalar(hop[index])) }
        if text.hasPrefix("[") {
            text = String(text.dropFirst().prefix { $0 != "]" })
        } else if let colon = text.firstIndex(of: ":"), text.firstIndex(of: ".").map({ $0 < colon }) ?? false {
            text = String(text[..<colon])
        }
        self.init(host: text)
    }
}
