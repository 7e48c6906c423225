/// The range that a Range field asks for (RFC 9110 §14.2).
public enum RequestedRange: Sendable, Hashable {
    /// The whole content: there is no field, or it is to be ignored.
    case whole
    /// A range of at least one byte.
    case part(Range<Int>)
    /// A range outside the content: 416.
    case unsatisfiable

    /// Reads a request's Range. Ignored are other units, several ranges, malformed ones, and, after a change of the
    /// content, those with an If-Range (§13.1.5).
    /// - Parameters:
    ///   - count: the bytes of the content.
    ///   - tag: the content's, which has to be strong.
    public init(_ headers: Headers, of count: Int, _ tag: EntityTag) {
        guard let field = try? headers.single("range") else {
            self = .whole
            return
        }
        if let condition = headers["if-range"], !tag.isStrong || condition != tag.description {
            self = .whole
            return
        }
        self.init(field, of: count)
    }

    init(_ field: String, of count: Int) {
        let bytes = Array(field.utf8)
        var index = 6
        guard bytes.count > index, Array(bytes[..<index]).span.equalsIgnoringCase("bytes=") else {
            self = .whole
            return
        }
        let first = Self.number(bytes, &index)
        guard index < bytes.count, bytes[index] == UInt8(ascii: "-") else {
            self = .whole
            return
        }
        index += 1
        let last = Self.number(bytes, &index)
        guard index == bytes.count, first != nil || last != nil else {
            self = .whole
            return
        }
        guard let first else {
            // The last bytes.
            let length = min(last ?? 0, count)
            self = length > 0 ? .part(count - length..<count) : .unsatisfiable
            return
        }
        if let last, last < first {
            self = .whole  // An invalid range (§14.1.1).
        } else {
            self = first < count ? .part(first..<min(last ?? count, count - 1) + 1) : .unsatisfiable
        }
    }

    /// Reads ASCII digits; nil if there are none. A number that is too large becomes `Int.max`.
    private static func number(_ bytes: [UInt8], _ index: inout Int) -> Int? {
        var number: Int?
        while index < bytes.count, bytes[index].isDigit {
            let (product, isOver) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, isOverToo) = product.addingReportingOverflow(Int(bytes[index] & 0xF))
            number = isOver || isOverToo ? .max : sum
            index += 1
        }
        return number
    }
}
