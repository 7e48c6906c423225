/// Bytes in which several patterns are searched.
struct SearchedBytes {
    private let bytes: [UInt8]
    /// One bit for each pair of neighbouring bytes, by its hash.
    private var pairs = [UInt64](repeating: 0, count: 64)

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        for (first, second) in zip(bytes, bytes.dropFirst()) {
            let pair = BytePattern.pair(first, second)
            pairs[pair >> 6] |= 1 << UInt64(pair & 63)
        }
    }

    /// Whether a pattern occurs. UTF-8 has no character that begins inside another, so bytes are enough.
    func contains(_ pattern: BytePattern) -> Bool {
        for pair in pattern.pairs where pairs[pair >> 6] & (1 << UInt64(pair & 63)) == 0 { return false }
        return pattern.occurs(in: bytes)
    }
}

/// Bytes to search for. A search takes time linear in the searched text.
struct BytePattern: Sendable {
    private let bytes: [UInt8]
    /// The length, for each prefix, of its longest proper prefix that is also its suffix (Knuth, Morris, Pratt).
    private let borders: [Int]
    /// Hashes of its first pairs of bytes: where one is missing, the pattern does not occur.
    let pairs: [Int]

    init(_ bytes: [UInt8]) {
        var borders = [Int](repeating: 0, count: bytes.count)
        var length = 0
        for index in bytes.indices.dropFirst() {
            while length > 0, bytes[index] != bytes[length] { length = borders[length - 1] }
            if bytes[index] == bytes[length] { length += 1 }
            borders[index] = length
        }
        self.bytes = bytes
        self.borders = borders
        pairs = zip(bytes, bytes.dropFirst()).prefix(8).map(Self.pair)
    }

    static func pair(_ first: UInt8, _ second: UInt8) -> Int { (Int(first) &* 31 &+ Int(second) &* 131) & 4_095 }

    func occurs(in text: [UInt8]) -> Bool {
        guard !bytes.isEmpty else { return true }
        var length = 0
        for byte in text {
            while length > 0, byte != bytes[length] { length = borders[length - 1] }
            if byte == bytes[length] { length += 1 }
            if length == bytes.count { return true }
        }
        return false
    }
}
