import Domain

/// Derives the state of the network from the latest attempts to reach the server. A pure value: the time is an input.
public struct NetworkWatch: Hashable, Sendable {
    /// A failed attempt to reach the server.
    public struct Fault: Hashable, Sendable {
        public let at: Timestamp
        /// Whether no connection was established. Otherwise the response was late or incomplete, or had a status from
        /// 500.
        public let isConnectionFault: Bool

        public init(at: Timestamp, isConnectionFault: Bool) {
            self.at = at
            self.isConnectionFault = isConnectionFault
        }
    }

    /// The time for which the server counts as offline after an attempt that established no connection.
    public static let offlineTime = Timestamp.Span.seconds(10)
    /// The time for which the network counts as degraded after several faults.
    public static let degradedTime = Timestamp.Span.seconds(30)
    /// The number of faults within `faultWindow` that make the network degraded.
    public static let degradingFaultCount = 3
    /// The time for which a fault counts.
    public static let faultWindow = Timestamp.Span.seconds(60)

    /// The faults since the server last answered that still count, at most `degradingFaultCount`, oldest first.
    public private(set) var faults: [Fault]

    public init(faults: [Fault] = []) { self.faults = faults }

    /// Records a fault, and removes those that no longer count.
    public mutating func record(_ fault: Fault) {
        faults = (faults.filter { fault.at - $0.at < Self.faultWindow && $0.at <= fault.at } + [fault])
            .suffix(Self.degradingFaultCount)
    }

    /// Records that the server answered.
    public mutating func recordAnswer() { faults = [] }

    /// Returns the state of the network; online if the clock was set back behind the last fault.
    public func state(at now: Timestamp) -> NetworkState {
        // If the clock was set back, the faults are not comparable with it.
        guard let latest = faults.last, latest.at <= now else { return .online }
        if latest.isConnectionFault, now - latest.at < Self.offlineTime { return .offline }
        let recentFaultCount = faults.count { latest.at - $0.at < Self.faultWindow }
        let isDegraded = recentFaultCount >= Self.degradingFaultCount && now - latest.at < Self.degradedTime
        return isDegraded ? .degraded : .online
    }
}
