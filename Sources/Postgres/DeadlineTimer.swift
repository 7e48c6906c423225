import Reactor

/// One timer for a queue with deadlines, whatever its length.
final class DeadlineTimer {
    private let poller: Poller
    /// The function that is called at the deadline; it arms the timer again for the next one.
    private let action: () -> Void
    private var scheduled: (timer: TimerID, deadline: MonotonicTime)?

    init(_ poller: Poller, _ action: @escaping () -> Void) {
        self.poller = poller
        self.action = action
    }

    /// Schedules the action, unless it is scheduled for that time or before.
    func arm(for deadline: MonotonicTime?) {
        guard let deadline, scheduled.map({ deadline < $0.deadline }) ?? true else { return }
        cancel()
        let timer = poller.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            scheduled = nil
            action()
        }
        scheduled = (timer, deadline)
    }

    func cancel() {
        if let scheduled { poller.cancel(scheduled.timer) }
        scheduled = nil
    }
}
