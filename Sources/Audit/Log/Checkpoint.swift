import Domain

/// How the log stood at one moment, as C2SP tlog-checkpoint writes it: its name, its size, its root, and one more line
/// with the time, so that an old checkpoint cannot be passed off as a fresh one.
public struct Checkpoint: Hashable, Sendable {
    /// The log's name, which is also the name of its keys.
    public let origin: String
    /// Leaves.
    public let size: Int64
    public let root: [UInt8]
    /// When it was made, to the second.
    public let time: Timestamp

    public init(origin: String, size: Int64, root: [UInt8], time: Timestamp) {
        self.origin = origin
        self.size = size
        self.root = root
        self.time = time.flooredToSecond
    }

    /// Reads a checkpoint's text; nil for what is none.
    public init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 5, lines[4].isEmpty, VerifierKey.isName(String(lines[0])),
            let size = Self.number(lines[1]), let root = Base64.decode(String(lines[2])), root.count == 32,
            lines[3].hasPrefix("time "), let seconds = Self.number(lines[3].dropFirst(5)), seconds < 1 << 40
        else { return nil }
        self.init(origin: String(lines[0]), size: size, root: root, time: Timestamp(seconds: seconds))
    }

    public var text: String { "\(origin)\n\(size)\n\(Base64.encode(root))\ntime \(time.seconds)\n" }

    /// Signed by all the keys.
    public func signed(by keys: [SigningKey]) -> SignedNote { SignedNote(text, signedBy: keys) }

    /// ASCII digits without a needless zero.
    private static func number(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text == "0" || text.first != "0"
        else { return nil }
        return Int64(text)
    }
}

/// The keys that one log's notes may be signed with: the one that was pinned, and those it has handed over to.
public struct TrustedKeys: Sendable {
    public private(set) var keys: [VerifierKey]

    /// - Parameter pinned: known from elsewhere than the log.
    public init(pinned: [VerifierKey]) { keys = pinned }

    /// The note in which an older key says that a newer one follows it.
    public static func handover(from old: SigningKey, to new: VerifierKey) -> SignedNote {
        SignedNote("nagz audit key\n\(new.text)\n", signedBy: [old])
    }

    /// Takes in a key that one of the trusted ones has handed over to.
    /// - Returns: false when none has.
    @discardableResult
    public mutating func accept(_ note: SignedNote) -> Bool {
        let lines = note.text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 3, lines[0] == "nagz audit key", let key = VerifierKey(String(lines[1])) else {
            return false
        }
        // A key hands over only to its own name.
        guard keys.contains(where: { $0.name == key.name && note.isSigned(by: $0) }) else { return false }
        if !keys.contains(key) { keys.append(key) }
        return true
    }

    /// Takes in all keys that can be reached by handing over, in whatever order the notes come.
    public mutating func accept(_ notes: [SignedNote]) {
        var open = notes
        while case let rest = open.filter({ !accept($0) }), rest.count < open.count { open = rest }
    }

    /// Whether one of them has signed the note.
    public func haveSigned(_ note: SignedNote) -> Bool { keys.contains { note.isSigned(by: $0) } }

    /// The checkpoint in a note that one of them has signed under the log's name.
    public func checkpoint(_ note: SignedNote) -> Checkpoint? {
        guard let checkpoint = Checkpoint(text: note.text) else { return nil }
        return keys.contains { $0.name == checkpoint.origin && note.isSigned(by: $0) } ? checkpoint : nil
    }
}
