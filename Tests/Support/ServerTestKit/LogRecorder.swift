import Contract
import Domain
import Foundation
import JSON
import NagzAI
import Reactor
import SQL
import SocketPairs
import Synchronization
import Testing

@testable import Server

/// The server's log, caught in a pair of sockets.
final class LogRecorder: Sendable {
    /// Where the server writes.
    let descriptor: Int32
    private let text = Mutex<[UInt8]>([])
    private let isDone = DispatchSemaphore(value: 0)

    init() {
        let end: Int32
        (end, descriptor) = socketPair()
        Thread.detachNewThread { [self] in
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                let count = read(end, &buffer, buffer.count)
                guard count > 0 else { break }
                text.withLock { $0 += buffer.prefix(count) }
            }
            Foundation.close(end)
            isDone.signal()
        }
    }

    /// What was written so far, line by line. The log has a thread of its own: a line may come a little after its cause.
    var lines: [String] {
        text.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
    }

    /// Closes them, once the server writes no more, and returns all of it.
    func close() -> [String] {
        Foundation.close(descriptor)
        isDone.wait()
        return lines
    }
}

extension TestServer {
    /// The log's lines, once they are as expected; the log has a thread of its own.
    func logged(_ isEnough: ([String]) -> Bool) async throws -> [String] {
        for _ in 0..<200 where !isEnough(log.lines) { try await Task.sleep(for: .milliseconds(10)) }
        return log.lines
    }
}
