import Glibc
import Reactor

/// A socket that HTTP has let go of after a 101, with what the peer had already sent; closed when nobody keeps it.
///
/// It is unwatched, non-blocking, and belongs to the loop of `poller`.
public struct UpgradedSocket: ~Copyable {
    public private(set) var descriptor: Int32
    public let readAhead: [UInt8]
    public let remote: RemoteAddress
    public let poller: Poller

    /// Passes the descriptor on: whoever takes it closes it.
    public mutating func take() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }
}
