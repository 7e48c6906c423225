import Reactor

/// One timer for a queue that is ordered by deadline, whatever its length.
final class DeadlineTimer {
    private let poller: Poller
    /// Called at the deadline; it arms the timer again for the next one.
    private let action: () -> Void
    private var timer: TimerID?

    init(_ poller: Poller, _ action: @escaping () -> Void) {
        self.poller = poller
        self.action = action
    }

    /// Schedules the action, unless it is scheduled already: the earlier deadline comes first.
    func arm(for deadline: MonotonicTime?) {
        guard timer == nil, let deadline else { return }
        timer = poller.schedule(at: deadline) { [weak self] in
            guard let self else { return }
            timer = nil
            action()
        }
    }

    func cancel() {
        if let timer { poller.cancel(timer) }
        timer = nil
    }
}
