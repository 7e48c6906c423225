import Domain
import NagzAI
import Synchronization

/// The health of a provider, known from earlier calls: its latest faults, whether it was available, how long it took,
/// until when it wants no question, and what its models do not take. It holds no key, so it may outlive the provider
/// that a key was opened for. Any number of event loops share it.
public final class ProviderHealth: Sendable {
    /// Whether the provider could be asked, and when that was found out.
    public struct Check: Sendable {
        public let availability: Availability
        public let at: ContinuousClock.Instant
    }

    private struct State {
        var breaker = CircuitBreaker()
        var check: Check?
        var latency: Duration?
        var lastFaultWasOfConnection = false
        /// The time until which the provider asked for no further question; nil for none.
        var limitedUntil: ContinuousClock.Instant?
        /// The habits by the model's name.
        var habits: [String: ModelHabits] = [:]
    }

    /// The longest wait that is believed.
    private static let longestWait = 86_400

    private let state = Mutex(State())

    public init() {}

    /// The latest check; nil before the first.
    public var latestCheck: Check? { state.withLock(\.check) }

    /// The time that the latest answer took; nil before the first.
    public var latestLatency: Duration? { state.withLock(\.latency) }

    /// Whether the provider can be reached: offline or degraded while it is not asked because of several faults.
    public var network: NetworkState { network(at: .now) }

    func network(at now: ContinuousClock.Instant) -> NetworkState {
        state.withLock { state in
            guard state.breaker.isPaused(at: now) else { return .online }
            return state.lastFaultWasOfConnection ? .offline : .degraded
        }
    }

    func isPaused(at now: ContinuousClock.Instant) -> Bool { state.withLock { $0.breaker.isPaused(at: now) } }

    func record(_ availability: Availability, at now: ContinuousClock.Instant) {
        state.withLock { $0.check = Check(availability: availability, at: now) }
    }

    func habits(of model: String) -> ModelHabits { state.withLock { $0.habits[model] } ?? ModelHabits() }

    func learn(_ learned: ModelHabits, of model: String) { state.withLock { $0.habits[model] = learned } }

    /// Records that the provider asked for no further question for a time. Without a time, the next question may be
    /// sent.
    func recordLimit(seconds: Int?, at now: ContinuousClock.Instant) {
        guard let seconds, seconds > 0 else { return }
        state.withLock { $0.limitedUntil = now + .seconds(min(seconds, Self.longestWait)) }
    }

    /// Returns the remaining seconds of the provider's rate limit, rounded up; nil if a question can be sent.
    func remainingLimitSeconds(at now: ContinuousClock.Instant) -> Int? {
        guard let until = state.withLock({ $0.limitedUntil }), now < until else { return nil }
        let (seconds, fraction) = (until - now).components
        return Int(seconds) + (fraction > 0 ? 1 : 0)
    }

    func recordAnswer(after latency: Duration) { state.withLock { $0.latency = latency } }

    /// - Parameter isOfConnection: whether no connection came about.
    func recordFault(at now: ContinuousClock.Instant, isOfConnection: Bool = false) {
        state.withLock { state in
            state.breaker.recordFault(at: now)
            state.lastFaultWasOfConnection = isOfConnection
        }
    }
}
