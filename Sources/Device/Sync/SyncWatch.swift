import Domain
import Synchronization

extension SyncService {
    /// Syncs repeatedly until the task is cancelled, or until a round fails with an error that is not transient.
    ///
    /// With a source of changes, a change starts the next round at once, except during the delay after a failed round.
    /// While the source listens, the interval is `delayWhileListening`, so that a family without changes is also synced
    /// regularly. If the connection ends, it is opened again after increasing delays.
    /// - Parameters:
    ///   - changes: the source of changes; nil to poll only.
    ///   - random: returns a new random number in 0..<1 for each delay.
    ///   - retryDelaySeconds: returns the seconds that the server asks to wait, or 0 if it names none; nil for an error
    ///     that ends the watch.
    ///   - report: called after every round, except one whose error ends the watch.
    public func watch(
        _ family: FamilyID, changes: (any ChangeSource)? = nil, schedule: SyncSchedule, clock: any DeviceClock,
        random: @escaping @Sendable () -> Double, retryDelaySeconds: (any Error) -> Int?,
        progress: (SyncSummary) -> Void = { _ in }, report: (Result<SyncSummary, any Error>) async -> Void
    ) async throws {
        let signal = ChangeSignal()
        let listeningTask = changes.map { changes in
            Task { await Self.keepListening(to: changes, family, signal, schedule, clock, random) }
        }
        defer { listeningTask?.cancel() }
        var schedule = schedule
        while true {
            do {
                await report(.success(try await run(family, progress: progress)))
            } catch {
                try Task.checkCancellation()
                guard let seconds = retryDelaySeconds(error) else { throw error }
                await report(.failure(error))
                try await clock.sleep(for: schedule.nextDelay(after: .failed(retryAfter: seconds), random: random()))
                continue
            }
            let randomNumber = random()
            try await signal.wait(
                atMost: schedule.nextDelay(after: .done, random: randomNumber),
                whileListening: SyncSchedule.delayWhileListening(random: randomNumber), clock)
        }
    }

    /// Listens for changes, again after each end of the connection, until the task is cancelled.
    private static func keepListening(
        to changes: any ChangeSource, _ family: FamilyID, _ signal: ChangeSignal, _ schedule: SyncSchedule,
        _ clock: any DeviceClock, _ random: @Sendable () -> Double
    ) async {
        var schedule = schedule
        while !Task.isCancelled {
            try? await changes.listen(
                to: family, onOpen: { signal.setListening(true) }, onChange: { signal.setChanged() })
            let wasListening = signal.setListening(false)
            if Task.isCancelled { return }
            if wasListening { _ = schedule.nextDelay(after: .done, random: 0) }
            try? await clock.sleep(for: schedule.nextDelay(after: .failed(retryAfter: nil), random: random()))
        }
    }
}

/// Wakes the watch when something has changed, or when listening has begun or ended.
private final class ChangeSignal: Sendable {
    private struct State {
        var hasChanged = false
        var isListening = false
    }

    private let state = Mutex(State())
    /// The stream that wakes the watch. It holds at most one element.
    private let wakeEvents = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    func setChanged() {
        state.withLock { $0.hasChanged = true }
        wakeEvents.continuation.yield()
    }

    /// Records whether the watch listens. The beginning of listening counts as a change, because earlier changes were
    /// not received.
    /// - Returns: whether it was listening before.
    @discardableResult
    func setListening(_ isListening: Bool) -> Bool {
        let wasListening = state.withLock { state in
            defer { state.isListening = isListening }
            state.hasChanged = state.hasChanged || isListening
            return state.isListening
        }
        wakeEvents.continuation.yield()
        return wasListening
    }

    /// Waits for a change, at most for `span`, or for `listeningSpan` while the watch listens.
    /// - Throws: `CancellationError`.
    func wait(
        atMost span: Timestamp.Span, whileListening listeningSpan: Timestamp.Span, _ clock: any DeviceClock
    ) async throws {
        while true {
            let (hasChanged, isListening) = state.withLock { state in
                defer { state.hasChanged = false }
                return (state.hasChanged, state.isListening)
            }
            if hasChanged { return }
            let timer = Task {
                try await clock.sleep(for: isListening ? listeningSpan : span)
                setChanged()
            }
            await withTaskCancellationHandler {
                for await _ in wakeEvents.stream { return }
            } onCancel: {
                timer.cancel()
            }
            timer.cancel()
            try Task.checkCancellation()
        }
    }
}
