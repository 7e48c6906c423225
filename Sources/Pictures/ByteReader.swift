/// Reads numbers and ranges from bytes, and never beyond their end.
struct ByteReader {
    let bytes: [UInt8]
    private(set) var position: Int
    private let end: Int

    /// - Parameter range: what is read of the bytes.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position == end }
    var remaining: Int { end - position }

    /// The next `count` bytes, as a range.
    mutating func take(_ count: Int) throws(PictureError) -> Range<Int> {
        guard count >= 0, count <= remaining else { throw .malformed }
        defer { position += count }
        return position..<position + count
    }

    mutating func byte() throws(PictureError) -> UInt8 { bytes[try take(1).lowerBound] }

    mutating func bigEndian(_ count: Int) throws(PictureError) -> Int { bytes.bigEndian(try take(count)) }

    mutating func littleEndian(_ count: Int) throws(PictureError) -> Int { bytes.littleEndian(try take(count)) }
}

extension Array where Element == UInt8 {
    /// Whether the text, of characters below U+0100, is at that place.
    func has(_ text: String, at position: Int) -> Bool {
        var index = position
        for scalar in text.unicodeScalars {
            guard index < count, UInt32(self[index]) == scalar.value else { return false }
            index += 1
        }
        return true
    }

    /// The number in a range of at most seven bytes.
    func bigEndian(_ range: Range<Int>) -> Int {
        var number = 0
        for index in range { number = number << 8 | Int(self[index]) }
        return number
    }

    /// The number in a range of at most seven bytes.
    func littleEndian(_ range: Range<Int>) -> Int {
        var number = 0
        for index in range.reversed() { number = number << 8 | Int(self[index]) }
        return number
    }

    /// Returns the index of the first byte of that value; the end if there is none.
    func firstIndex(of byte: UInt8, from start: Int) -> Int { self[start...].firstIndex(of: byte) ?? count }

    mutating func append(_ range: Range<Int>, of bytes: [UInt8]) { append(contentsOf: bytes[range]) }

    mutating func append(bigEndian number: Int, _ count: Int) {
        for shift in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }

    mutating func append(littleEndian number: Int, _ count: Int) {
        for shift in 0..<count { append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }
}
