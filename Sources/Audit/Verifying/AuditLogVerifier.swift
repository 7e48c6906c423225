import Domain

/// Verifies an export of the audit log record by record and stops at the first invalid one.
///
/// It stores no entries: it keeps the state of each family's chain, the people whose bodies are missing, and a few
/// hashes for each level of the tree. It trusts the keys it was given and those to which a trusted key has handed over,
/// and nothing that the export claims itself.
public struct AuditLogVerifier {
    /// The result of a verification.
    public enum Verdict: Sendable {
        case sound
        case tampered(AuditFinding)
        /// Nothing invalid was found, but something could not be checked; the text is the reason.
        case incomplete(String)
    }

    /// The limits within which an audit log is valid.
    public struct Policy: Sendable {
        /// The longest time for which an entry may be without a position in the log.
        public var exposureWindow = Timestamp.Span.seconds(5)
        /// The maximum time by which an entry may be later than the checkpoint that covers it.
        public var largestClockLead = Timestamp.Span.minutes(11)
        /// The minimum age of entries at the time when they are pruned.
        public var retention = Prune.retention
        /// The maximum age of the newest checkpoint when the export is created.
        public var largestCheckpointAge = Timestamp.Span.minutes(11)

        public init() {}
    }

    public private(set) var entryCount: Int64 = 0
    /// The number of entries without a position in the log, which no checkpoint covers yet.
    public private(set) var unsignedCount: Int64 = 0
    /// The number of bodies that are erased or cannot be read.
    public private(set) var missingBodyCount: Int64 = 0
    /// The checkpoint that was read last, of those that a trusted key has signed.
    public private(set) var newestCheckpoint: Checkpoint?

    private let policy: Policy
    private var trustedKeys: TrustedKeys
    private let witnesses: [SignedNote]
    private var header: ExportRecord.Header?
    private var chains: [FamilyID: Chain] = [:]
    private var treeSize: Int64 = 0
    /// The hashes that the tree has completed and the export has not listed yet, by level and position.
    private var expectedNodes: [Int: [Int64: [UInt8]]] = [:]
    /// The last, incomplete tile of each level.
    private var levels: [MerkleFrontier] = Array(repeating: MerkleFrontier(), count: Tile.levelCount)
    private var newestCheckpointTime = Timestamp(microseconds: .min)
    /// The sizes of the witnessed checkpoints that this log is proven to extend.
    private var consistentSizes: Set<Int64> = []
    /// Whether the last line was read, and the export has no fewer entries than that line says.
    private var isAtEnd = false
    /// Whether the export gives the clock of every family that has one.
    private var hasAllClocks = false
    /// Whether no trusted key signed the checkpoint that was read last.
    private var isLastCheckpointUntrusted = false
    /// The checkpoints of the witnesses by size, empty until the header was read: the keys are known only then.
    private var witnessedCheckpoints: [Int64: Checkpoint] = [:]

    private struct Chain {
        var verifier: ChainVerifier
        /// The number of the last entry that retention deleted, and its hash; 0 where it deleted none.
        var lastPrunedNumber: Int64 = 0
        var lastPrunedHash: [UInt8] = []
        /// The number of the newest entry with a position in the log, and its hash.
        var lastSequencedNumber: Int64 = 0
        var lastSequencedHash: [UInt8] = []
        /// Whether an entry without a position has been read, after which no entry may have one.
        var hasPendingEntry = false
        /// For each person, the number of the first entry whose body is erased.
        var firstErasedNumbers: [Pseudonym: Int64] = [:]
        /// For each person, the number of the first entry whose body cannot be read.
        var firstUnreadableNumbers: [Pseudonym: Int64] = [:]
        /// The people of whom an entry records the erasure.
        var erasedPeople: Set<Pseudonym> = []
        var hasClock = false

        /// Verifies the family's next entry, and updates the state of the chain.
        mutating func append(_ prepared: PreparedEntry) throws(AuditFinding) {
            let entry = prepared.entry
            do throws(ChainVerifier.Fault) {
                try verifier.check(prepared)
            } catch {
                var finding = AuditFinding(
                    .chain(error), family: entry.family, number: entry.number, position: prepared.position)
                // The finding names the entry that should be here.
                if case .outOfOrder(let expected, _) = error { finding.number = expected }
                throw finding
            }
            switch prepared.payload {
            case .whole: break
            case .erased: firstErasedNumbers[entry.act.subject ?? entry.act.actor, default: entry.number] += 0
            case .unreadable: firstUnreadableNumbers[entry.act.subject ?? entry.act.actor, default: entry.number] += 0
            }
            if let person = entry.act.subject, entry.act.kind == AuditKind.personErased.rawValue {
                erasedPeople.insert(person)
            }
            guard prepared.position != nil else {
                hasPendingEntry = true
                return
            }
            guard !hasPendingEntry else {
                throw AuditFinding(.neverSequenced, family: entry.family, number: lastSequencedNumber + 1)
            }
            (lastSequencedNumber, lastSequencedHash) = (entry.number, entry.hash)
        }
    }

