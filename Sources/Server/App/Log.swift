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
        var waiting: [UInt8] = []
        var dropped = 0
        var isStopped = false
    }

    private static let limit = 4 << 20

    private let level: Level
    private let clock: any WallClock
    private let state = Locked(State())
    private let work = DispatchSemaphore(value: 0)
    private let isDone = DispatchSemaphore(value: 0)
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
            guard state.waiting.count + line.count < Self.limit else {
                state.dropped += 1
                return false
            }
            let wasEmpty = state.waiting.isEmpty
            state.waiting += line
            state.waiting.append(UInt8(ascii: "\n"))
            return wasEmpty
        }
        if mustWake { work.signal() }
    }

    /// Writes the lines that wait and ends the thread; later lines are lost. Waits at most a second for a slow reader.
    func stop() {
        guard level != .off else { return }
        state.withLock { $0.isStopped = true }
        work.signal()
        _ = isDone.wait(timeout: .now() + 1)
    }

    private func writeUntilStopped() {
        var isStopped = false
        while !isStopped {
            work.wait()
            let taken = state.withLock { state in
                defer { state = State(isStopped: state.isStopped) }
                return state
            }
            writeAll(taken.waiting)
            if taken.dropped > 0 { write(.warning, "log_lines_dropped") { $0.field("count", taken.dropped) } }
            isStopped = taken.isStopped
        }
        isDone.signal()
    }

    /// Writes lines to the descriptor. While it accepts nothing (disk full, reader gone), lines are lost and the server
    /// keeps running.
    private func writeAll(_ lines: [UInt8]) {
        var rest = lines[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            guard written > 0 else { return }
            rest = rest.dropFirst(written)
        }
    }
}
