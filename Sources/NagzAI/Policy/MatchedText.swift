/// A text in the form that constraints compare, so that a different spelling does not evade them.
///
/// The form is Unicode's NFKC_Casefold (compatibility forms, full case folding, no default-ignorable character), with
/// each run of white space as one space. Texts that differ in this form are also compared by the skeleton of UTS 39, in
/// which characters that look alike are equal. Two ASCII texts are not compared by their skeletons, because `11` and
/// `ll` have the same one.
struct MatchedText: Hashable, Sendable {
    let foldedBytes: [UInt8]
    /// The bytes of the skeleton; nil for an ASCII text, whose skeleton is seldom needed and computed when it is.
    private let skeletonBytes: [UInt8]?

    init(_ text: String) {
        var text = text
        let ascii: [UInt8]? = text.withUTF8 { bytes in
            bytes.allSatisfy { $0 < 0x80 } ? bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } : nil
        }
        let folded = Self.collapsingWhitespace(ascii ?? Array(UnicodeText.caseFolded(text).utf8))
        foldedBytes = folded
        skeletonBytes = folded.allSatisfy { $0 < 0x80 } ? nil : Self.skeleton(of: folded)
    }

    var isASCII: Bool { skeletonBytes == nil }

    /// The skeleton of UTS 39, equal for texts that look alike.
    var skeleton: [UInt8] { skeletonBytes ?? Self.skeleton(of: foldedBytes) }

    private static func skeleton(of bytes: [UInt8]) -> [UInt8] {
        Array(UnicodeText.skeleton(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    /// Returns the text with one space for each run of white space, and none at the ends.
    private static func collapsingWhitespace(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.allSatisfy({ $0 < 0x80 }) else {
            let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
            let words = scalars.split { $0.properties.isWhitespace }
            return Array(words.map { String(String.UnicodeScalarView($0)) }.joined(separator: " ").utf8)
        }
        return Array(bytes.split { $0 == 0x20 || (0x09...0x0D).contains($0) }.joined(separator: [0x20]))
    }

    static func == (left: Self, right: Self) -> Bool {
        left.foldedBytes == right.foldedBytes || !(left.isASCII && right.isASCII) && left.skeleton == right.skeleton
    }

    func hash(into hasher: inout Hasher) { hasher.combine(skeleton) }
}

/// A question's words, prepared for many searches.
struct SearchedText {
    let text: MatchedText
    private let foldedBytes: SearchedBytes
    /// The bytes of the skeleton; for an ASCII text the folded bytes, because its skeleton is seldom needed.
    private let skeletonBytes: SearchedBytes

    init(_ content: String) {
        text = MatchedText(content)
        foldedBytes = SearchedBytes(text.foldedBytes)
        skeletonBytes = text.isASCII ? foldedBytes : SearchedBytes(text.skeleton)
    }

    /// Returns whether a pattern occurs in the text, or the pattern's skeleton in the text's skeleton.
    func contains(_ pattern: SearchPattern) -> Bool {
        if foldedBytes.contains(pattern.foldedPattern) { return true }
        if text.isASCII, pattern.text.isASCII { return false }
        let searchedSkeleton = text.isASCII ? SearchedBytes(text.skeleton) : skeletonBytes
        return searchedSkeleton.contains(pattern.skeletonPattern)
    }
}

/// A text to search for, prepared when its constraint is loaded.
struct SearchPattern: Sendable {
    let text: MatchedText
    let foldedPattern: BytePattern
    let skeletonPattern: BytePattern

    init(_ text: String) {
        self.text = MatchedText(text)
        foldedPattern = BytePattern(self.text.foldedBytes)
        skeletonPattern = BytePattern(self.text.skeleton)
    }
}
