import Audit
import Domain

/// The secrets of the audit log, which live in a file outside the database: the log's name, the keys that sign it, and
/// the master keys that wrap the keys of people. Of each kind the newest comes first.
///
///     origin nagz.example/5f2c9a01
///     sign 64 hexadecimal digits
///     seal 64 hexadecimal digits
///
/// While the master key is changed, a line `next` holds the new one: it unwraps already, and wraps nothing yet.
public struct AuditKeyring: Sendable {
    public let origin: String
    /// All of them sign; the first is the one to pin.
    public let signing: [SigningKey]
    /// The first wraps; all unwrap.
    public let masters: [MasterKey]
    /// The one of them that is to wrap next.
    public let nextMaster: MasterKey?

    /// What is wrong with a file of keys.
    public enum Fault: Error, CustomStringConvertible {
        case origin
        case line(Int)
        case missing(String)

        public var description: String {
            switch self {
            case .origin: "it must hold one line “origin NAME”, the name without blanks and +"
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

    /// Reads the text of such a file; empty lines and those that begin with # are skipped.
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

    /// The keys with the notes in which neighbours vouch for each other, so that whoever pins one can follow the log to
    /// the others. A key that was stolen is taken out of the file before the next comes in: then nobody vouches.
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
