import Foundation
import Glibc

/// A program started by a test, with pipes for its streams and the usual signals.
///
/// Foundation's `Process` reads past the end of its list of open descriptors when there are more than a thousand, as
/// there may be beside other tests.
public final class ChildProcess {
    public let identifier: pid_t
    public let input: FileHandle
    public let output: FileHandle
    public let errors: FileHandle
    private var waitStatus: Int32?

    /// The program could not be started.
    public struct NotStarted: Error, CustomStringConvertible {
        public let description: String

        public init(description: String) { self.description = description }
    }

    /// - Parameters:
    ///   - folder: where it runs.
    ///   - environment: nil for that of the tests.
    ///   - hasErrorPipe: false if what it writes to its third stream is the tests' own output.
    public init(
        _ program: URL, _ arguments: [String], in folder: URL, environment: [String: String]? = nil,
        hasErrorPipe: Bool = true
    ) throws {
        // No other child may start between the making of a pipe and its mark.
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

    /// What nobody has waited for is waited for here: the Testing library, which waits for any child of its own, would
    /// never see one behind it.
    deinit {
        guard isRunning else { return }
        let identifier = identifier
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
        }
    }

    private static let starting = NSLock()

    /// A pipe that no other child inherits: else the reader of a child that has ended would wait for that one too.
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

    /// The texts in C's form, and the null that ends the list.
    private static func strings(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
        texts.map { strdup($0) } + [nil]
    }

    /// Whether it has not ended yet.
    public var isRunning: Bool {
        if waitStatus == nil {
            var status: Int32 = 0
            if waitpid(identifier, &status, WNOHANG) == identifier { waitStatus = status }
        }
        return waitStatus == nil
    }

    /// Sends a signal, unless it has ended.
    public func send(_ signal: Int32) {
        if isRunning { kill(identifier, signal) }
    }

    /// Waits for its end: its exit code, or nil when a signal ended it.
    @discardableResult
    public func wait() -> Int32? {
        var status = waitStatus ?? 0
        if waitStatus == nil {
            while waitpid(identifier, &status, 0) == -1, errno == EINTR {}
            waitStatus = status
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
    }

    /// All that it writes to one of its streams, until its end.
    public static func text(_ stream: FileHandle) -> String {
        String(decoding: stream.readDataToEndOfFile(), as: UTF8.self)
    }
}
