/// The ID of one request, for its response and the logs: 128 bits, 32 hexadecimal digits.
public struct RequestID: Sendable, Hashable, CustomStringConvertible {
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public var description: String {
        var text: [UInt8] = []
        text.append(hexadecimal: high)
        text.append(hexadecimal: low)
        return String(lossy: text.span)
    }
}

extension Array where Element == UInt8 {
    /// Appends sixteen lower-case hexadecimal digits.
    mutating func append(hexadecimal number: UInt64) {
        var digits = InlineArray<16, UInt8>(repeating: 0)
        for index in 0..<16 {
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * index)) & 0xF
            digits[index] = digit < 10 ? 0x30 + digit : 0x57 + digit
        }
        append(digits.span)
    }

    /// Appends the decimal digits of a non-negative number.
    mutating func append(decimal number: Int) {
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var (start, rest) = (20, number)
        repeat {
            start -= 1
            digits[start] = 0x30 + UInt8(rest % 10)
            rest /= 10
        } while rest > 0
        append(digits.span.extracting(start..<20))
    }
}

/// Creates unique request and trace IDs. It is fast, and not suitable for secrets.
public struct IdentifierSource: Sendable {
    private var state: UInt64
    /// The odd number that is added to `state` for each random number.
    private let increment: UInt64
    /// Whether the traces that begin here are sampled.
    private let samplesTraces: Bool

    /// - Parameters:
    ///   - seed: a random number, or a constant in tests.
    ///   - stream: another random number or constant, which distinguishes the source from others with the same seed.
    ///     Its lowest bit is ignored.
    ///   - samplesTraces: whether the traces that begin here are sampled.
    public init(seed: UInt64, stream: UInt64, samplesTraces: Bool = false) {
        state = seed
        increment = stream | 1
        self.samplesTraces = samplesTraces
    }

    /// Returns the next random number: SplitMix64 with the increment of this source.
    private mutating func next() -> UInt64 {
        state &+= increment
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    public mutating func makeRequestID() -> RequestID { RequestID(high: next(), low: next()) }

    /// Returns the context of a request: it continues the client's trace if the client sent a valid one, and otherwise
    /// begins a trace (W3C Trace Context §3.2).
    ///
    /// A new trace's ID begins with the time, so that new rows are adjacent in the database's indexes; the rest is
    /// random.
    /// - Parameter now: milliseconds since 1970.
    public mutating func makeTraceContext(continuing parent: TraceContext?, at now: Int) -> TraceContext {
        let span = max(1, next())
        guard let parent else {
            return TraceContext(
                traceHigh: UInt64(truncatingIfNeeded: now) << 16 | next() & 0xFFFF, traceLow: max(1, next()),
                span: span, parentSpan: nil, flags: samplesTraces ? 1 : 0)
        }
        return TraceContext(
            traceHigh: parent.traceHigh, traceLow: parent.traceLow, span: span, parentSpan: parent.span,
            flags: parent.flags)
    }
}
