import CLinux
import Glibc

/// SIGTERM and SIGINT as events of a loop. Make one before any other thread starts, so that no thread takes them.
public final class TerminationSignals: ReadinessHandler {
    private let descriptor: Int32
    private let action: (_ number: Int32) -> Void

    /// Blocks both signals for this thread and those it starts later.
    public init(_ action: @escaping (_ number: Int32) -> Void) throws(SystemError) {
        descriptor = CLinuxTerminationDescriptor()
        guard descriptor >= 0 else { throw SystemError(call: "signalfd", number: -descriptor) }
        self.action = action
    }

    deinit { close(descriptor) }

    /// Starts calling the action, once a signal, on the loop.
    public func watch(with poller: Poller) throws(SystemError) {
        try poller.watch(descriptor, for: .readable, self)
    }

    public func ready(_ events: Readiness) {
        while case let number = CLinuxTakeSignal(descriptor), number != 0 { action(number) }
    }
}
