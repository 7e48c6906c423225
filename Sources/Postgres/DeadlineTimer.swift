import Reactor

/// One timer for a queue in the order of its deadlines, however many wait in it.
final class DeadlineTimer {
    private let poller: Poller
    /// Called when a deadline that the timer was armed for has come; arms it for the next.
    private let action: () -> Void
    private var timer: TimerID?

    init(_ poller: Poller, _ action: @escaping () -> Void) {
        self.poller = poller
        self.action = action
    }

    /// Has the action run at the deadline, unless it is armed already: what was first then is due no later.
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
