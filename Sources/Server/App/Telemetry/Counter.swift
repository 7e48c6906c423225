import Synchronization

/// A counter that many threads increment without a lock.
final class Counter: Sendable {
    private let number: Atomic<Int>

    init(_ number: Int = 0) { self.number = Atomic(number) }

    var value: Int { number.load(ordering: .relaxed) }
    func add(_ amount: Int = 1) { number.wrappingAdd(amount, ordering: .relaxed) }
    func set(_ value: Int) { number.store(value, ordering: .relaxed) }
}

/// A histogram of durations, with fixed buckets.
final class Histogram: Sendable {
    /// The upper bounds of the buckets in nanoseconds, ascending; one more bucket counts longer durations.
    static let boundsNanoseconds: [Int] = [
        500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000,
        500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000,
    ]

    private let buckets = (0...boundsNanoseconds.count).map { _ in Counter() }
    private let totalNanoseconds = Counter()

    func record(nanoseconds: Int) {
        var bucket = 0
        while bucket < Self.boundsNanoseconds.count, nanoseconds > Self.boundsNanoseconds[bucket] { bucket += 1 }
        buckets[bucket].add()
        totalNanoseconds.add(nanoseconds)
    }

    /// The count of each bucket; the last one has no upper bound.
    var counts: [Int] { buckets.map(\.value) }
    /// The sum of the durations.
    var totalSeconds: Double { Double(totalNanoseconds.value) / 1e9 }

    /// Returns a quantile in milliseconds, as the upper bound of the bucket that contains it, or the lower bound of the
    /// last bucket; 0 when there are no durations.
    static func quantileMilliseconds(_ fraction: Double, of counts: [Int]) -> Double {
        let all = counts.reduce(0, +)
        guard all > 0 else { return 0 }
        var cumulative = 0
        for (bucket, count) in counts.enumerated() {
            cumulative += count
            if Double(cumulative) >= fraction * Double(all) {
                return Double(boundsNanoseconds[min(bucket, boundsNanoseconds.count - 1)]) / 1e6
            }
        }
        return 0
    }
}
