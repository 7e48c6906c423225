import Domain

/// One line of an export of the audit log.
public enum ExportRecord: Sendable {
    case header(Header)
    case prune(SignedNote)
    case entry(AuditEntry, Payload, position: Int64?)
    /// An entry whose hashes have been computed already.
    case prepared(PreparedEntry)
    /// A position of the log whose entry is not in the export.
    case leaf(LogLeafPosition)
    /// A stored root of a perfect subtree.
    case node(level: Int, position: Int64, hash: [UInt8])
    case checkpoint(SignedNote)
    /// Proves that a family's newest sequenced entry is in the log of `size` entries.
    case inclusion(LogLeafPosition, size: Int64, path: [[UInt8]])
    /// Proves that the log of `new` entries extends the log of its first `old` entries.
    case consistency(old: Int64, new: Int64, path: [[UInt8]])
    /// The family's clock at the time when the last of its entries was read.
    case clock(FamilyID, number: Int64, head: [UInt8])
    /// The last line, with the number of entries and of clocks. `clocks` is nil in exports without them.
    case end(entries: Int64, clocks: Int64?)

    /// The first line of an export: its log, its family and the time at which it was created.
    public struct Header: Hashable, Sendable {
        public var origin: String
        /// The exported family; nil for all families.
        public var family: FamilyID?
        public var madeAt: Timestamp
        /// The notes in which keys hand over to newer ones.
        public var handovers: [SignedNote]

        public init(origin: String, family: FamilyID?, madeAt: Timestamp, handovers: [SignedNote]) {
            self.origin = origin
            self.family = family
            self.madeAt = madeAt
            self.handovers = handovers
        }
    }

    /// The erasable part of an entry.
    public enum Payload: Hashable, Sendable {
        case whole(salt: [UInt8], body: [UInt8])
        case erased
        case unreadable
    }
}

/// A position in the log, and the entry it belongs to.
public struct LogLeafPosition: Hashable, Sendable {
    public var position: Int64
    public var family: FamilyID
    /// The number of the entry in the family's chain.
    public var number: Int64
    /// The hash of the leaf at the position.
    public var hash: [UInt8]

    public init(position: Int64, family: FamilyID, number: Int64, hash: [UInt8]) {
        self.position = position
        self.family = family
        self.number = number
        self.hash = hash
    }
}

/// A fault of an audit log, and the entry at which it begins.
public struct AuditFinding: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Reason: Hashable, Sendable {
        case chain(ChainVerifier.Fault)
        case unreadableBody
        case erasedWithoutRecord
        case missingEntry
        case clockDiffers(clock: Int64, chain: Int64)
        case noClock
        case leafDiffers
        case outOfPlace(expected: Int64)
        case neverSequenced
        case futureEntry
        case nodeDiffers(level: Int)
        case untrustedCheckpoint
        case wrongOrigin
        case rootDiffers(size: Int64)
        case clockWentBack
        case unsignedTail(size: Int64)
        case badInclusion
        case badConsistency(old: Int64)
        case witnessDiffers(size: Int64)
        case shrunk(witnessed: Int64, found: Int64)
        case badPrune
        case tooEarlyPruned
    }

    public var family: FamilyID?
    public var number: Int64?
    public var position: Int64?
    public var reason: Reason

    public init(_ reason: Reason, family: FamilyID? = nil, number: Int64? = nil, position: Int64? = nil) {
        self.reason = reason
        self.family = family
        self.number = number
        self.position = position
    }

    /// A code for programs.
    public var code: String {
        switch reason {
        case .chain(.outOfOrder): "out_of_order"
        case .chain(.foreignFamily): "foreign_family"
        case .chain(.brokenLink): "broken_link"
        case .chain(.alteredEntry): "altered_entry"
        case .chain(.backdated): "backdated"
        case .chain(.alteredBody): "altered_body"
        case .unreadableBody: "unreadable_body"
        case .erasedWithoutRecord: "erased_without_record"
        case .missingEntry: "missing_entry"
        case .clockDiffers: "clock_differs"
        case .noClock: "no_clock"
        case .leafDiffers: "leaf_differs"
        case .outOfPlace: "out_of_place"
        case .neverSequenced: "never_sequenced"
        case .futureEntry: "future_entry"
        case .nodeDiffers: "node_differs"
        case .untrustedCheckpoint: "untrusted_checkpoint"
        case .wrongOrigin: "wrong_origin"
        case .rootDiffers: "root_differs"
        case .clockWentBack: "clock_went_back"
        case .unsignedTail: "unsigned_tail"
        case .badInclusion: "bad_inclusion"
        case .badConsistency: "bad_consistency"
        case .witnessDiffers: "witness_differs"
        case .shrunk: "shrunk"
        case .badPrune: "bad_prune"
        case .tooEarlyPruned: "too_early_pruned"
        }
    }

    public var description: String {
        var place = ""
        if let family { place += "family \(family)" }
        if let number { place += (place.isEmpty ? "" : ", ") + "entry \(number)" }
        if let position { place += (place.isEmpty ? "" : ", ") + "log position \(position)" }
        return place.isEmpty ? words : "\(place): \(words)"
    }

    private var words: String {
        switch reason {
        case .chain(.outOfOrder(let expected, let found)): "entry \(found) follows where \(expected) belongs"
        case .chain(.foreignFamily): "the entry belongs to another family"
        case .chain(.brokenLink): "the entry does not continue from the one before it"
        case .chain(.alteredEntry): "the entry was changed after it was written"
        case .chain(.backdated): "time goes backwards"
        case .chain(.alteredBody): "the body is not what the entry committed to"
        case .unreadableBody: "the body was changed, or its key is missing"
        case .erasedWithoutRecord: "the body is missing, and no record of an erasure explains it"
        case .missingEntry: "the Merkle log has the entry, the audit log does not"
        case .clockDiffers(let clock, let chain):
            clock == chain
                ? "the family's clock does not carry the hash of its newest entry"
                : "the family's clock stands at \(clock), its newest entry is \(chain)"
        case .noClock: "there are entries of a family that has no clock"
        case .leafDiffers: "the entry differs from the one in the Merkle log"
        case .outOfPlace(let expected): "it stands where log position \(expected) belongs"
        case .neverSequenced: "the entry was never added to the Merkle log"
        case .futureEntry: "the entry claims a time after the checkpoint that holds it"
        case .nodeDiffers(let level): "a hash that the log keeps on level \(level) is not that of its leaves"
        case .untrustedCheckpoint: "the checkpoint is not signed by a key you trust"
        case .wrongOrigin: "it comes from another log"
        case .rootDiffers(let size): "the first \(size) entries of the log are not the signed ones"
        case .clockWentBack: "a later checkpoint claims an earlier time"
        case .unsignedTail(let size): "the log has entries after its newest checkpoint, which covers \(size)"
        case .badInclusion: "the proof that the entry is in the log does not hold"
        case .badConsistency(let old): "the proof that the log of \(old) entries is its beginning does not hold"
        case .witnessDiffers(let size): "a witness saw another log of \(size) entries"
        case .shrunk(let witnessed, let found): "a witness saw \(witnessed) entries in the log, but it has \(found)"
        case .badPrune: "the prune record is not signed by a key you trust, or does not fit the log"
        case .tooEarlyPruned: "entries were pruned before their time"
        }
    }
}
