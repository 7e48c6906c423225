import Contract
import HTTP

/// Counts requests by operation and status, and their durations, without a lock and without allocating.
final class RequestCounters: Sendable {
    /// The counters of one operation.
    final class Series: Sendable {
        let method: String
        /// The template of the path, a label with few values.
        let route: String
        let durations = Histogram()
        /// The numbers of responses, by the index of the status in `statuses`; the last one is of all other statuses.
        fileprivate let byStatus = (0...RequestCounters.statuses.count).map { _ in Counter() }

        fileprivate init(_ method: String, _ route: String) {
            self.method = method
            self.route = route
        }

        /// The number of responses by status, without zeros; statuses outside `statuses` are counted as `other`.
        var counts: [(status: String, count: Int)] {
            byStatus.enumerated().compactMap { index, counter in
                let count = counter.value
                guard count > 0 else { return nil }
                return (index < statuses.count ? String(statuses[index]) : "other", count)
            }
        }
    }

    /// The statuses that are counted one by one.
    static let statuses: [UInt16] = [
        101, 200, 201, 204, 304, 400, 401, 403, 404, 405, 408, 409, 412, 413, 414, 417, 422, 429, 431, 499, 500, 501,
        502, 503, 504, 505,
    ]
    /// The index in `statuses` of each status from 0 to 599; `statuses.count` for a status that is not in it.
    private static let indexOfStatus: [Int] = (0..<600).map { number in
        statuses.firstIndex(of: UInt16(number)) ?? statuses.count
    }

    /// The counters of the operations in the order of `API.all`; the last entry counts requests without an operation.
    let series: [Series]
    let bytesIn = Counter()
    let bytesOut = Counter()

    init() { series = API.all.map { Series($0.method.rawValue, $0.path) } + [Series("other", "other")] }

    func count(_ record: borrowing RequestRecord) {
        let series = series[record.route?.observerIndex ?? series.count - 1]
        series.durations.record(nanoseconds: record.durationNanoseconds)
        series.byStatus[Self.indexOfStatus[min(Int(record.status.rawValue), 599)]].add()
        bytesIn.add(record.bytesIn)
        bytesOut.add(record.bytesOut)
    }

    /// The number of all requests, the number of those with a 5xx response, and the counts of the durations' buckets.
    var totals: (requests: Int, failures: Int, durationCounts: [Int]) {
        let bucketCount = Histogram.boundsNanoseconds.count + 1
        var totals = (requests: 0, failures: 0, durationCounts: [Int](repeating: 0, count: bucketCount))
        for one in series {
            for (bucket, count) in one.durations.counts.enumerated() { totals.durationCounts[bucket] += count }
            for (index, counter) in one.byStatus.enumerated() {
                totals.requests += counter.value
                if index < Self.statuses.count, Self.statuses[index] >= 500 { totals.failures += counter.value }
            }
        }
        return totals
    }
}

extension Route {
    /// Creates the route of an operation, numbered so that its requests are counted under it.
    convenience init(_ operation: Contract.Operation, handler: Handler) {
        self.init(
            HTTP.Method(operation.method), operation.path, observerIndex: API.all.firstIndex { $0.id == operation.id },
            bodyLimit: operation.bodyLimit, handler: handler)
    }
}
