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
    public let origin: String
    /// The signing keys, newest first. All of them sign; verifiers pin the first.
    public let signing: [SigningKey]
    /// The master keys: the newest first, and `nextMaster` last. Only the first one wraps keys of people; all of them
    /// unwrap.
    public let masters: [MasterKey]
    /// The master key that will wrap keys after the rotation; nil when there is none.
    public let nextMaster: MasterKey?

    /// A reason for which a key file cannot be used.
    public enum Fault: Error, CustomStringConvertible {
        case origin
        case line(Int)
        case missing(String)

        public var description: String {
            switch self {
            case .origin: "it must hold one line “origin NAME”, the name without spaces and +"
            case .line(let number):
                "line \(number) is neither “origin NAME” nor “sign”, “seal” or “next” with 64 hexadecimal digits"
            case .missing(let kind): "it holds no line “\(kind)” with 64 hexadecimal digits"
            }
        }
    }

    public init(
        origin: String, signing: [SigningKey], masters: [MasterKey], next: MasterKey? = nil
    ) throws(Fault) {
        guard VerifierKey.isName(origin) else { throw .origin }
        guard !signing.isEmpty else { throw .missing("sign") }
        guard !masters.isEmpty else { throw .missing("seal") }
        self.origin = origin
        self.signing = signing
        self.masters = masters + [next].compactMap(\.self)
        nextMaster = next
    }

    /// Parses the text of a key file. Empty lines and those that begin with # are skipped.
    public init(text: String) throws(Fault) {
        var origins: [String] = []
        var (seeds, masters, next): ([[UInt8]], [MasterKey], MasterKey?) = ([], [], nil)
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count == 2 else { throw .line(index + 1) }
            switch first {
            case "origin": origins.append(String(words[1]))
            case "sign":
                guard let seed = Self.key(words[1]) else { throw .line(index + 1) }
                seeds.append(seed)
            case "seal", "next":
                guard let key = Self.key(words[1]).flatMap({ MasterKey($0) }),
                    first == "seal" || next == nil
                else { throw .line(index + 1) }
                if first == "seal" { masters.append(key) } else { next = key }
            default: throw .line(index + 1)
            }
        }
        guard origins.count == 1, let origin = origins.first else { throw .origin }
        try self.init(
            origin: origin, signing: seeds.compactMap { SigningKey(name: origin, seed: $0) }, masters: masters,
            next: next)
    }

    private static func key(_ text: Substring) -> [UInt8]? {
        bytes(hexadecimal: text).flatMap { $0.count == 32 ? $0 : nil }
    }

    /// The signing keys, and with each a note of its neighbour that vouches for it; nil where there is one key only. A
    /// person who pins one key can follow the notes to the others. A stolen key is removed from the file before its
    /// successor is added, so that no note vouches for it.
    var handovers: [(key: VerifierKey, note: SignedNote?)] {
        guard signing.count > 1 else { return signing.map { ($0.verifier, nil) } }
        return zip(signing.dropFirst(), signing).flatMap { old, new in
            [
                (key: new.verifier, note: TrustedKeys.handover(from: old, to: new.verifier)),
                (key: old.verifier, note: TrustedKeys.handover(from: new, to: old.verifier)),
            ]
        }
    }
}
