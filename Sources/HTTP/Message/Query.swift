/// The query of a request target as name and value pairs (`application/x-www-form-urlencoded`), decoded on access.
///
/// The parser has already refused malformed percent-encoding, NUL and invalid UTF-8.
public struct Query: Sendable, Sequence {
    /// The bytes of the request head.
    let bytes: [UInt8]
    /// The range of the query in `bytes`, without the `?`.
    let range: RequestHead.ByteRange

    public var isEmpty: Bool { range.count == 0 }

    /// The first value with that name; nil if there is none.
    public subscript(name: String) -> String? { first { $0.name == name }?.value }

    /// Returns all values with that name.
    public func values(of name: String) -> [String] { filter { $0.name == name }.map(\.value) }

    public func makeIterator() -> Iterator {
        Iterator(bytes: bytes, position: range.indices.lowerBound, end: range.indices.upperBound)
    }

    /// Reads one pair after another. A name without `=` has an empty value.
    public struct Iterator: IteratorProtocol {
        let bytes: [UInt8]
        var position: Int
        let end: Int

        public mutating func next() -> (name: String, value: String)? {
            while position < end {
                let start = position
                var equalsIndex: Int?
                while position < end, bytes[position] != UInt8(ascii: "&") {
                    if equalsIndex == nil, bytes[position] == UInt8(ascii: "=") { equalsIndex = position }
                    position += 1
                }
                let stop = position
                position += 1
                guard start < stop else { continue }
                let name = decodeText(start, equalsIndex ?? stop)
                return (name, equalsIndex.map { decodeText($0 + 1, stop) } ?? "")
            }
            return nil
        }

        private func decodeText(_ start: Int, _ stop: Int) -> String {
            let part = bytes.span.extracting(start..<stop)
            guard part.needsDecoding else { return String(lossy: part) }
            var decoded: [UInt8] = []
            guard part.appendPercentDecoded(to: &decoded, plusIsSpace: true) else { return "" }
            return String(lossy: decoded.span)
        }
    }
}
