import Glibc

/// An IP address; IPv4 is stored as an IPv4-mapped IPv6 address.
public struct NetworkAddress: Hashable, Sendable {
    let high: UInt64
    let low: UInt64

    init(high: UInt64, low: UInt64) { (self.high, self.low) = (high, low) }

    /// - Precondition: `bytes` has sixteen bytes.
    init(bytes: [UInt8]) {
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.dropFirst(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Parses a numeric address; nil for anything else.
    public init?(_ text: some StringProtocol) {
        var bytes = [UInt8](repeating: 0, count: 16)
        let text = String(text)
        if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
            self.init(ipv4: UInt32(bytes.prefix(4).reduce(0) { $0 << 8 | UInt64($1) }))
        } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
            self.init(bytes: bytes)
        } else {
            return nil
        }
    }

    init(ipv4: UInt32) { self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(ipv4)) }

    var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// The IPv4 address that a translator (NAT64, 6to4, IPv4-compatible) would connect to; nil for other addresses.
    var embeddedIPv4: NetworkAddress? {
        if high == 0x0064_FF9B_0000_0000, low >> 32 == 0 { return NetworkAddress(ipv4: UInt32(low)) }
        if high >> 48 == 0x2002 { return NetworkAddress(ipv4: UInt32(truncatingIfNeeded: high >> 16)) }
        if high == 0, low >> 32 == 0, low > 1 { return NetworkAddress(ipv4: UInt32(low)) }
        return nil
    }

    /// Whether the address is outside the public internet: loopback, private, link-local, unique-local, shared,
    /// multicast, reserved or unspecified (RFC 6890), or an IPv6 address that embeds such an IPv4 address.
    var isOutsideInternet: Bool {
        NetworkBlock.outsideInternet.contains { $0.contains(self) } || (embeddedIPv4?.isOutsideInternet ?? false)
    }
}

/// A block of addresses, such as `10.0.0.0/8` or `fd00::/8`.
public struct NetworkBlock: Hashable, Sendable {
    /// The address before the slash, which may be any address of the block.
    private let baseAddress: NetworkAddress
    /// The number of leading bits, of 128, that the block's addresses share.
    private let prefixLength: Int

    /// Parses an address, or a block; nil for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let host = parts.first, let address = NetworkAddress(host) else { return nil }
        let addressBits = address.isIPv4 ? 32 : 128
        var prefixBits = addressBits
        if parts.count == 2 {
            guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
                let count = Int(parts[1]), count <= addressBits
            else { return nil }
            prefixBits = count
        }
        (baseAddress, prefixLength) = (address, 128 - addressBits + prefixBits)
    }

    func contains(_ address: NetworkAddress) -> Bool {
        func differ(_ left: UInt64, _ right: UInt64, in bits: Int) -> Bool {
            bits > 0 && (left ^ right) >> UInt64(64 - min(bits, 64)) != 0
        }
        return !differ(baseAddress.high, address.high, in: prefixLength)
            && !differ(baseAddress.low, address.low, in: prefixLength - 64)
    }

    fileprivate static let outsideInternet = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3", "::/127", "64:ff9b:1::/48", "100::/64", "fc00::/7",
        "fe80::/9", "ff00::/8",
    ].compactMap { NetworkBlock($0) }
}

/// The addresses that a client may connect to. They are checked after resolution for every connection, and again on the
/// open connection before a request is sent over it, so that no name can bypass the check.
public struct NetworkGuard: Sendable {
    /// The blocks that are allowed even if they are outside the public internet.
    public var allowedBlocks: [NetworkBlock]
    /// Whether the public internet is allowed.
    public let allowsInternet: Bool

    /// Allows the public internet and these blocks.
    /// - Parameter blocks: the private networks that the operator has named.
    public init(allowing blocks: [NetworkBlock] = []) { (allowedBlocks, allowsInternet) = (blocks, true) }

    /// The guard that allows all addresses, for URLs that the operator or the user of this machine has set.
    public static let unrestricted = NetworkGuard(allowing: ["0.0.0.0/0", "::/0"].compactMap { NetworkBlock($0) })

    private init(only blocks: [NetworkBlock]) { (allowedBlocks, allowsInternet) = (blocks, false) }

    /// The guard that allows only 127.0.0.1 and ::1.
    public static let loopback = NetworkGuard(only: ["127.0.0.1", "::1"].compactMap { NetworkBlock($0) })

    func allows(_ address: NetworkAddress) -> Bool {
        if allowedBlocks.contains(where: { $0.contains(address) }) { return true }
        return allowsInternet && !address.isOutsideInternet
    }

    /// Returns whether no connection to the host is allowed. Returns false for a name other than `localhost`, because
    /// its addresses are known only after resolution.
    public func refuses(host: String) -> Bool {
        let addresses = (host.lowercased() == "localhost" ? ["127.0.0.1", "::1"] : [host]).compactMap {
            NetworkAddress($0)
        }
        return !addresses.isEmpty && !addresses.contains(where: allows)
    }
}
