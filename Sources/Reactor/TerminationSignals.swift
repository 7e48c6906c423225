import CLinux
import Glibc

/// SIGTERM and SIGINT as events on a loop.
public final class TerminationSignals: Sendable {
    private let descriptor: Int32

    /// Blocks both signals for this thread and for threads it starts later. Call it first on the main thread, so that
    /// no thread receives them.
    public init() throws(SystemError) {
        descriptor = CLinuxTerminationDescriptor()
        guard descriptor >= 0 else { throw SystemError(call: "signalfd", number: -descriptor) }
    }

    deinit { close(descriptor) }

    /// Calls `action` on the loop with the number of each signal.
    public func watch(
        on loop: isolated EventLoop, _ action: @escaping (_ number: Int32) -> Void
    ) throws(SystemError) {
        try loop.poller.watch(descriptor, for: .readable, Watcher(descriptor: descriptor, action: action))
    }

    private final class Watcher: ReadinessHandler {
        let descriptor: Int32
        let action: (Int32) -> Void

        init(descriptor: Int32, action: @escaping (Int32) -> Void) {
            self.descriptor = descriptor
            self.action = action
        }

        func handleReadiness(_ events: Readiness) {
            while case let number = CLinuxTakeSignal(descriptor), number != 0 { action(number) }
        }
    }
}
