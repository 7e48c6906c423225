import Reactor

/// Counts open connections over all loops, in total and per client address. Its lock is taken when a connection opens
/// or closes, but not for requests.
final class ConnectionLimiter: Sendable {
    private struct Counts {
        var total = 0
        var byNetwork: [RemoteAddress.Network: Int] = [:]
    }

    private let limits: Limits
    private let counts = Locked(Counts())

    init(limits: Limits) { self.limits = limits }

    var total: Int { counts.withLock { $0.total } }

    /// Counts one more connection and returns true, or returns false if a limit is reached.
    /// - Parameter network: the client's; nil for a trusted proxy, which counts in total only.
    func admit(_ network: RemoteAddress.Network?) -> Bool {
        counts.withLock { counts in
            guard counts.total < limits.maxConnections else { return false }
            if let network {
                let openCount = counts.byNetwork[network] ?? 0
                let free = limits.maxConnections - counts.total
                guard openCount < limits.maxConnectionsPerAddress, openCount < 2 * free else { return false }
                counts.byNetwork[network] = openCount + 1
            }
            counts.total += 1
            return true
        }
    }

    func release(_ network: RemoteAddress.Network?) {
        counts.withLock { counts in
            counts.total -= 1
            guard let network, let openCount = counts.byNetwork[network] else { return }
            counts.byNetwork[network] = openCount > 1 ? openCount - 1 : nil
        }
    }
}

/// Counts a connection that HTTP has handed over, until the last reference to the slot is released.
public final class ConnectionSlot: Sendable {
    private let onRelease: @Sendable () -> Void

    init(_ onRelease: @escaping @Sendable () -> Void) { self.onRelease = onRelease }

    deinit { onRelease() }
}
