/// A text in the form in which constraints compare texts, so that no other spelling evades them.
///
/// The form is Unicode's NFKC_Casefold (compatibility forms, full case folding, no default-ignorable character), with
/// each run of white space as one blank. Texts that differ in this form are also compared by the skeleton of UTS 39, in
/// which characters that look alike are equal, unless both are ASCII: between ASCII texts the skeleton would make `11`
/// equal to `ll`.
struct MatchedText: Hashable, Sendable {
    let bytes: [UInt8]
    /// The bytes of the skeleton; nil for ASCII, whose skeleton is seldom needed.
    private let skeletonBytes: [UInt8]?

    init(_ text: String) {
        var text = text
        let ascii: [UInt8]? = text.withUTF8 { bytes in
            bytes.allSatisfy { $0 < 0x80 } ? bytes.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } : nil
        }
        let folded = Self.withoutRuns(ascii ?? Array(UnicodeText.caseFolded(text).utf8))
        bytes = folded
        skeletonBytes = folded.allSatisfy { $0 < 0x80 } ? nil : Self.skeleton(of: folded)
    }

    var isASCII: Bool { skeletonBytes == nil }

    /// The characters' prototypes: what they look like.
    var skeleton: [UInt8] { skeletonBytes ?? Self.skeleton(of: bytes) }

    private static func skeleton(of bytes: [UInt8]) -> [UInt8] {
        Array(UnicodeText.skeleton(String(decoding: bytes, as: UTF8.self)).utf8)
    }

    /// Replaces each run of white space by one blank, and removes it at the ends.
    private static func withoutRuns(_ bytes: [UInt8]) -> [UInt8] {
        guard bytes.allSatisfy({ $0 < 0x80 }) else {
            let scalars = String(decoding: bytes, as: UTF8.self).unicodeScalars
            let words = scalars.split { $0.properties.isWhitespace }
            return Array(words.map { String(String.UnicodeScalarView($0)) }.joined(separator: " ").utf8)
        }
        return Array(bytes.split { $0 == 0x20 || (0x09...0x0D).contains($0) }.joined(separator: [0x20]))
    }

    static func == (left: Self, right: Self) -> Bool {
        left.bytes == right.bytes || !(left.isASCII && right.isASCII) && left.skeleton == right.skeleton
    }

    func hash(into hasher: inout Hasher) { hasher.combine(skeleton) }
}

/// The words of a question, prepared once for all searches in them.
struct SearchedText {
    let text: MatchedText
    private let plain: SearchedBytes
    private let skeleton: SearchedBytes

    init(_ content: String) {
        text = MatchedText(content)
        plain = SearchedBytes(text.bytes)
        skeleton = text.isASCII ? plain : SearchedBytes(text.skeleton)
    }

    /// Whether a pattern occurs, as it is or as it looks.
    func contains(_ pattern: SearchPattern) -> Bool {
        if plain.contains(pattern.plain) { return true }
        if text.isASCII, pattern.text.isASCII { return false }
        return text.isASCII
            ? SearchedBytes(text.skeleton).contains(pattern.skeleton) : skeleton.contains(pattern.skeleton)
    }
}

/// A text to search for, prepared when its constraint is loaded.
struct SearchPattern: Sendable {
    let text: MatchedText
    let plain: BytePattern
    let skeleton: BytePattern

    init(_ text: String) {
        self.text = MatchedText(text)
        plain = BytePattern(self.text.bytes)
        skeleton = BytePattern(self.text.skeleton)
    }
}
