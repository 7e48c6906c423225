import Foundation
import Glibc

/// A program that a test has started, with pipes for its streams, and with no blocked signals.
///
/// Foundation's `Process` is not used, because it reads past the end of its list of open descriptors if there are more
/// than a thousand. Tests that run at the same time may open as many.
public final class ChildProcess {
    public let identifier: pid_t
    public let input: FileHandle
    public let output: FileHandle
    public let errors: FileHandle
    private var waitStatus: Int32?

    /// The error if the program could not be started.
    public struct NotStarted: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }

    /// - Parameters:
    ///   - folder: the working folder of the program.
    ///   - environment: the program's environment; nil for that of the tests.
    ///   - hasErrorPipe: false if the program's standard error is that of the tests.
    public init(
        _ program: URL, _ arguments: [String], in folder: URL, environment: [String: String]? = nil,
        hasErrorPipe: Bool = true
    ) throws {
        // No other child may start between the creation of a pipe and the setting of its close-on-exec flag.
        Self.starting.lock()
        defer { Self.starting.unlock() }
        let (input, output, errors) = (try Streams(), try Streams(), try Streams())
        defer { for fd in [input.reading, output.writing, errors.writing] { close(fd) } }
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input.reading, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output.writing, STDOUT_FILENO)
        if hasErrorPipe {
            posix_spawn_file_actions_adddup2(&actions, errors.writing, STDERR_FILENO)
        }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let environment = environment ?? ProcessInfo.processInfo.environment
        var (words, variables) = (
            Self.strings(["env", "-C", folder.path(), program.path()] + arguments),
            Self.strings(environment.map { "\($0.key)=\($0.value)" })
        )
        defer { for string in words + variables { free(string) } }
        var identifier: pid_t = 0
        let failure = posix_spawn(&identifier, "/usr/bin/env", &actions, &attributes, &words, &variables)
        guard failure == 0 else {
            for fd in [input.writing, output.reading, errors.reading] { close(fd) }
            throw NotStarted(description: "\(program.path()): \(String(cString: strerror(failure)))")
        }
        self.identifier = identifier
        (self.input, self.output, self.errors) = (
            FileHandle(fileDescriptor: input.writing, closeOnDealloc: true),
            FileHandle(fileDescriptor: output.reading, closeOnDealloc: true),
            FileHandle(fileDescriptor: errors.reading, closeOnDealloc: true)
        )
    }

    /// Waits on a thread for a child for which nobody has waited. Once ended, it would hide later children from the
    /// Testing library, which waits for any child.
    deinit {
        guard isRunning else { return }
        let identifier = identifier
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
        }
    }

    private static let starting = NSLock()

    /// A pipe that no other child inherits. Otherwise the reader of an ended child's output would wait for the other
    /// child too.
    private struct Streams {
        let reading: Int32
        let writing: Int32

        init() throws(NotStarted) {
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else {
                throw NotStarted(description: "pipe: \(String(cString: strerror(errno)))")
            }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            (reading, writing) = (ends[0], ends[1])
        }
    }

    /// Returns the texts as C strings, with the null pointer that ends the list.
    private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

    /// Whether the program has not ended yet.
    public var isRunning: Bool {
        if waitStatus == nil {
            var status: Int32 = 0
            if waitpid(identifier, &status, WNOHANG) == identifier { waitStatus = status }
        }
        return waitStatus == nil
    }

    /// Sends a signal to the program, unless it has ended.
    public func send(_ signal: Int32) {
        if isRunning { kill(identifier, signal) }
    }

    /// Waits for the end of the program, and returns its exit code; nil if a signal ended it.
    @discardableResult
    public func wait() -> Int32? {
        var status = waitStatus ?? 0
        if waitStatus == nil {
            while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
            waitStatus = status
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
    }

    /// Reads one of the program's streams until its end, and returns the text.
    public static func text(_ stream: FileHandle) -> String {
        String(decoding: stream.readDataToEndOfFile(), as: UTF8.self)
    }
}