    /// - Parameters:
    ///   - pinned: keys that did not come from the export.
    ///   - witnesses: signed checkpoints that witnesses have stored.
    public init(pinned: [VerifierKey], witnesses: [SignedNote] = [], policy: Policy = Policy()) {
        trustedKeys = TrustedKeys(pinned: pinned)
        self.witnesses = witnesses
        self.policy = policy
    }

    /// Verifies the next record.
    public mutating func check(_ record: ExportRecord) throws(AuditFinding) {
        switch record {
        case .header(let header): try begin(header)
        case .prune(let note): try check(prune: note)
        case .entry(let entry, let payload, let position):
            try check(PreparedEntry(entry, payload, position: position))
        case .prepared(let prepared): try check(prepared)
        case .leaf(let leaf): try checkPrunedLeaf(leaf)
        case .node(let level, let position, let hash):
            guard expectedNodes[level]?.removeValue(forKey: position) == hash else {
                throw AuditFinding(.nodeDiffers(level: level), position: position << Int64(min(8 * level, 62)))
            }
        case .checkpoint(let note): try check(checkpoint: note)
        case .inclusion(let leaf, let size, let path): try checkInclusion(leaf, size, path)
        case .consistency(let old, let new, let path): try checkConsistency(old, new, path)
        case .clock(let family, let number, let head): try check(clock: family, number, head)
        case .end(let count, let clocks):
            isAtEnd = count <= entryCount
            hasAllClocks = clocks != nil
        }
    }

    // MARK: Header and prunes

    private mutating func begin(_ header: ExportRecord.Header) throws(AuditFinding) {
        trustedKeys.acceptHandovers(header.handovers)
        self.header = header
        for note in witnesses {
            guard let checkpoint = trustedKeys.checkpoint(in: note) else { throw AuditFinding(.untrustedCheckpoint) }
            guard checkpoint.origin == header.origin else { throw AuditFinding(.wrongOrigin) }
            // Two witnesses saw different logs of the same length.
            if let other = witnessedCheckpoints[checkpoint.size], other.root != checkpoint.root {
                throw AuditFinding(.witnessDiffers(size: checkpoint.size))
            }
            witnessedCheckpoints[checkpoint.size] = checkpoint
        }
        if let empty = witnessedCheckpoints[0], empty.root != MerkleHash.empty {
            throw AuditFinding(.witnessDiffers(size: 0))
        }
    }

    private mutating func check(prune note: SignedNote) throws(AuditFinding) {
        guard let prune = Prune(text: note.text) else { throw AuditFinding(.badPrune) }
        let finding = AuditFinding(.badPrune, family: prune.family, number: prune.lastNumber)
        guard trustedKeys.hasSigner(of: note), prune.origin == header?.origin, entryCount == 0
        else {
            throw finding
        }
        guard prune.time - prune.lastTime >= policy.retention else {
            throw AuditFinding(.tooEarlyPruned, family: prune.family, number: prune.lastNumber)
        }
        if let known = chains[prune.family], known.lastPrunedNumber >= prune.lastNumber { return }
        var chain = Chain(verifier: ChainVerifier(family: prune.family, after: prune.lastNumber, head: prune.lastHash))
        (chain.lastPrunedNumber, chain.lastPrunedHash) = (prune.lastNumber, prune.lastHash)
        if header?.family != nil {
            (chain.lastSequencedNumber, chain.lastSequencedHash) = (prune.lastNumber, prune.lastHash)
        }
        chains[prune.family] = chain
    }

    // MARK: Entries

    private mutating func check(_ prepared: PreparedEntry) throws(AuditFinding) {
        let (entry, position) = (prepared.entry, prepared.position)
        if let family = header?.family, family != entry.family {
            throw AuditFinding(.chain(.foreignFamily(number: entry.number)), family: family, number: entry.number)
        }
        try chains[entry.family, default: Chain(verifier: ChainVerifier(family: entry.family))].append(prepared)
        if case .whole = prepared.payload {} else { missingBodyCount += 1 }
        if let position {
            if header?.family == nil { try appendLeaf(prepared.leafHash, at: position, (entry.family, entry.number)) }
        } else if let made = header?.madeAt, made - entry.at > policy.exposureWindow {
            throw AuditFinding(.neverSequenced, family: entry.family, number: entry.number)
        }
        if let newest = newestCheckpoint, position.map({ $0 < newest.size }) ?? false,
            entry.at > newest.time + policy.largestClockLead
        {
            throw AuditFinding(.futureEntry, family: entry.family, number: entry.number)
        }
        entryCount += 1
        if position == nil { unsignedCount += 1 }
    }

