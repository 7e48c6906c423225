import Contract
import Dispatch
import Domain
import Foundation
import JSON
import Reactor

/// Writes structured logs: one JSON object a line, to standard error, on a thread of its own, so that a slow reader of
/// the log delays no request. When 4 MiB wait, further lines are dropped and counted.
public final class Log: Sendable {
    public enum Level: Int, Sendable, Comparable {
        case info, warning, error, off

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        /// Reads the value of `--log`.
        public init?(named name: String) {
            switch name {
            case "info": self = .info
            case "warning": self = .warning
            case "error": self = .error
            case "off": self = .off
            default: return nil
            }
        }

        fileprivate var name: String {
            switch self {
            case .info: "info"
            case .warning: "warning"
            case .error: "error"
            case .off: "off"
            }
        }
    }

    private struct State {
        var waitingBytes: [UInt8] = []
        var droppedLineCount = 0
        var isStopped = false
    }

    private static let maxWaitingBytes = 4 << 20

    private let level: Level
    private let clock: any WallClock
    private let state = Locked(State())
    /// The semaphore that wakes the writing thread.
    private let wakeSemaphore = DispatchSemaphore(value: 0)
    /// The semaphore that the writing thread signals when it ends.
    private let doneSemaphore = DispatchSemaphore(value: 0)
    private let descriptor: Int32

    /// - Parameter descriptor: the descriptor that lines are written to: standard error, except in tests.
    public init(_ level: Level, clock: any WallClock = SystemClock(), descriptor: Int32 = 2) {
        self.level = level
        self.clock = clock
        self.descriptor = descriptor
        if level != .off { Foundation.Thread.detachNewThread { [self] in writeUntilStopped() } }
    }

    public func isOn(_ level: Level) -> Bool { level >= self.level && self.level != .off }

    /// Writes a line: time, level, event, and the fields that `fields` adds.
    public func write(_ level: Level, _ event: StaticString, _ fields: (inout JSONWriter) -> Void = { _ in }) {
        guard isOn(level) else { return }
        append(
            JSONWriter.document { json in
                json.object { json in
                    json.field("ts", clock.now())
                    json.field("level", level.name)
                    json.field("event", event.description)
                    fields(&json)
                }
            })
    }

    private func append(_ line: [UInt8]) {
        let mustWake = state.withLock { state in
            guard state.waitingBytes.count + line.count < Self.maxWaitingBytes else {
                state.droppedLineCount += 1
                return false
            }
            let wasEmpty = state.waitingBytes.isEmpty
            state.waitingBytes += line
            state.waitingBytes.append(UInt8(ascii: "\n"))
            return wasEmpty
        }
        if mustWake { wakeSemaphore.signal() }
    }

    /// Writes the lines that wait and ends the thread; later lines are lost. Waits at most a second for a slow reader.
    func stop() {
        guard level != .off else { return }
        state.withLock { $0.isStopped = true }
        wakeSemaphore.signal()
        _ = doneSemaphore.wait(timeout: .now() + 1)
    }

    private func writeUntilStopped() {
        var isStopped = false
        while !isStopped {
            wakeSemaphore.wait()
            let takenState = state.withLock { state in
                defer { state = State(isStopped: state.isStopped) }
                return state
            }
            writeAll(takenState.waitingBytes)
            if takenState.droppedLineCount > 0 {
                write(.warning, "log_lines_dropped") { $0.field("count", takenState.droppedLineCount) }
            }
            isStopped = takenState.isStopped
        }
        doneSemaphore.signal()
    }

    /// Writes lines to the descriptor. While it accepts nothing (disk full, reader gone), lines are lost and the server
    /// keeps running.
    private func writeAll(_ lines: [UInt8]) {
        var rest = lines[...]
        while !rest.isEmpty {
            let writtenCount = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if writtenCount < 0, errno == EINTR { continue }
            guard writtenCount > 0 else { return }
            rest = rest.dropFirst(writtenCount)
        }
    }
}
