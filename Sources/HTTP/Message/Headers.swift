/// The header fields of a request, in the order they were sent. Names are case-insensitive.
///
/// Names are stored in lower case; look them up by lower-case names.
public struct Headers: Sendable, Sequence {
    let head: RequestHead

    public var count: Int { head.fieldCount }
    public var isEmpty: Bool { count == 0 }

    /// The value of the first field with that name; nil if there is none.
    public subscript(name: String) -> String? {
        var index = 0
        guard let range = nextValueRange(name, from: &index) else { return nil }
        return head.text(range)
    }

    /// Returns the value of a field that may occur only once (`Authorization`, `Idempotency-Key` …); nil without it.
    /// - Throws: `fieldRepeated` if it occurs several times.
    public func single(_ name: String) throws(HTTPRequestError) -> String? {
        guard let range = try singleRange(name) else { return nil }
        return head.text(range)
    }

    /// Returns the range of the value of a field, like `single`.
    func singleRange(_ name: String) throws(HTTPRequestError) -> RequestHead.ByteRange? {
        var index = 0
        guard let range = nextValueRange(name, from: &index) else { return nil }
        guard nextValueRange(name, from: &index) == nil else { throw .fieldRepeated }
        return range
    }

    public func values(of name: String) -> [String] {
        var index = 0
        var values: [String] = []
        while let range = nextValueRange(name, from: &index) { values.append(head.text(range)) }
        return values
    }

    public func contains(_ name: String) -> Bool {
        var index = 0
        return nextValueRange(name, from: &index) != nil
    }

    /// Calls `body` with each element of a comma-separated field, over all fields with that name, in order.
    public func forEachListElement(of name: String, _ body: (Span<UInt8>) -> Void) {
        var index = 0
        while let range = nextValueRange(name, from: &index) {
            head.bytes.span.extracting(range.indices).forEachListElement(body)
        }
    }

    /// Calls `body` with the value of the first field with that name, without creating a string, and returns its
    /// result; nil if there is no such field.
    public func withValue<Result>(of name: String, _ body: (Span<UInt8>) -> Result) -> Result? {
        var index = 0
        guard let range = nextValueRange(name, from: &index) else { return nil }
        return body(head.bytes.span.extracting(range.indices))
    }

    /// Returns the range of the value of the next field with that name, and moves `index` behind the field; nil if
    /// there is none.
    func nextValueRange(_ name: String, from index: inout Int) -> RequestHead.ByteRange? {
        let wanted = name.utf8
        while index < head.fieldCount {
            let range = head.nameRange(index)
            index += 1
            guard range.count == wanted.count else { continue }
            if head.bytes.span.extracting(range.indices).equals(wanted.span) { return head.valueRange(index - 1) }
        }
        return nil
    }

    public func makeIterator() -> AnyIterator<(name: String, value: String)> {
        var index = 0
        return AnyIterator {
            guard index < head.fieldCount else { return nil }
            defer { index += 1 }
            return (head.text(head.nameRange(index)), head.text(head.valueRange(index)))
        }
    }
}
