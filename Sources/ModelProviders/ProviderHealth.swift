import NagzAI

/// What is known of a provider from earlier calls: its latest faults, and whether it was available. It holds no key, so it
/// may outlive the provider that a key was opened for. Used on one event loop.
public final class ProviderHealth {
    var breaker = CircuitBreaker()
    var latestCheck: (availability: Availability, at: ContinuousClock.Instant)?

    public init() {}
}
