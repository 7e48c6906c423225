import Contract
import Domain
import HTTP
import Reactor

/// Limits how many requests of a kind one person (or, without a sign-in, one address) may make in a minute.
///
/// Each instance counts for itself: a client may get the limit from each of them. What must be exact across instances
/// (attempts at passwords and PINs) is counted in the database.
public final class RateLimiter: Sendable {
    /// The person or network whose requests are counted.
    enum Subject: Hashable {
        case user(UserID)
        /// The network of a request without a valid token; nil if it is not known.
        case network(RemoteAddress.Network?)
    }

    /// A subject's quota after a request, for the `X-RateLimit-*` headers.
    struct Quota {
        let limit: Int
        let remaining: Int
        /// The number of seconds until the next window.
        let secondsToReset: Int
        let isAllowed: Bool
    }

    private struct Key: Hashable {
        let subject: Subject
        let tier: Operation.RateTier

        /// The key of the network's site (`RemoteAddress.Network.site`); for a person the same key.
        var site: Key {
            guard case .network(let network?) = subject else { return self }
            return Key(subject: .network(network.site), tier: tier)
        }
    }

    private final class Shard: Sendable {
        let windows = Locked(RateWindows<Key>(keyLimit: RateLimiter.maxSubjectsPerShard))
    }

    /// The maximum number of subjects that each of the 16 shards counts at the same time.
    static let maxSubjectsPerShard = 8_192
    private let shards = (0..<16).map { _ in Shard() }
    /// Whether requests over the limit are refused. In load tests they are counted but not refused.
    private let isEnforced: Bool

    public init(isEnforced: Bool = true) { self.isEnforced = isEnforced }

    /// Counts a request, and returns the subject's quota after it; nil for a tier that is not limited.
    func consume(_ subject: Subject, _ tier: Operation.RateTier, at now: Timestamp) -> Quota? {
        guard let limit = Self.limitPerMinute(of: tier) else { return nil }
        let minute = floorDivide(now.seconds, 60)
        let key = Key(subject: subject, tier: tier)
        let subjectCount: Int? = shard(of: key).windows.withLock { windows in
            // When the shard is full, new addresses of a site are counted together.
            if key.site != key, windows.count(key, in: minute) == nil, windows.isFull(minute) { return nil }
            return windows.increment(key, in: minute)
        }
        let count = subjectCount ?? shard(of: key.site).windows.withLock { $0.increment(key.site, in: minute) }
        return Quota(
            limit: limit, remaining: max(0, limit - count),
            secondsToReset: Int((minute + 1) * 60 - now.seconds), isAllowed: count <= limit || !isEnforced)
    }

    /// Refunds a request that is counted for another subject instead.
    func refund(_ subject: Subject, _ tier: Operation.RateTier, at now: Timestamp) {
        let key = Key(subject: subject, tier: tier)
        shard(of: key).windows.withLock { $0.decrement(key, in: floorDivide(now.seconds, 60)) }
    }

    private func shard(of key: Key) -> Shard { shards[Int(UInt(bitPattern: key.hashValue) % UInt(shards.count))] }

    /// Returns the maximum number of requests in a minute; nil for a tier that is not limited.
    static func limitPerMinute(of tier: Operation.RateTier) -> Int? {
        switch tier {
        case .read: 300
        case .nagDetail: 1_200
        case .write: 200
        case .frequentWrite: 60
        case .thirdParty: 5
        case .auth: 60
        case .exempt: nil
        }
    }
}
