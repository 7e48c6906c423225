/// A signed text in the format of C2SP signed-note.
///
/// The text ends with a line feed. After an empty line follow the signatures, one a line: `— <name> <base64>`.
public struct SignedNote: Hashable, Sendable {
    /// A signature line.
    public struct Signature: Hashable, Sendable {
        public let keyName: String
        /// The four bytes that distinguish keys of the same name.
        public let keyHash: [UInt8]
        public let bytes: [UInt8]
    }

    public let text: String
    public let signatures: [Signature]

    /// Signs a text.
    /// - Precondition: the text ends with a line feed, has something before it, and contains no control characters but
    ///   line feeds.
    public init(_ text: String, signedBy keys: [SigningKey]) {
        precondition(Self.isValidText(text))
        self.text = text
        signatures = keys.map { key in
            Signature(keyName: key.verifier.name, keyHash: key.verifier.hash, bytes: key.sign(Array(text.utf8)))
        }
    }

    /// Parses a note; nil for an invalid one, for more than 1 MiB, and for more than 64 signatures. Signatures of
    /// unknown kinds are kept, but `isSigned` never accepts them.
    public init?(_ note: String) {
        guard note.utf8.count <= 1 << 20, let gap = note.ranges(of: "\n\n").last else { return nil }
        let text = String(note[..<gap.lowerBound]) + "\n"
        guard Self.isValidText(text), note.hasSuffix("\n") else { return nil }
        var signatures: [Signature] = []
        for line in note[gap.upperBound...].dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0] == "—", !parts[1].isEmpty, !parts[1].contains("+"),
                let bytes = Base64.decode(String(parts[2])), bytes.count > 4
            else { return nil }
            signatures.append(
                Signature(
                    keyName: String(parts[1]), keyHash: Array(bytes.prefix(4)), bytes: Array(bytes.dropFirst(4))))
        }
        guard !signatures.isEmpty, signatures.count <= 64 else { return nil }
        self.text = text
        self.signatures = signatures
    }

    /// The whole note: the text and its signatures.
    public var fullText: String {
        text + "\n" + signatures.map { "— \($0.keyName) \(Base64.encode($0.keyHash + $0.bytes))\n" }.joined()
    }

    /// Returns whether the key has signed the text.
    public func isSigned(by key: VerifierKey) -> Bool {
        signatures.contains {
            $0.keyName == key.name && $0.keyHash == key.hash && key.verifies($0.bytes, of: Array(text.utf8))
        }
    }

    private static func isValidText(_ text: String) -> Bool {
        text.hasSuffix("\n") && text.utf8.count > 1 && !text.utf8.contains { $0 < 0x20 && $0 != 0x0a }
    }
}