    /// Verifies that a family's clock has the number and the hash of its newest entry.
    private mutating func check(clock family: FamilyID, _ number: Int64, _ head: [UInt8]) throws(AuditFinding) {
        let last = chains[family]?.verifier.lastNumber ?? 0
        guard number == last, head == chains[family]?.verifier.head ?? AuditEntry.genesisHash else {
            throw AuditFinding(
                .clockDiffers(clock: number, chain: last), family: family, number: min(number, last) + 1)
        }
        chains[family]?.hasClock = true
    }

    /// Verifies a leaf whose entry retention has deleted.
    private mutating func checkPrunedLeaf(_ leaf: LogLeafPosition) throws(AuditFinding) {
        guard let chain = chains[leaf.family], leaf.number <= chain.lastPrunedNumber else {
            throw AuditFinding(.missingEntry, family: leaf.family, number: leaf.number, position: leaf.position)
        }
        if leaf.number == chain.lastPrunedNumber {
            let pruned = LogLeaf(family: leaf.family, number: chain.lastPrunedNumber, entryHash: chain.lastPrunedHash)
            guard pruned.hash == leaf.hash else {
                throw AuditFinding(.badPrune, family: leaf.family, number: leaf.number, position: leaf.position)
            }
        }
        try appendLeaf(leaf.hash, at: leaf.position, (leaf.family, leaf.number))
    }

    /// Adds the next leaf to the tree. If a witness saw the log at the new size, compares the roots.
    private mutating func appendLeaf(
        _ hash: [UInt8], at position: Int64, _ leaf: (family: FamilyID, number: Int64)
    ) throws(AuditFinding) {
        guard position == treeSize else {
            throw AuditFinding(
                .outOfPlace(expected: treeSize), family: leaf.family, number: leaf.number, position: position)
        }
        treeSize += 1
        var (level, node) = (0, hash)
        while true {
            levels[level].append(node)
            guard levels[level].size == Tile.width, level < Tile.levelCount - 1 else { break }
            node = levels[level].root
            levels[level] = MerkleFrontier()
            level += 1
            expectedNodes[level, default: [:]][treeSize / Self.leafCount(level) - 1] = node
        }
        if let witness = witnessedCheckpoints[treeSize] {
            guard witness.root == treeRoot else {
                throw AuditFinding(.witnessDiffers(size: treeSize), position: position)
            }
            consistentSizes.insert(treeSize)
        }
    }

    /// The root over all leaves so far, from the subtrees of all levels, largest first.
    private var treeRoot: [UInt8] {
        var roots = levels.reversed().flatMap(\.roots)
        guard var hash = roots.popLast() else { return MerkleHash.empty }
        while let left = roots.popLast() { hash = MerkleHash.node(left, hash) }
        return hash
    }

    /// Returns the number of leaves below a node.
    private static func leafCount(_ level: Int) -> Int64 { 1 << Int64(min(8 * level, 62)) }

    // MARK: Checkpoints and proofs

    private mutating func check(checkpoint note: SignedNote) throws(AuditFinding) {
        guard let checkpoint = trustedKeys.checkpoint(in: note) else {
            // Keys are rotated. It suffices that a later, trusted checkpoint covers this one.
            isLastCheckpointUntrusted = true
            return
        }
        isLastCheckpointUntrusted = false
        guard checkpoint.origin == header?.origin else { throw AuditFinding(.wrongOrigin) }
        guard checkpoint.time >= newestCheckpointTime, checkpoint.size >= newestCheckpoint?.size ?? 0 else {
            throw AuditFinding(.clockWentBack, position: checkpoint.size)
        }
        if header?.family == nil {
            guard checkpoint.size == treeSize, checkpoint.root == treeRoot else {
                throw AuditFinding(.rootDiffers(size: checkpoint.size), position: checkpoint.size)
            }
        }
        if let witness = witnessedCheckpoints[checkpoint.size] {
            guard witness.root == checkpoint.root else {
                throw AuditFinding(.witnessDiffers(size: checkpoint.size))
            }
            consistentSizes.insert(checkpoint.size)
        }
        (newestCheckpoint, newestCheckpointTime) = (checkpoint, checkpoint.time)
    }

