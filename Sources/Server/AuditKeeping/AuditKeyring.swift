import Audit
import Domain

/// The secrets of the audit log, read from a file outside the database: the log's name, the keys that sign it, and the
/// master keys that wrap people's keys. The newest key of each kind comes first.
///
///     origin nagz.example/5f2c9a01
///     sign 64 hexadecimal digits
///     seal 64 hexadecimal digits
///
/// During a rotation of the master key a line `next` holds the new key, which already unwraps keys but does not wrap
/// any.
public struct AuditKeyring: Sendable {
    /// The log's name.
    public let origin: String
    /// The signing keys, newest first. All of them sign; verifiers pin the first.
    public let signingKeys: [SigningKey]
    /// The master keys: the newest first, and `nextMaster` last. Only the first one wraps keys of people; all of them
    /// unwrap.
    public let masterKeys: [MasterKey]
    /// The master key that will wrap keys after the rotation; nil when there is none.
    public let nextMaster: MasterKey?

    /// A reason for which a key file cannot be used.
    public enum Fault: Error, CustomStringConvertible {
        /// There is not exactly one `origin` line, or its name is not valid.
        case invalidOrigin
        /// The line with this number, from 1, is not a line of a key file, or is a second `next`.
        case invalidLine(Int)
        /// There is no line that begins with this word: `sign` or `seal`.
        case missingLine(String)

        public var description: String {
            switch self {
            case .invalidOrigin: "it must hold one line “origin NAME”, the name without spaces and +"
            case .invalidLine(let number):
                "line \(number) is neither “origin NAME” nor “sign”, “seal” or “next” with 64 hexadecimal digits"
            case .missingLine(let kind): "it holds no line “\(kind)” with 64 hexadecimal digits"
            }
        }
    }

    public init(
        origin: String, signingKeys: [SigningKey], masterKeys: [MasterKey], next: MasterKey? = nil
    ) throws(Fault) {
        guard VerifierKey.isValidName(origin) else { throw .invalidOrigin }
        guard !signingKeys.isEmpty else { throw .missingLine("sign") }
        guard !masterKeys.isEmpty else { throw .missingLine("seal") }
        self.origin = origin
        self.signingKeys = signingKeys
        self.masterKeys = masterKeys + [next].compactMap(\.self)
        nextMaster = next
    }

    /// Parses the text of a key file. Empty lines and those that begin with # are skipped.
    public init(text: String) throws(Fault) {
        var origins: [String] = []
        var (seeds, masters, next): ([[UInt8]], [MasterKey], MasterKey?) = ([], [], nil)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 2 else { throw .invalidLine(index + 1) }
            switch first {
            case "origin": origins.append(String(words[1]))
            case "sign":
                guard let seed = Self.parseKey(words[1]) else { throw .invalidLine(index + 1) }
                seeds.append(seed)
            case "seal", "next":
                guard let key = Self.parseKey(words[1]).flatMap({ MasterKey($0) }),
                    first == "seal" || next == nil
                else { throw .invalidLine(index + 1) }
                if first == "seal" { masters.append(key) } else { next = key }
            default: throw .invalidLine(index + 1)
            }
        }
        guard origins.count == 1, let origin = origins.first else { throw .invalidOrigin }
        try self.init(
            origin: origin, signingKeys: seeds.compactMap { SigningKey(name: origin, seed: $0) },
            masterKeys: masters, next: next)
    }

    private static func parseKey(_ text: Substring) -> [UInt8]? {
        bytes(hexadecimal: text).flatMap { $0.count == 32 ? $0 : nil }
    }

    /// The signing keys, each with a note in which a neighbouring key vouches for it. A key between two others is in
    /// the list twice, once for each neighbour; a key without neighbours has no note. A person who pins one key can
    /// follow the notes to the others. A stolen key is removed from the file before its successor is added, so that no
    /// note vouches for it.
    var handovers: [(key: VerifierKey, note: SignedNote?)] {
        guard signingKeys.count > 1 else { return signingKeys.map { ($0.verifier, nil) } }
        return zip(signingKeys.dropFirst(), signingKeys).flatMap { old, new in
            [
                (key: new.verifier, note: TrustedKeys.makeHandover(from: old, to: new.verifier)),
                (key: old.verifier, note: TrustedKeys.makeHandover(from: new, to: old.verifier)),
            ]
        }
    }
}
