import Glibc
import Reactor

/// A socket that HTTP has released after a 101, with the input already read. Closed at the end of its life unless
/// taken.
///
/// It is unwatched and non-blocking, and belongs to the loop of `poller`.
public struct UpgradedSocket: ~Copyable {
    public private(set) var descriptor: Int32
    public let readAhead: [UInt8]
    public let poller: Poller
    /// The slot that counts the socket as a connection of the server, until the new owner releases it.
    public let slot: ConnectionSlot

    /// Passes on the descriptor: the caller MUST close it.
    public mutating func takeDescriptor() -> Int32 {
        defer { descriptor = -1 }
        return descriptor
    }

    deinit { if descriptor >= 0 { Glibc.close(descriptor) } }
}
