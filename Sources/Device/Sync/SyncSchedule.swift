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
    public let maxDelay: Timestamp.Span
    private var failures = 0

    /// The bound of the delay after the first failure.
    public static let firstBackOff = Timestamp.Span.seconds(1)

    /// The maximum delay while the server reports changes as they happen.
    public static let maxDelayWhileListening = Timestamp.Span.minutes(5)

    /// Returns the delay before the next round while the server reports changes: up to a fifth shorter than the
    /// maximum, at random.
    /// - Parameter random: a random number in 0..<1.
    public static func delayWhileListening(random: Double) -> Timestamp.Span {
        maxDelayWhileListening.scaled(by: 0.8 + 0.2 * random)
    }

    public init(interval: Timestamp.Span = .minutes(5), maxDelay: Timestamp.Span = .minutes(5)) {
        self.interval = interval
        self.maxDelay = maxDelay
    }

    /// Returns the delay before the next round.
    ///
    /// After success it is the interval, up to a fifth shorter or longer at random, so that devices spread out. After
    /// failures it is a random time, whose bound doubles with each failure, and at least what the server asked for.
    /// - Parameter random: a random number in 0..<1.
    public mutating func nextDelay(after outcome: Outcome, random: Double) -> Timestamp.Span {
        switch outcome {
        case .done:
            failures = 0
            return interval.scaled(by: 0.8 + 0.4 * random)
        case .failed(let retryAfter):
            let bound = min(
                maxDelay.microseconds, Self.firstBackOff.microseconds << Int64(min(failures, 20)))
            failures += 1
            // The random part is half of the bound, so that devices do not return all at once.
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

/// A clock that tells the time and waits. It is injected, so that tests need not wait.
public protocol DeviceClock: Sendable {
    func now() -> Timestamp
    /// Waits for a span.
    /// - Throws: `CancellationError` if the task is cancelled.
    func sleep(for span: Timestamp.Span) async throws
}
