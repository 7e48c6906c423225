import Domain

/// Derives from the latest attempts to reach a server how well it can be reached. A pure value: the time is an input.
public struct NetworkWatch: Hashable, Sendable {
    /// A failed attempt to reach the server.
    public struct Fault: Hashable, Sendable {
        public let at: Timestamp
        /// Whether no connection was established. Otherwise the response was late or incomplete, or had a status from
        /// 500.
        public let isOfConnection: Bool

        public init(at: Timestamp, isOfConnection: Bool) {
            self.at = at
            self.isOfConnection = isOfConnection
        }
    }

    /// The time for which a server that could not be reached counts as offline before it is tried again.
    public static let offlineTime = Timestamp.Span.seconds(10)
    /// The time for which a server with several faults is not asked.
    public static let degradedTime = Timestamp.Span.seconds(30)
    /// The number of faults within `window` that make the network degraded.
    public static let mostFaults = 3
    public static let window = Timestamp.Span.seconds(60)

    /// The faults since the server last answered, oldest first.
    public private(set) var faults: [Fault]

    public init(faults: [Fault] = []) { self.faults = faults }

    /// Records a fault, and forgets those that do not count any more.
    public mutating func record(_ fault: Fault) {
        faults = (faults.filter { fault.at - $0.at < Self.window && $0.at <= fault.at } + [fault])
            .suffix(Self.mostFaults)
    }

    /// Records that the server answered.
    public mutating func recordAnswer() { faults = [] }

    public func state(at now: Timestamp) -> NetworkState {
        // A clock that was set back says nothing of the network.
        guard let latest = faults.last, latest.at <= now else { return .online }
        if latest.isOfConnection, now - latest.at < Self.offlineTime { return .offline }
        let recent = faults.count { latest.at - $0.at < Self.window }
        return recent >= Self.mostFaults && now - latest.at < Self.degradedTime ? .degraded : .online
    }
}
