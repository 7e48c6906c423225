import Domain

/// The times at which a delivery is tried again: exponential back-off with jitter, a bounded number of times.
struct RetryPolicy: Sendable {
    /// The largest number of attempts, including the first one.
    var maxAttempts = 8
    /// The back-off after the first attempt. It doubles after each further one.
    var firstDelay = Timestamp.Span.seconds(15)
    /// The longest time between two attempts.
    var longestDelay = Timestamp.Span.hours(1)

    /// Returns the time before the next attempt: between half and all of the back-off, so that deliveries that failed
    /// together are not retried together. It is at least the time that the provider asks for, up to `longestDelay`.
    /// - Returns: nil when there is no further attempt.
    func delay(
        after attempt: Int, requested: Timestamp.Span? = nil, random: any Randomness
    ) -> Timestamp.Span? {
        guard attempt < maxAttempts else { return nil }
        let doublings = Int64(1) << Int64(min(max(0, attempt - 1), 20))
        let whole = min(
            firstDelay.microseconds.multipliedReportingOverflow(by: doublings).partialValue, longestDelay.microseconds)
        let share = random.bytes(2).reduce(0) { $0 << 8 | Int64($1) }
        let jittered = Timestamp.Span(microseconds: whole / 2 + whole / 2 * share / 65_535)
        return max(jittered, min(requested ?? jittered, longestDelay))
    }
}