    /// Verifies that the newest checkpoint's log contains a leaf, and that the leaf is that of its family's newest
    /// sequenced entry.
    private mutating func checkInclusion(
        _ leaf: LogLeafPosition, _ size: Int64, _ path: [[UInt8]]
    ) throws(AuditFinding) {
        let finding = AuditFinding(
            .badInclusion, family: leaf.family, number: leaf.number, position: leaf.position)
        guard let newest = newestCheckpoint, newest.size == size,
            MerkleProof.root(including: leaf.hash, at: leaf.position, size: size, path: path) == newest.root
        else { throw finding }
        // The leaf must be that of the family's newest sequenced entry. If it has a later number, an entry is missing.
        guard let chain = chains[leaf.family], chain.lastSequencedNumber == leaf.number else {
            if leaf.number > chains[leaf.family]?.lastSequencedNumber ?? 0 {
                throw AuditFinding(
                    .missingEntry, family: leaf.family, number: (chains[leaf.family]?.lastSequencedNumber ?? 0) + 1)
            }
            throw finding
        }
        let head = chain.lastSequencedHash
        guard LogLeaf(family: leaf.family, number: leaf.number, entryHash: head).hash == leaf.hash else {
            throw AuditFinding(.leafDiffers, family: leaf.family, number: leaf.number, position: leaf.position)
        }
        provenFamilies.insert(leaf.family)
    }

    /// The families whose newest sequenced entry is proven to be in the log.
    private var provenFamilies: Set<FamilyID> = []

    private mutating func checkConsistency(_ old: Int64, _ new: Int64, _ path: [[UInt8]]) throws(AuditFinding) {
        guard let witness = witnessedCheckpoints[old], let newest = newestCheckpoint, newest.size == new else { return }
        guard
            MerkleProof.isConsistent(
                old: old, oldRoot: witness.root, new: new, newRoot: newest.root, path: path)
        else { throw AuditFinding(.badConsistency(old: old)) }
        consistentSizes.insert(old)
    }

    // MARK: The end

    /// Returns the result, after the last record.
    public func verdict() -> Verdict {
        guard let header else { return .incomplete("there is no header: this is not an export, or not its beginning") }
        if let finding = findBodyWithoutErasure() { return .tampered(finding) }
        guard isAtEnd else { return .incomplete("the export is truncated: its last line is missing") }
        if isLastCheckpointUntrusted { return .tampered(AuditFinding(.untrustedCheckpoint)) }
        if hasAllClocks, let family = chains.filter({ !$0.value.hasClock }).keys.min() {
            return .tampered(AuditFinding(.noClock, family: family))
        }
        guard let newest = newestCheckpoint else {
            return .incomplete("there is no checkpoint: no key proves the entries")
        }
        if header.family == nil, treeSize != newest.size {
            return .tampered(AuditFinding(.unsignedTail(size: newest.size), position: newest.size))
        }
        if expectedNodes.values.contains(where: { !$0.isEmpty }) {
            return .incomplete("hashes that the log must keep are missing")
        }
        if let highest = witnessedCheckpoints.values.max(by: { $0.size < $1.size }), highest.size > newest.size {
            return highest.time <= newest.time
                ? .tampered(AuditFinding(.shrunk(witnessed: highest.size, found: newest.size)))
                : .incomplete(
                    "a witness saw the log at \(highest.size) entries, this export at \(newest.size): export again")
        }
        if let unprovenSize = witnessedCheckpoints.keys.filter({ $0 > 0 && !consistentSizes.contains($0) }).min() {
            return .incomplete(
                "nothing shows that the log a witness saw at \(unprovenSize) entries is the beginning of this one")
        }
        if let family = header.family, let chain = chains[family], chain.lastSequencedNumber > 0,
            !provenFamilies.contains(family)
        {
            return .incomplete("the family's newest entry is not proven to be in the log")
        }
        if entryCount > 0, entryCount == unsignedCount {
            return .incomplete("no signature covers the entries yet: export again in a few seconds")
        }
        if header.madeAt - newest.time > policy.largestCheckpointAge {
            return .incomplete("the newest checkpoint is much older than the export")
        }
        return .sound
    }

    /// Returns a finding about a body that is missing or unreadable although no entry records the erasure of its
    /// person: the first one in the first such chain; nil where there is none.
    private func findBodyWithoutErasure() -> AuditFinding? {
        for (family, chain) in chains.sorted(by: { $0.key < $1.key }) {
            let missing = chain.firstErasedNumbers.filter { !chain.erasedPeople.contains($0.key) }.values.min()
            let unreadable = chain.firstUnreadableNumbers.filter { !chain.erasedPeople.contains($0.key) }.values.min()
            if let number = unreadable, number <= missing ?? .max {
                return AuditFinding(.unreadableBody, family: family, number: number)
            }
            if let number = missing { return AuditFinding(.erasedWithoutRecord, family: family, number: number) }
        }
        return nil
    }
}
