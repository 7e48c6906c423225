import Reactor

/// One timer for a queue with deadlines, whatever its length.
final class DeadlineTimer {
    private let poller: Poller
    /// The function that is called at the deadline; it arms the timer again for the next one.
    private let action: () -> Void
    private var armedTimer: (timer: TimerID, deadline: MonotonicTime)?

    init(_ poller: Poller, _ action: @escaping () -> Void) {
        self.poller = poller
        self.action = action
    }

    /// Schedules the action, unless it is scheduled for that time or before. Nil changes nothing.
    func arm(for deadline: MonotonicTime?) {
        guard let deadline, armedTimer.map({ deadline < $0.deadline }) ?? true else { return }
        cancel()
        let timer = poller.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            armedTimer = nil
            action()
        }
        armedTimer = (timer, deadline)
    }

    func cancel() {
        if let armedTimer { poller.cancel(armedTimer.timer) }
        armedTimer = nil
    }
}
