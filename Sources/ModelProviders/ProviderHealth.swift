import Domain
import NagzAI
import Synchronization

/// What is known of a provider from earlier calls: its latest faults, whether it was available, and how long it took. It
/// holds no key, so it may outlive the provider that a key was opened for. Any number of event loops share it.
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
    }

    private let state = Mutex(State())

    public init() {}

    /// The latest check; nil before the first.
    public var latestCheck: Check? { state.withLock(\.check) }

    /// How long the latest answer took; nil before the first.
    public var latestLatency: Duration? { state.withLock(\.latency) }

    /// Whether the provider can be reached: offline or degraded while it is left alone after several faults.
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

    func recordAnswer(after latency: Duration) { state.withLock { $0.latency = latency } }

    /// - Parameter isOfConnection: whether no connection came about.
    func recordFault(at now: ContinuousClock.Instant, isOfConnection: Bool = false) {
        state.withLock { state in
            state.breaker.recordFault(at: now)
            state.lastFaultWasOfConnection = isOfConnection
        }
    }
}
