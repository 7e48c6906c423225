/// A media type with the header lines that always accompany it, encoded once.
public final class MediaType: Sendable {
    public let contentType: String
    /// Whether content of this type is worth compressing.
    public let isCompressible: Bool
    /// Content-Type, X-Content-Type-Options and, if given, Content-Security-Policy.
    let headerLines: [UInt8]

    public init(_ contentType: String, securityPolicy: String? = "default-src 'none'", isCompressible: Bool) {
        self.contentType = contentType
        self.isCompressible = isCompressible
        var lines: [UInt8] = []
        lines.append(HeaderField("content-type", contentType))
        lines.append(HeaderField("x-content-type-options", "nosniff"))
        if let securityPolicy { lines.append(HeaderField("content-security-policy", securityPolicy)) }
        self.headerLines = lines
    }

    public static let json = MediaType("application/json", isCompressible: true)
    /// One JSON value on each line.
    public static let jsonLines = MediaType("application/x-ndjson", isCompressible: true)
    /// Comma-separated values with a header line.
    public static let csv = MediaType("text/csv; charset=utf-8; header=present", isCompressible: true)
    public static let text = MediaType("text/plain; charset=utf-8", isCompressible: true)
    /// The text format of Prometheus.
    public static let metrics = MediaType("text/plain; version=0.0.4; charset=utf-8", isCompressible: true)
    public static let bytes = MediaType("application/octet-stream", isCompressible: false)
}

/// A response header field. Control bytes in its value are replaced by spaces, so that a value cannot end its line.
public struct HeaderField: Sendable, Hashable {
    public let name: String
    public let value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension Array where Element == UInt8 {
    mutating func append(_ field: HeaderField) {
        append(field.name)
        append(fixed: ": ")
        let start = count
        append(field.value)
        for index in start..<count where self[index].isControl { self[index] = 0x20 }
        append(fixed: "\r\n")
    }
}
