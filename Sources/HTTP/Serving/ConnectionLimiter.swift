import Reactor

/// Counts the open connections of all loops, in total and by peer; taken only when one opens or closes.
final class ConnectionLimiter: Sendable {
    private struct Counts {
        var total = 0
        var byNetwork: [RemoteAddress.Network: Int] = [:]
    }

    private let limits: Limits
    private let counts = Locked(Counts())

    init(limits: Limits) { self.limits = limits }

    var total: Int { counts.withLock { $0.total } }

    /// True when there is room for one more connection of that peer, which is then counted.
    /// - Parameter network: nil for a proxy, behind which there are many peers.
    func admit(_ network: RemoteAddress.Network?) -> Bool {
        counts.withLock { counts in
            guard counts.total < limits.connections else { return false }
            if let network {
                let present = counts.byNetwork[network] ?? 0
                let free = limits.connections - counts.total
                guard present < limits.connectionsPerAddress, present < 2 * free else { return false }
                counts.byNetwork[network] = present + 1
            }
            counts.total += 1
            return true
        }
    }

    func release(_ network: RemoteAddress.Network?) {
        counts.withLock { counts in
            counts.total -= 1
            guard let network, let present = counts.byNetwork[network] else { return }
            counts.byNetwork[network] = present > 1 ? present - 1 : nil
        }
    }
}
