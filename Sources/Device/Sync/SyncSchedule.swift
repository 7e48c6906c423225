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
    /// The longest wait after failures.
    public let ceiling: Timestamp.Span
    private var failures = 0

    public static let firstBackOff = Timestamp.Span.seconds(1)

    /// The longest wait while the server reports changes as they happen.
    public static let longestWaitWhileListening = Timestamp.Span.minutes(5)

    /// Returns the wait before the next round while the server reports changes: up to a fifth shorter than the longest,
    /// at random.
    /// - Parameter random: in 0..<1.
    public static func delayWhileListening(random: Double) -> Timestamp.Span {
        longestWaitWhileListening.scaled(by: 0.8 + 0.2 * random)
    }

    public init(interval: Timestamp.Span = .minutes(5), ceiling: Timestamp.Span = .minutes(5)) {
        self.interval = interval
        self.ceiling = ceiling
    }

    /// The wait before the next round.
    ///
    /// After success the interval, up to a fifth shorter or longer at random, so that devices spread out. After
    /// failures a random time with a bound that doubles with each, and never less than the server asked for.
    /// - Parameter random: in 0..<1.
    public mutating func nextDelay(after outcome: Outcome, random: Double) -> Timestamp.Span {
        switch outcome {
        case .done:
            failures = 0
            return interval.scaled(by: 0.8 + 0.4 * random)
        case .failed(let retryAfter):
            let bound = min(
                ceiling.microseconds, Self.firstBackOff.microseconds << Int64(min(failures, 20)))
            failures += 1
            // At least half of the bound, or all devices would come back at once.
            let wait = Timestamp.Span(microseconds: bound).scaled(by: 0.5 + 0.5 * random)
            return max(wait, .seconds(Int64(min(max(retryAfter ?? 0, 0), 3_600))))
        }
    }
}

extension Timestamp.Span {
    fileprivate func scaled(by factor: Double) -> Timestamp.Span {
        Timestamp.Span(microseconds: Int64(Double(microseconds) * factor))
    }
}

/// Time and waiting, injected so that tests need not wait.
public protocol DeviceClock: Sendable {
    func now() -> Timestamp
    /// - Throws: `CancellationError` when the task is cancelled.
    func sleep(for span: Timestamp.Span) async throws
}
