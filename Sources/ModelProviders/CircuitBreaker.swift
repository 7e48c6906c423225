/// Pauses requests to a provider for 30 seconds after three faults within 60 seconds. A pure value: the time is an
/// input.
struct CircuitBreaker {
    private static let faultLimit = 3
    private static let window = Duration.seconds(60)
    private static let pause = Duration.seconds(30)

    /// The times of the latest faults, within one window.
    private var faults: [ContinuousClock.Instant] = []
    private var pausedUntil: ContinuousClock.Instant?

    /// Records a fault: no connection, a time-out, an interrupted response, or a status from 500 other than 529.
    mutating func recordFault(at now: ContinuousClock.Instant) {
        faults.removeAll { now - $0 >= Self.window }
        faults.append(now)
        guard faults.count >= Self.faultLimit else { return }
        faults = []
        pausedUntil = now + Self.pause
    }

    func isPaused(at now: ContinuousClock.Instant) -> Bool { pausedUntil.map { now < $0 } ?? false }
}
