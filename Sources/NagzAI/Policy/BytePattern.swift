/// Bytes in which several patterns are searched for.
struct SearchedBytes {
    private let bytes: [UInt8]
    /// The hashes of all pairs of neighbouring bytes, as a bit set.
    private var pairHashBits = [UInt64](repeating: 0, count: 64)

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        for (first, second) in zip(bytes, bytes.dropFirst()) {
            let hash = BytePattern.pairHash(first, second)
            pairHashBits[hash >> 6] |= 1 << UInt64(hash & 63)
        }
    }

    /// Whether a pattern occurs. In UTF-8 no character begins inside another, so it is enough to compare bytes.
    func contains(_ pattern: BytePattern) -> Bool {
        for hash in pattern.pairHashes where pairHashBits[hash >> 6] & (1 << UInt64(hash & 63)) == 0 { return false }
        return pattern.occurs(in: bytes)
    }
}

/// Bytes to search for. A search takes time linear in the searched text.
struct BytePattern: Sendable {
    private let bytes: [UInt8]
    /// For each prefix of the pattern, the length of its longest proper prefix that is also its suffix (Knuth, Morris,
    /// Pratt).
    private let borders: [Int]
    /// The hashes of the pattern's first eight pairs of neighbouring bytes. If a text lacks one of them, the pattern
    /// does not occur in the text.
    let pairHashes: [Int]

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
        pairHashes = zip(bytes, bytes.dropFirst()).prefix(8).map(Self.pairHash)
    }

    /// Returns a hash of two neighbouring bytes, below 4,096.
    static func pairHash(_ first: UInt8, _ second: UInt8) -> Int { (Int(first) &* 31 &+ Int(second) &* 131) & 4_095 }

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
