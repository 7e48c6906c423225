import Audit

/// The words of a question or an answer, in the forms that records store: their length and keyed digests.
struct QuestionWords {
    private let bytes: [UInt8]
    private let key: HMACKey?

    /// - Parameter key: the key of the digests; nil for throw-away data, whose records have none.
    init(_ words: String, _ key: HMACKey?) {
        (bytes, self.key) = (Array(words.utf8), key)
    }

    /// The length of the words in bytes.
    var byteCount: Int { bytes.count }

    /// The keyed digest of the words, in hexadecimal; nil without words or without a key. Words are few and short, so
    /// an unkeyed digest could be compared with guesses.
    var hash: String? {
        guard let key, !bytes.isEmpty else { return nil }
        return hexadecimal(key.authenticationCode(of: bytes))
    }

    /// Returns a keyed digest of the settings and the words; without a key, a digest of the settings and the words'
    /// length.
    func digest(withSettings settings: [UInt8]) -> [UInt8] {
        guard let key else { return sha256(settings + "\(byteCount)".utf8) }
        return key.authenticationCode(of: settings + bytes)
    }
}
