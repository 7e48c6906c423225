import Contract
import Domain
import HTTP
import Reactor

/// How many requests of a kind one person (or, without a sign-in, one address) may make in a minute.
///
/// Counted by this instance alone: with several instances a client may get that many from each. What must be exact
/// across instances (sign-in attempts, PINs) is counted in the database instead.
public final class RateLimiter: Sendable {
    /// Who is counted.
    enum Subject: Hashable {
        case user(UserID)
        case network(RemoteAddress.Network?)
    }

    /// Where a subject stands after a request, as the `X-RateLimit-*` headers tell it.
    struct Quota {
        let limit: Int
        let remaining: Int
        /// Seconds until the count starts anew.
        let reset: Int
        let isAllowed: Bool
    }

    private struct Key: Hashable {
        let subject: Subject
        let tier: Operation.RateTier

        /// The same for the site of an address; for everybody else the same.
        var site: Key {
            guard case .network(let network?) = subject else { return self }
            return Key(subject: .network(network.site), tier: tier)
        }
    }

    private final class Shard: Sendable {
        let windows = Locked(RateWindows<Key>(limit: RateLimiter.subjectsPerShard))
    }

    /// Subjects that are counted at one time, in each of 16 parts.
    static let subjectsPerShard = 8_192
    private let shards = (0..<16).map { _ in Shard() }
    /// Off for load tests: requests are still counted, none is refused.
    private let isEnforced: Bool

    public init(isEnforced: Bool = true) { self.isEnforced = isEnforced }

    /// Counts a request; nil for a tier that is not limited.
    func count(_ subject: Subject, _ tier: Operation.RateTier, at now: Timestamp) -> Quota? {
        guard let limit = Self.limit(of: tier) else { return nil }
        let minute = floorDivide(now.seconds, 60)
        let key = Key(subject: subject, tier: tier)
        let own: Int? = shard(of: key).windows.withLock { windows in
            // Where there is no room for one more address, those of a site count as one.
            if key.site != key, windows.count(key, in: minute) == nil, windows.isFull(minute) { return nil }
            return windows.increment(key, in: minute)
        }
        let count = own ?? shard(of: key.site).windows.withLock { $0.increment(key.site, in: minute) }
        return Quota(
            limit: limit, remaining: max(0, limit - count), reset: Int((minute + 1) * 60 - now.seconds),
            isAllowed: count <= limit || !isEnforced)
    }

    /// A request that was counted is another subject's.
    func takeBack(_ subject: Subject, _ tier: Operation.RateTier, at now: Timestamp) {
        let key = Key(subject: subject, tier: tier)
        shard(of: key).windows.withLock { $0.decrement(key, in: floorDivide(now.seconds, 60)) }
    }

    private func shard(of key: Key) -> Shard { shards[Int(UInt(bitPattern: key.hashValue) % UInt(shards.count))] }

    private static func limit(of tier: Operation.RateTier) -> Int? {
        switch tier {
        case .read: 300
        case .nagDetail: 1_200
        case .write: 200
        case .frequentWrite: 60
        case .auth: 60
        case .exempt: nil
        }
    }
}
