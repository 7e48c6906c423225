/// The range that a Range field asks for (RFC 9110 §14.2).
public enum RequestedRange: Sendable, Hashable {
    /// The complete content: there is no Range field, or it is ignored.
    case completeContent
    /// A range of at least one byte.
    case part(Range<Int>)
    /// No byte of the content is in the range: the response is 416.
    case unsatisfiable

    /// Reads the Range field of a request. It is ignored if it is repeated, if it has another unit than bytes, several
    /// ranges or a malformed one, or if an If-Range field does not match the content's tag (§13.1.5).
    /// - Parameters:
    ///   - count: the number of bytes of the content.
    ///   - tag: the content's tag. If-Range matches only a strong one.
    public init(_ headers: Headers, of count: Int, _ tag: EntityTag) {
        guard let field = try? headers.single("range") else {
            self = .completeContent
            return
        }
        if let condition = headers["if-range"], !tag.isStrong || condition != tag.description {
            self = .completeContent
            return
        }
        self.init(field, of: count)
    }

    /// Reads the value of a Range field, such as `bytes=0-99`.
    init(_ field: String, of count: Int) {
        let bytes = Array(field.utf8)
        var index = 6
        guard bytes.count > index, Array(bytes[..<index]).span.equalsIgnoringCase("bytes=") else {
            self = .completeContent
            return
        }
        let first = Self.readNumber(bytes, &index)
        guard index < bytes.count, bytes[index] == UInt8(ascii: "-") else {
            self = .completeContent
            return
        }
        index += 1
        let last = Self.readNumber(bytes, &index)
        guard index == bytes.count, first != nil || last != nil else {
            self = .completeContent
            return
        }
        guard let first else {
            // A suffix range: the last bytes.
            let length = min(last ?? 0, count)
            self = length > 0 ? .part(count - length..<count) : .unsatisfiable
            return
        }
        if let last, last < first {
            self = .completeContent  // An invalid range (§14.1.1).
        } else {
            self = first < count ? .part(first..<min(last ?? count, count - 1) + 1) : .unsatisfiable
        }
    }

    /// Reads ASCII digits; nil if there are none. A number that is too large becomes `Int.max`.
    private static func readNumber(_ bytes: [UInt8], _ index: inout Int) -> Int? {
        var number: Int?
        while index < bytes.count, bytes[index].isDigit {
            let (product, productOverflows) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, sumOverflows) = product.addingReportingOverflow(Int(bytes[index] & 0xF))
            number = productOverflows || sumOverflows ? .max : sum
            index += 1
        }
        return number
    }
}
