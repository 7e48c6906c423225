/// A part of a total. Rounding uses integer arithmetic. The only floating-point step is one final division, whose
/// rounding IEEE 754 defines exactly, so all platforms give the same digits.
struct Ratio {
    /// The total, clamped to 0…100 million, so that the product of two totals fits in 64 bits.
    let total: Int64
    /// The part, clamped to 0…total.
    let part: Int64

    init(_ record: CompletionRecord) { self.init(record.completed, of: record.resolved) }

    init(_ part: Int, of total: Int) {
        self.total = Int64(min(max(0, total), 100_000_000))
        self.part = min(Int64(max(0, part)), self.total)
    }

    /// The ratio with four decimals, rounded half up; 0 of 0 is 0.
    var fourDecimals: Double {
        total == 0 ? 0 : Double(Self.rounded(part * 10_000, total)) / 10_000
    }

    /// The ratio in whole percent, rounded half up; 0 of 0 is 0.
    var percent: Int64 { total == 0 ? 0 : Self.rounded(part * 100, total) }

    /// The expected future rate by Laplace's rule of succession: (part + 1) / (total + 2).
    var expectedRate: (numerator: Int64, denominator: Int64) { (part + 1, total + 2) }

    /// `expectedRate` with four decimals, rounded half up.
    var expectedRateFourDecimals: Double {
        Double(Self.rounded((part + 1) * 10_000, total + 2)) / 10_000
    }

    /// Returns numerator / denominator, rounded half up. Both MUST NOT be negative.
    static func rounded(_ numerator: Int64, _ denominator: Int64) -> Int64 {
        (2 * numerator + denominator) / (2 * denominator)
    }

    /// Whether this rate is higher than another; 0 of 0 counts as 0.
    func isHigher(than other: Ratio) -> Bool {
        part * max(1, other.total) > other.part * max(1, total)
    }

    func isEqual(to other: Ratio) -> Bool { !isHigher(than: other) && !other.isHigher(than: self) }
}
