/// Pauses requests to a provider for 30 seconds after three faults within 60 seconds. A pure value: the time is an
/// input.
struct CircuitBreaker {
    private static let faultLimitPerWindow = 3
    private static let faultWindow = Duration.seconds(60)
    private static let pauseDuration = Duration.seconds(30)

    /// The times of the latest faults, within one window.
    private var faults: [ContinuousClock.Instant] = []
    private var pausedUntil: ContinuousClock.Instant?

    /// Records a fault: no connection, a time-out, an interrupted response, or a status from 500 other than 529.
    mutating func recordFault(at now: ContinuousClock.Instant) {
        faults.removeAll { now - $0 >= Self.faultWindow }
        faults.append(now)
        guard faults.count >= Self.faultLimitPerWindow else { return }
        faults = []
        pausedUntil = now + Self.pauseDuration
    }

    func isPaused(at now: ContinuousClock.Instant) -> Bool { pausedUntil.map { now < $0 } ?? false }
}
