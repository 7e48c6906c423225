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

/// Records the server's log through a pair of sockets.
final class LogRecorder: Sendable {
    /// The descriptor to which the server writes its log.
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

    /// The lines that were received so far. The log has its own thread, so a line may arrive a little after its cause.
    var lines: [String] {
        text.withLock { String(decoding: $0, as: UTF8.self) }.split(separator: "\n").map(String.init)
    }

    /// Closes the sockets, and returns all lines. Call it after the server has ended.
    func close() -> [String] {
        Foundation.close(descriptor)
        isDone.wait()
        return lines
    }
}

extension TestServer {
    /// Returns the log's lines after a wait of at most two seconds until they are as expected.
    func logged(_ isEnough: ([String]) -> Bool) async throws -> [String] {
        for _ in 0..<200 where !isEnough(log.lines) { try await Task.sleep(for: .milliseconds(10)) }
        return log.lines
    }
}
