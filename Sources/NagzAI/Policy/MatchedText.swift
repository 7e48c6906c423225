// The standard library has no public API for Unicode normal forms, and Foundation is too large for this module.
@_spi(_Unicode) import Swift

/// A text in the form in which constraints compare: NFC, then the full upper-case mapping of each scalar, then the full
/// lower-case mapping of each scalar, then NFC.
///
/// Upper case before lower case makes `ſ` equal to `s`, `ß` to `ss` and `ς` to `σ`: a rule that protects privacy
/// should match too much rather than too little. The mappings are Unicode's, without language and context.
struct MatchedText: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ text: String) {
        var text = text
        let ascii: [UInt8]? = text.withUTF8 { bytes in
            bytes.allSatisfy { $0 < 0x80 } ? bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } : nil
        }
        bytes = ascii ?? Array(Self.folded(text).utf8)
    }

    private static func folded(_ text: String) -> String {
        var lower = String.UnicodeScalarView()
        for scalar in text._nfc {
            // A mapping makes a String for each scalar, which is slow.
            if scalar.isASCII {
                lower.append((0x41...0x5A).contains(scalar.value) ? Unicode.Scalar(UInt8(scalar.value) | 0x20) : scalar)
                continue
            }
            for upper in scalar.properties.uppercaseMapping.unicodeScalars {
                lower.append(contentsOf: upper.properties.lowercaseMapping.unicodeScalars)
            }
        }
        var composed = String.UnicodeScalarView()
        for scalar in String(lower)._nfc { composed.append(scalar) }
        return String(composed)
    }
}

/// The words of a question, prepared once for all searches in them.
struct SearchedText {
    let text: MatchedText
    /// One bit for each pair of neighbouring bytes, by its hash.
    private var pairs = [UInt64](repeating: 0, count: 64)

    init(_ content: String) {
        text = MatchedText(content)
        for (first, second) in zip(text.bytes, text.bytes.dropFirst()) {
            let pair = SearchPattern.pair(first, second)
            pairs[pair >> 6] |= 1 << UInt64(pair & 63)
        }
    }

    /// Whether a pattern occurs. UTF-8 has no character that begins inside another, so bytes are enough.
    func contains(_ pattern: SearchPattern) -> Bool {
        for pair in pattern.pairs where pairs[pair >> 6] & (1 << UInt64(pair & 63)) == 0 { return false }
        return pattern.occurs(in: text.bytes)
    }
}

/// A text to search for, prepared when its constraint is loaded. A search takes time linear in the searched text.
struct SearchPattern: Sendable {
    private let bytes: [UInt8]
    /// For each prefix, the length of its longest proper prefix that is also its suffix (Knuth, Morris, Pratt).
    private let borders: [Int]
    /// Hashes of its first pairs of bytes: where one is missing, the pattern does not occur.
    let pairs: [Int]

    init(_ text: String) {
        let bytes = MatchedText(text).bytes
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
