import CLinux
import Glibc

/// Starts operating-system threads.
enum Thread {
    private final class StartArguments {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Runs `body` on a new detached thread with that name (the kernel keeps the first 15 bytes).
    static func start(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        let start = unsafe Unmanaged.passRetained(StartArguments(name: name, body: body))
        var thread = pthread_t()
        let status = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let start = unsafe Unmanaged<StartArguments>.fromOpaque(argument).takeRetainedValue()
                unsafe CLinuxNameThread(start.name)
                start.body()
                return nil
            }, start.toOpaque())
        guard status == 0 else {
            unsafe start.release()
            throw SystemError(call: "pthread_create", number: status)
        }
        pthread_detach(thread)
    }
}
