/// Reads numbers and ranges from bytes, and never beyond their end.
struct ByteReader {
    let bytes: [UInt8]
    private(set) var position: Int
    private let end: Int

    /// - Parameter range: the part of the bytes to read.
    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        position = range.lowerBound
        end = range.upperBound
    }

    var isAtEnd: Bool { position == end }
    var remainingCount: Int { end - position }

    /// Returns the range of the next `count` bytes, and skips them. Throws `malformed` if there are fewer.
    mutating func take(_ count: Int) throws(PictureError) -> Range<Int> {
        guard count >= 0, count <= remainingCount else { throw .malformed }
        defer { position += count }
        return position..<position + count
    }

    mutating func readByte() throws(PictureError) -> UInt8 { bytes[try take(1).lowerBound] }

    /// Reads a big-endian number of `count` bytes, at most seven.
    mutating func readBigEndian(_ count: Int) throws(PictureError) -> Int { bytes.bigEndian(try take(count)) }

    /// Reads a little-endian number of `count` bytes, at most seven.
    mutating func readLittleEndian(_ count: Int) throws(PictureError) -> Int { bytes.littleEndian(try take(count)) }
}

extension Array where Element == UInt8 {
    /// Returns whether the text, of characters below U+0100, is at that position.
    func has(_ text: String, at position: Int) -> Bool {
        var index = position
        for scalar in text.unicodeScalars {
            guard index < count, UInt32(self[index]) == scalar.value else { return false }
            index += 1
        }
        return true
    }

    /// Returns the number in a range of at most seven bytes.
    func bigEndian(_ range: Range<Int>) -> Int {
        var number = 0
        for index in range { number = number << 8 | Int(self[index]) }
        return number
    }

    /// Returns the number in a range of at most seven bytes.
    func littleEndian(_ range: Range<Int>) -> Int {
        var number = 0
        for index in range.reversed() { number = number << 8 | Int(self[index]) }
        return number
    }

    /// Returns the index of the first byte with that value; `count` if there is none.
    func firstIndex(of byte: UInt8, from start: Int) -> Int { self[start...].firstIndex(of: byte) ?? count }

    /// Appends the bytes in a range of `bytes`.
    mutating func append(_ range: Range<Int>, of bytes: [UInt8]) { append(contentsOf: bytes[range]) }

    mutating func append(bigEndian number: Int, _ count: Int) {
        for shift in (0..<count).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }

    mutating func append(littleEndian number: Int, _ count: Int) {
        for shift in 0..<count { append(UInt8(truncatingIfNeeded: number >> (8 * shift))) }
    }
}
