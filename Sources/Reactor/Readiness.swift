import CLinux

/// The events that the owner of a descriptor waits for.
public struct Interest: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Input, and `Readiness.peerClosed`.
    public static let readable = Interest(rawValue: UInt32(CLinuxReadable) | UInt32(CLinuxPeerClosed))
    public static let writable = Interest(rawValue: UInt32(CLinuxWritable))
}

/// The events of a descriptor.
public struct Readiness: OptionSet, Sendable {
    public let rawValue: UInt32
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    public static let readable = Readiness(rawValue: UInt32(CLinuxReadable))
    public static let writable = Readiness(rawValue: UInt32(CLinuxWritable))
    /// The peer has finished sending.
    public static let peerClosed = Readiness(rawValue: UInt32(CLinuxPeerClosed))
    /// The connection has ended in both directions. The event occurs whatever the interest is.
    public static let hangUp = Readiness(rawValue: UInt32(CLinuxHangUp))
    /// The descriptor has an error, such as a reset connection. The event occurs whatever the interest is.
    public static let error = Readiness(rawValue: UInt32(CLinuxError))
}

/// The owner of a watched descriptor.
public protocol ReadinessHandler: AnyObject {
    /// Handles events of the descriptor. Called on its loop, level-triggered: again in each turn while an event lasts.
    func handleReadiness(_ events: Readiness)
}
