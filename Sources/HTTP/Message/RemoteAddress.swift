/// The address and port of a peer. IPv4 is stored as an IPv4-mapped IPv6 address.
public struct RemoteAddress: Sendable, Hashable, CustomStringConvertible {
    /// The first eight bytes of the IPv6 address, the most significant one first.
    public let high: UInt64
    /// The last eight bytes.
    public let low: UInt64
    /// The port; 0 if it is unknown.
    public let port: UInt16

    public init(high: UInt64, low: UInt64, port: UInt16) {
        self.high = high
        self.low = low
        self.port = port
    }

    /// - Precondition: `bytes` has the sixteen bytes of an IPv6 or IPv4-mapped address.
    init(bytes: [UInt8], port: UInt16) {
        func word(_ start: Int) -> UInt64 { bytes[start..<start + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: word(0), low: word(8), port: port)
    }

    public static let loopback = RemoteAddress(high: 0, low: 0xFFFF_7F00_0001, port: 0)

    public var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

    /// The unit for which limits count: an IPv4 address, or an IPv6 /64, which usually belongs to one customer.
    public var network: Network { isIPv4 ? Network(high: 0, low: low) : Network(high: high, low: 0) }

    /// An IPv4 address, or the /64 that contains an IPv6 address.
    public struct Network: Sendable, Hashable, CustomStringConvertible {
        let high: UInt64
        let low: UInt64

        /// The /48 that contains an IPv6 /64, which usually belongs to one site; an IPv4 address is its own site.
        public var site: Network { high == 0 ? self : Network(high: high & ~0xFFFF, low: 0) }

        /// `192.0.2.7`, or the first address of a /64.
        public var description: String { RemoteAddress(high: high, low: low, port: 0).host }
    }

    /// The address without its port: `127.0.0.1`, or eight groups of IPv6 without abbreviation.
    public var host: String {
        if isIPv4 {
            let bytes = (0..<4).map { (index: Int) in low >> (24 - 8 * index) & 0xFF }
            return bytes.map { String($0) }.joined(separator: ".")
        }
        let groups = [high, low].flatMap { half in (0..<4).map { (index: Int) in half >> (48 - 16 * index) & 0xFFFF } }
        return groups.map { String($0, radix: 16) }.joined(separator: ":")
    }

    public var description: String { isIPv4 ? "\(host):\(port)" : "[\(host)]:\(port)" }
}
