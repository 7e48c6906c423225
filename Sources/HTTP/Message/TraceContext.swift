/// A request's position in a distributed trace (W3C Trace Context, version 00).
public struct TraceContext: Sendable, Hashable {
    public let traceHigh: UInt64
    public let traceLow: UInt64
    /// The ID of this server's span, which is the parent of calls that the request makes. In a parsed `traceparent` it
    /// is the ID of the caller's span.
    public let span: UInt64
    public let parentSpan: UInt64?
    public let flags: UInt8

    package init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, parentSpan: UInt64?, flags: UInt8) {
        self.traceHigh = traceHigh
        self.traceLow = traceLow
        self.span = span
        self.parentSpan = parentSpan
        self.flags = flags
    }

    /// Parses `00-<32 hex>-<16 hex>-<2 hex>` in lower case; nil if it is invalid and MUST be ignored (§3.2.2).
    ///
    /// A later version may append more after a dash; its first four parts are read the same way (§4.3).
    init?(traceparent value: Span<UInt8>) {
        guard value.count >= 55, let version = value.lowerHexadecimal(0..<2), version != 0xFF,
            value[2] == UInt8(ascii: "-"), value[35] == UInt8(ascii: "-"), value[52] == UInt8(ascii: "-"),
            value.count == 55 || (version > 0 && value[55] == UInt8(ascii: "-")),
            let high = value.lowerHexadecimal(3..<19), let low = value.lowerHexadecimal(19..<35), high | low != 0,
            let parent = value.lowerHexadecimal(36..<52), parent != 0,
            let flags = value.lowerHexadecimal(53..<55)
        else { return nil }
        self.init(traceHigh: high, traceLow: low, span: parent, parentSpan: nil, flags: UInt8(flags) & 1)
    }

    public init?(traceparent: String) { self.init(traceparent: Array(traceparent.utf8).span) }

    /// The trace ID: 32 hexadecimal digits.
    public var traceID: String { RequestID(high: traceHigh, low: traceLow).description }

    /// Whether the trace is sampled, so that its spans are exported.
    public var isSampled: Bool { flags & 1 == 1 }

    /// The IDs of this span and of its parent: 16 hexadecimal digits.
    public var spanID: String { Self.text(span) }
    public var parentSpanID: String? { parentSpan.map(Self.text) }

    private static func text(_ span: UInt64) -> String {
        var text: [UInt8] = []
        text.append(hexadecimal: span)
        return String(lossy: text.span)
    }

    /// Returns the context of a call that this span makes. If the span ID is 0, this span is unknown, and the call has
    /// no parent.
    public func child(_ childSpan: UInt64) -> TraceContext {
        TraceContext(
            traceHigh: traceHigh, traceLow: traceLow, span: childSpan, parentSpan: span == 0 ? nil : span, flags: flags)
    }

    /// The `traceparent` value for calls that the request makes.
    public var traceparent: String {
        var text = [UInt8]("00-".utf8)
        text.append(hexadecimal: traceHigh)
        text.append(hexadecimal: traceLow)
        text.append(UInt8(ascii: "-"))
        text.append(hexadecimal: span)
        text.append(flags & 1 == 1 ? "-01" : "-00")
        return String(lossy: text.span)
    }
}

extension Span where Element == UInt8 {
    /// Returns the number in up to sixteen lower-case hexadecimal digits; nil if there is another byte.
    func lowerHexadecimal(_ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for index in range {
            guard !self[index].isUpper, let digit = self[index].hexadecimal else { return nil }
            number = number << 4 | UInt64(digit)
        }
        return number
    }
}
