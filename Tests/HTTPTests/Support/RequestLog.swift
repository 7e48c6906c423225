import HTTP
import Synchronization

/// Keeps what the observer is told of requests.
final class RequestLog: RequestObserver {
    struct Line: Sendable, Equatable {
        var route: String?
        var status: Int
        var fault: String?
        var bytesOut: Int
        var id: RequestID
    }

    private let all = Mutex<[Line]>([])
    private let waiting = Mutex<(count: Int, continuation: CheckedContinuation<Void, Never>)?>(nil)

    var lines: [Line] { all.withLock { $0 } }

    func requestFinished(_ record: borrowing RequestRecord) {
        let line = Line(
            route: record.route?.template, status: Int(record.status.rawValue), fault: record.fault?.description,
            bytesOut: record.bytesOut, id: record.id)
        let count = all.withLock { all in
            all.append(line)
            return all.count
        }
        resume(at: count)
    }

    /// Waits until there are so many lines.
    func lines(_ count: Int) async -> [Line] {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0 = (count, continuation) }
            resume(at: lines.count)
        }
        return lines
    }

    private func resume(at count: Int) {
        waiting.withLock { waiting in
            guard let (wanted, continuation) = waiting, count >= wanted else { return }
            waiting = nil
            continuation.resume()
        }
    }
}
