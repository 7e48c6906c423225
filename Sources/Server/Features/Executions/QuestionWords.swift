import Audit

/// The words of a question or an answer, as far as records tell of them.
struct QuestionWords {
    private let bytes: [UInt8]
    private let key: HMACKey?

    /// - Parameter key: the key of the digests; nil for throw-away data, whose records have none.
    init(_ words: String, _ key: HMACKey?) {
        (bytes, self.key) = (Array(words.utf8), key)
    }

    var length: Int { bytes.count }

    /// The keyed hash of the words, in hexadecimal: they are few and short, so that plain digests could be compared
    /// with guesses. Nil for no words, and without a key.
    var hash: String? {
        guard let key, !bytes.isEmpty else { return nil }
        return hexadecimal(key.code(of: bytes))
    }

    /// A digest of something and the words; without a key of their length only.
    func digest(_ settings: [UInt8]) -> [UInt8] {
        guard let key else { return sha256(settings + "\(length)".utf8) }
        return key.code(of: settings + bytes)
    }
}
