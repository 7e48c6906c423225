import Domain

/// The state of the log at one moment in the format of C2SP tlog-checkpoint: name, size, root, and an extra line with
/// the time, so that an old checkpoint cannot pass as a fresh one.
public struct Checkpoint: Hashable, Sendable {
    /// The log's name, which is also its keys' name.
    public let origin: String
    /// The number of leaves.
    public let size: Int64
    public let root: [UInt8]
    /// The time at which the checkpoint was created, to the second.
    public let time: Timestamp

    public init(origin: String, size: Int64, root: [UInt8], time: Timestamp) {
        self.origin = origin
        self.size = size
        self.root = root
        self.time = time.flooredToSecond
    }

    /// Parses a checkpoint's text; nil for an invalid one.
    public init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 5, lines[4].isEmpty, VerifierKey.isValidName(String(lines[0])),
            let size = Self.parseNumber(lines[1]), let root = Base64.decode(String(lines[2])), root.count == 32,
            lines[3].hasPrefix("time "), let seconds = Self.parseNumber(lines[3].dropFirst(5)), seconds < 1 << 40
        else { return nil }
        self.init(origin: String(lines[0]), size: size, root: root, time: Timestamp(seconds: seconds))
    }

    public var text: String { "\(origin)\n\(size)\n\(Base64.encode(root))\ntime \(time.seconds)\n" }

    /// Returns a note with the checkpoint, signed by all the keys.
    public func signed(by keys: [SigningKey]) -> SignedNote { SignedNote(text, signedBy: keys) }

    /// Parses ASCII digits without leading zeros; nil for anything else.
    private static func parseNumber(_ text: Substring) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text == "0" || text.first != "0"
        else { return nil }
        return Int64(text)
    }
}

/// The keys that may sign one log's notes: the pinned ones, and those to which a trusted key has handed over.
public struct TrustedKeys: Sendable {
    public private(set) var keys: [VerifierKey]

    /// - Parameter pinned: keys that did not come from the log itself.
    public init(pinned: [VerifierKey]) { keys = pinned }

    /// Returns the note in which a key hands over to another key.
    public static func makeHandover(from old: SigningKey, to new: VerifierKey) -> SignedNote {
        SignedNote("nagz audit key\n\(new.text)\n", signedBy: [old])
    }

    /// Trusts the key that a note names, if a trusted key of the same name has signed the note.
    /// - Returns: whether the note is such a handover, also of a key that was trusted before.
    @discardableResult
    public mutating func acceptHandover(_ note: SignedNote) -> Bool {
        let lines = note.text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 3, lines[0] == "nagz audit key", let key = VerifierKey(String(lines[1])) else {
            return false
        }
        // A key hands over only to a key of the same name.
        guard keys.contains(where: { $0.name == key.name && note.isSigned(by: $0) }) else { return false }
        if !keys.contains(key) { keys.append(key) }
        return true
    }

    /// Trusts all keys to which handovers lead, whatever the order of the notes.
    public mutating func acceptHandovers(_ notes: [SignedNote]) {
        var remaining = notes
        while case let rest = remaining.filter({ !acceptHandover($0) }), rest.count < remaining.count {
            remaining = rest
        }
    }

    /// Returns whether a trusted key has signed the note.
    public func hasSigner(of note: SignedNote) -> Bool { keys.contains { note.isSigned(by: $0) } }

    /// Returns the checkpoint in a note that a trusted key has signed under the log's name; nil for any other note.
    public func checkpoint(in note: SignedNote) -> Checkpoint? {
        guard let checkpoint = Checkpoint(text: note.text) else { return nil }
        return keys.contains { $0.name == checkpoint.origin && note.isSigned(by: $0) } ? checkpoint : nil
    }
}
