import Domain

/// One line of an export of the audit log.
public enum ExportRecord: Sendable {
    case header(Header)
    /// The note with a `Prune`: retention has deleted the beginning of a chain.
    case prune(SignedNote)
    /// An entry, with its position in the Merkle log; nil while it has none.
    case entry(AuditEntry, Payload, position: Int64?)
    /// An entry whose hashes have been computed already.
    case prepared(PreparedEntry)
    /// A position of the log whose entry is not in the export.
    case leaf(LogLeafPosition)
    /// A stored root of a perfect subtree; at level 0, the hash of a leaf that does not match its entry.
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
        /// The log's name.
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
        /// Salt and body are deleted.
        case erased
        /// The body cannot be opened: its key is missing, or it was changed.
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
        /// An entry is invalid in its family's chain.
        case chain(ChainVerifier.Fault)
        /// A body cannot be opened although no entry records the erasure of its person.
        case unreadableBody
        /// A body is missing although no entry records the erasure of its person.
        case erasedWithoutRecord
        /// The log has a leaf for an entry that the export lacks.
        case missingEntry
        /// The number of a family's clock, or its hash, is not that of the newest entry of the chain.
        case clockDiffers(clock: Int64, chain: Int64)
        /// A family has entries but no clock.
        case noClock
        /// A family's newest sequenced entry is not the one whose leaf the log has.
        case leafDiffers
        /// A leaf does not come at the next position of the log, which is `expected`.
        case outOfPlace(expected: Int64)
        /// An entry has no position in the log although the exposure window has passed, or although a later entry of
        /// its family has one.
        case neverSequenced
        /// An entry is too much later than the checkpoint that covers it.
        case futureEntry
        /// A listed hash of the tile layout is not the one that its leaves give.
        case nodeDiffers(level: Int)
        /// No trusted key has signed the export's last checkpoint, or that of a witness.
        case untrustedCheckpoint
        /// A checkpoint is another log's.
        case wrongOrigin
        /// The leaves before a checkpoint are not as many as it says, or have another root.
        case rootDiffers(size: Int64)
        /// A checkpoint is earlier or smaller than one before it.
        case clockWentBack
        /// There are leaves after the newest checkpoint, which covers `size` leaves.
        case unsignedTail(size: Int64)
        /// The proof that an entry is in the log is invalid.
        case badInclusion
        /// The proof that the log extends a witness's checkpoint of `old` leaves is invalid.
        case badConsistency(old: Int64)
        /// A witness saw another root for a log of `size` leaves.
        case witnessDiffers(size: Int64)
        /// A witness saw more leaves than the newest checkpoint has, and no later.
        case shrunk(witnessed: Int64, found: Int64)
        /// A prune record is not signed by a trusted key, or does not match the log.
        case badPrune
        /// Entries were pruned before the end of their retention.
        case tooEarlyPruned
    }

    public var family: FamilyID?
    /// The number of the entry in the family's chain; nil where the fault is at no entry.
    public var number: Int64?
    /// The position in the Merkle log at which the fault begins; nil where it has none.
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

    /// The reason as people read it.
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
