import Domain

/// Decides when the next round of sync is due. A pure state machine over outcomes and random numbers, tested without
/// waiting.
public struct SyncSchedule: Hashable, Sendable {
    /// The outcome of a round.
    public enum Outcome: Hashable, Sendable {
        case done
        /// The seconds of `Retry-After`, if any.
        case failed(retryAfter: Int?)
    }

    /// The interval after a successful round.
    public let interval: Timestamp.Span
    /// The maximum delay after failures.
    public let maxFailureDelay: Timestamp.Span
    /// The number of failures since the last success.
    private var failureCount = 0

    /// The maximum delay after the first failure.
    public static let maxFirstFailureDelay = Timestamp.Span.seconds(1)

    /// The maximum delay while the server reports changes as they happen.
    public static let maxDelayWhileListening = Timestamp.Span.minutes(5)

    /// Returns the delay before the next round while the server reports changes: up to a fifth shorter than the
    /// maximum, at random.
    /// - Parameter random: a random number in 0..<1.
    public static func delayWhileListening(random: Double) -> Timestamp.Span {
        maxDelayWhileListening.scaled(by: 0.8 + 0.2 * random)
    }

    public init(interval: Timestamp.Span = .minutes(5), maxFailureDelay: Timestamp.Span = .minutes(5)) {
        self.interval = interval
        self.maxFailureDelay = maxFailureDelay
    }

    /// Returns the delay before the next round.
    ///
    /// After success it is the interval, up to a fifth shorter or longer at random, so that devices spread out. After a
    /// failure it is random: from half of a bound to the bound, which doubles with each failure up to
    /// `maxFailureDelay`. It is never shorter than `Retry-After`, of which at most an hour counts.
    /// - Parameter random: a random number in 0..<1.
    public mutating func nextDelay(after outcome: Outcome, random: Double) -> Timestamp.Span {
        switch outcome {
        case .done:
            failureCount = 0
            return interval.scaled(by: 0.8 + 0.4 * random)
        case .failed(let retryAfter):
            let maxMicroseconds = min(
                maxFailureDelay.microseconds, Self.maxFirstFailureDelay.microseconds << Int64(min(failureCount, 20)))
            failureCount += 1
            // Half of the bound is random, so that devices do not all return at once.
            let delay = Timestamp.Span(microseconds: maxMicroseconds).scaled(by: 0.5 + 0.5 * random)
            return max(delay, .seconds(Int64(min(max(retryAfter ?? 0, 0), 3_600))))
        }
    }
}

extension Timestamp.Span {
    fileprivate func scaled(by factor: Double) -> Timestamp.Span {
        Timestamp.Span(microseconds: Int64(Double(microseconds) * factor))
    }
}

/// A clock that returns the time and waits. It is injected, so that tests need not wait.
public protocol DeviceClock: Sendable {
    func now() -> Timestamp
    /// Waits for a span.
    /// - Throws: `CancellationError` if the task is cancelled.
    func sleep(for span: Timestamp.Span) async throws
}
