import Domain
import HTTP
import Reactor

/// Limits how many sockets may be open: in all, for each address and for each person.
final class SocketLimiter: Sendable {
    struct Limits: Sendable, Hashable {
        var total = 15_000
        /// The limit for one IPv4 address, or one IPv6 /64.
        var perAddress = 2_000
        /// The limit for one person. A browser opens a socket for each page.
        var perUser = 16
    }

    private struct Counts {
        var total = 0
        var byNetwork: [RemoteAddress.Network: Int] = [:]
        var byUser: [UserID: Int] = [:]
    }

    private let limits: Limits
    private let counts = Locked(Counts())

    init(_ limits: Limits) { self.limits = limits }

    /// Returns a permit for one more socket; nil if a limit is reached.
    func admit(_ user: UserID, _ network: RemoteAddress.Network) -> Permit? {
        let isAdmitted = counts.withLock { [limits] counts in
            let (ofNetwork, ofUser) = (counts.byNetwork[network] ?? 0, counts.byUser[user] ?? 0)
            guard counts.total < limits.total, ofNetwork < limits.perAddress, ofUser < limits.perUser else {
                return false
            }
            counts.total += 1
            counts.byNetwork[network] = ofNetwork + 1
            counts.byUser[user] = ofUser + 1
            return true
        }
        return isAdmitted ? Permit(self, user, network) : nil
    }

    private func release(_ user: UserID, _ network: RemoteAddress.Network) {
        counts.withLock { counts in
            counts.total -= 1
            let (ofNetwork, ofUser) = (counts.byNetwork[network] ?? 0, counts.byUser[user] ?? 0)
            counts.byNetwork[network] = ofNetwork > 1 ? ofNetwork - 1 : nil
            counts.byUser[user] = ofUser > 1 ? ofUser - 1 : nil
        }
    }

    /// The permit of one socket. It stops counting when the last reference to it is released.
    final class Permit: Sendable {
        private let limiter: SocketLimiter
        private let user: UserID
        private let network: RemoteAddress.Network

        fileprivate init(_ limiter: SocketLimiter, _ user: UserID, _ network: RemoteAddress.Network) {
            (self.limiter, self.user, self.network) = (limiter, user, network)
        }

        deinit { limiter.release(user, network) }
    }
}
