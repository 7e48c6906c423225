import Domain
import NagzAI
import Synchronization

/// The health of a provider, known from earlier calls: its latest faults, availability and latency, its rate limit, and
/// the fields that its models accept. It has no key, so it may be kept longer than a provider that was created with a
/// person's key. Several event loops may share it.
public final class ProviderHealth: Sendable {
    /// The result of a check whether the provider can be asked, and the time of the check.
    public struct Check: Sendable {
        public let availability: Availability
        public let checkedAt: ContinuousClock.Instant
    }

    private struct State {
        var breaker = CircuitBreaker()
        var latestCheck: Check?
        var latestLatency: Duration?
        /// Whether the latest fault was that no connection was established.
        var isLatestFaultOfConnection = false
        /// The end of the latest rate limit; nil before the first.
        var limitedUntil: ContinuousClock.Instant?
        /// The habits by the model's name.
        var habits: [String: ModelHabits] = [:]
    }

    /// The maximum length of a rate limit in seconds; a longer one is shortened.
    private static let maxLimitSeconds = 86_400

    private let state = Mutex(State())

    public init() {}

    /// The latest check; nil before the first.
    public var latestCheck: Check? { state.withLock(\.latestCheck) }

    /// The time that the latest answer took; nil before the first.
    public var latestLatency: Duration? { state.withLock(\.latestLatency) }

    /// The state of the network to the provider. While requests are paused after several faults, it is offline if the
    /// latest fault was that no connection was established, and degraded otherwise. At any other time it is online.
    public var network: NetworkState { network(at: .now) }

    func network(at now: ContinuousClock.Instant) -> NetworkState {
        state.withLock { state in
            guard state.breaker.isPaused(at: now) else { return .online }
            return state.isLatestFaultOfConnection ? .offline : .degraded
        }
    }

    func isPaused(at now: ContinuousClock.Instant) -> Bool { state.withLock { $0.breaker.isPaused(at: now) } }

    func recordCheck(_ availability: Availability, at now: ContinuousClock.Instant) {
        state.withLock { $0.latestCheck = Check(availability: availability, checkedAt: now) }
    }

    func habits(of model: String) -> ModelHabits { state.withLock { $0.habits[model] } ?? ModelHabits() }

    func recordHabits(_ habits: ModelHabits, of model: String) { state.withLock { $0.habits[model] = habits } }

    /// Records the provider's rate limit. If the provider named no time, nothing is recorded, and the next question may
    /// be sent.
    func recordLimit(seconds: Int?, at now: ContinuousClock.Instant) {
        guard let seconds, seconds > 0 else { return }
        state.withLock { $0.limitedUntil = now + .seconds(min(seconds, Self.maxLimitSeconds)) }
    }

    /// Returns the remaining seconds of the provider's rate limit, rounded up; nil if a question can be sent.
    func remainingLimitSeconds(at now: ContinuousClock.Instant) -> Int? {
        guard let until = state.withLock({ $0.limitedUntil }), now < until else { return nil }
        let (seconds, fraction) = (until - now).components
        return Int(seconds) + (fraction > 0 ? 1 : 0)
    }

    func recordLatency(_ latency: Duration) { state.withLock { $0.latestLatency = latency } }

    /// Records a fault.
    /// - Parameter isConnectionFault: whether no connection was established.
    func recordFault(at now: ContinuousClock.Instant, isConnectionFault: Bool = false) {
        state.withLock { state in
            state.breaker.recordFault(at: now)
            state.isLatestFaultOfConnection = isConnectionFault
        }
    }
}
