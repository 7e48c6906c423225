/// The request line and header fields: the received bytes, and the byte range of each part.
///
/// Strings are created on access; routes and fields are matched on the bytes.
public struct RequestHead: Sendable {
    /// The range of a part in `bytes`.
    struct ByteRange: Sendable, BitwiseCopyable {
        var start: UInt32
        var end: UInt32
        init(_ start: Int, _ end: Int) {
            self.start = UInt32(truncatingIfNeeded: start)
            self.end = UInt32(truncatingIfNeeded: end)
        }
        @inline(__always) var indices: Range<Int> { Int(start)..<Int(end) }
        @inline(__always) var count: Int { Int(end &- start) }
    }

    /// The rule that determines the end of the content (RFC 9112 §6.3).
    public enum Framing: Sendable, Hashable {
        /// There is no content: neither Transfer-Encoding nor a Content-Length above 0.
        case none
        /// The content has as many bytes as Content-Length says, at least one.
        case length(Int)
        /// The content ends with its last chunk.
        case chunked
    }

    /// Facts about the request line and about the fields that were read: the HTTP version, the options of the
    /// Connection field, and the fields that were present.
    struct Flags: OptionSet, Sendable {
        let rawValue: UInt16
        static let http11 = Flags(rawValue: 1 << 0)
        static let close = Flags(rawValue: 1 << 1)
        static let keepAlive = Flags(rawValue: 1 << 2)
        static let expectsContinue = Flags(rawValue: 1 << 3)
        static let host = Flags(rawValue: 1 << 4)
        static let transferEncoding = Flags(rawValue: 1 << 5)
        static let contentLength = Flags(rawValue: 1 << 6)
        static let asteriskTarget = Flags(rawValue: 1 << 7)
    }

    /// The head without line ends. After the request line it has the decoded text of percent-encoded path segments.
    var bytes: [UInt8] = []
    /// The ranges of the path segments, then of each field's name and value.
    var ranges: [ByteRange] = []
    var segmentCount = 0
    var targetRange = ByteRange(0, 0)
    var queryRange = ByteRange(0, 0)
    var flags: Flags = []
    /// The value of Content-Length, in bytes; 0 without this field.
    var declaredLength = 0

    public internal(set) var method = Method.get
    public internal(set) var framing = Framing.none

    init() {}

    // MARK: Connection

    /// Whether the connection persists: in HTTP/1.1 unless `close` was sent, in HTTP/1.0 only with `keep-alive` (RFC
    /// 9112 §9.3).
    public var keepsAlive: Bool {
        if flags.contains(.close) { return false }
        return flags.contains(.http11) || flags.contains(.keepAlive)
    }
    public var isHTTP11: Bool { flags.contains(.http11) }
    /// Whether the client waits for a 100 before it sends content (RFC 9110 §10.1.1).
    public var expectsContinue: Bool { flags.contains(.expectsContinue) && framing != .none }
    /// Whether content follows the head.
    var announcesContent: Bool { framing != .none && framing != .length(0) }
    /// Whether the request is about the server, not about a resource: `OPTIONS *`.
    public var asksAboutServer: Bool { flags.contains(.asteriskTarget) }

    // MARK: Parts

    /// The request target as it was sent.
    public var rawTarget: String { text(targetRange) }
    public var query: Query { Query(bytes: bytes, range: queryRange) }
    public var headers: Headers { Headers(head: self) }

    /// Returns a path segment, percent-decoded and valid UTF-8. Empty segments are left out: `//a/` is `/a`.
    public func pathSegment(_ index: Int) -> String { text(ranges[index]) }
    /// The decoded path. A `%2F` inside a segment appears as `/`: match on segments instead.
    public var path: String {
        segmentCount == 0 ? "/" : (0..<segmentCount).map { "/" + pathSegment($0) }.joined()
    }

    func text(_ range: ByteRange) -> String { String(lossy: bytes.span.extracting(range.indices)) }

    // MARK: Fields

    var fieldCount: Int { (ranges.count - segmentCount) / 2 }
    @inline(__always) func nameRange(_ field: Int) -> ByteRange { ranges[segmentCount + 2 * field] }
    @inline(__always) func valueRange(_ field: Int) -> ByteRange { ranges[segmentCount + 2 * field + 1] }
}
