import Audit
import Domain

/// Verifies every entry of one family's chain, and replays the chain up to the first invalid entry.
///
/// An entry of which only the body is damaged is replayed without its body, like an entry about an erased person. After
/// an invalid entry the verification continues from that entry as it is stored, so that one fault does not hide
/// another.
struct ChainScan {
    let family: FamilyID
    /// The sequence number of the last entry that retention deleted; 0 if it has deleted none.
    let lastPrunedNumber: Int64
    private(set) var replay: FamilyReplay
    private var chain: ChainVerifier
    /// The findings about the chain and the accounts it opened.
    private var findings = StateReport()
    /// The sequence number of the first entry without a leaf, after the last one with a leaf; nil if there is none.
    private var firstUnsequenced: Int64?
    /// For each person the first entry about them of which the body is missing or unreadable.
    private var bodilessEntries: [Pseudonym: (number: Int64, code: String)] = [:]
    /// Whether a sealed body was found: all later ones must be sealed too.
    private var hasSealedBody = false
    /// The first 8 bytes of each commitment: no two entries may have the same, since each has a salt of its own.
    private var commitmentPrefixes: Set<UInt64> = []
    /// People whose accounts are missing, and the entries that opened these.
    private var peopleWithoutAccount: [Pseudonym: Int64] = [:]

    init(_ family: FamilyID, _ prune: Prune?) {
        self.family = family
        lastPrunedNumber = prune?.lastNumber ?? 0
        replay = FamilyReplay(family: family, lastPrunedNumber: lastPrunedNumber)
        chain =
            prune.map { ChainVerifier(family: family, after: $0.lastNumber, head: $0.lastHash) }
            ?? ChainVerifier(family: family)
    }

    /// The sequence number of the last entry read. Before the first entry it is below every number, so that numbers
    /// below 1 are found.
    var lastNumber: Int64 { chain.lastNumber == 0 ? .min : chain.lastNumber }

    /// Verifies and replays the next entry.
    /// - Parameters:
    ///   - leaf: the hash of the entry's leaf in the log; nil if the log does not contain the entry.
    ///   - isSealed: whether its body is sealed; nil if it has none.
    /// - Returns: the entry's body; nil if it is erased, unreadable or not valid.
    mutating func verifyAndReplay(_ prepared: PreparedEntry, leaf: [UInt8]?, isSealed: Bool?) -> AuditBody? {
        let entry = prepared.entry
        let person = entry.act.subject ?? entry.act.actor
        var lostBody: String?
        do throws(ChainVerifier.Fault) {
            try chain.check(prepared)
        } catch {
            if case .alteredBody = error {
                lostBody = AuditFinding(.chain(error)).code
            } else {
                recordInvalidEntry(error, entry)
            }
            // The verification continues from the entry as it is stored.
            chain = ChainVerifier(family: family, after: entry.number, head: entry.hash)
        }
        checkLeaf(leaf, of: entry)
        // Only the master key's owner can seal, and a body cannot be used twice without its commitment.
        if isSealed == false, hasSealedBody { lostBody = lostBody ?? "unsealed_body" }
        hasSealedBody = hasSealedBody || isSealed == true
        let prefix = entry.act.commitment.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        if !commitmentPrefixes.insert(prefix).inserted { lostBody = lostBody ?? "copied_body" }
        var body: AuditBody?
        switch prepared.payload {
        case .whole(_, let bytes): body = AuditBody(canonical: bytes)
        case .erased: bodilessEntries[person] = bodilessEntries[person] ?? (entry.number, "erased_without_record")
        case .unreadable: bodilessEntries[person] = bodilessEntries[person] ?? (entry.number, "unreadable_body")
        }
        if let lostBody {
            addDamage(lostBody, entry.number)
            replay.damage.recordUnreadableEntry(about: person)
            body = nil
        }
        if replay.damage.firstUnappliedNumber == nil { replay.apply(entry, body) }
        return body
    }

    /// Compares an entry with its leaf in the log. A difference shows that the entry was rewritten after it was logged.
    private mutating func checkLeaf(_ leaf: [UInt8]?, of entry: Audit.AuditEntry) {
        guard let leaf else {
            firstUnsequenced = firstUnsequenced ?? entry.number
            return
        }
        if let firstUnsequenced { addDamage("never_sequenced", firstUnsequenced) }
        firstUnsequenced = nil
        guard leaf != LogLeaf(family: family, number: entry.number, entryHash: entry.hash).hash else { return }
        addDamage("leaf_differs", entry.number)
        replay.damage.recordStop(at: entry.number)
    }

    /// Records that an entry does not continue the chain, so that neither this entry nor a later one is replayed.
    private mutating func recordInvalidEntry(_ fault: ChainVerifier.Fault, _ entry: Audit.AuditEntry) {
        addDamage(AuditFinding(.chain(fault)).code, entry.number)
        replay.damage.recordStop(at: entry.number)
    }

    /// Compares the account that an entry opened with the account that the person has now.
    /// - Parameters:
    ///   - user: the account that the entry names; nil in old entries, which name none.
    ///   - account: the account that the person has now; nil if there is none.
    mutating func compareAccount(
        _ person: Pseudonym, _ user: String?, _ number: Int64, currentAccount account: UserID?
    ) {
        findings.comparedCount += 1
        guard let account else {
            peopleWithoutAccount[person] = number
            return
        }
        guard let user else { return findings.add(.notRecorded) }
        guard user != account.description else { return }
        var finding = StateFinding(.account, account.description, .differs, family: family, number: number)
        (finding.field, finding.found, finding.expected) = ("pseudonym", account.description, user)
        findings.add(finding)
    }

    /// Compares the end of the chain with the family's clock, and adds findings about bodies that are missing without a
    /// record of an erasure.
    /// - Parameters:
    ///   - clock: the sequence number in the clock; nil if the family has no clock.
    ///   - head: the hash in the clock.
    mutating func checkEnd(clock: Int64?, head: [UInt8]?) {
        if clock == nil {
            findings.add(StateFinding(.clock, family.description, .noRow, family: family))
        } else if clock != chain.lastNumber || head != chain.head {
            var differing = StateFinding(.clock, family.description, .differs, family: family)
            (differing.field, differing.found) = (clock == chain.lastNumber ? "head" : "seq", "\(clock ?? 0)")
            differing.expected = "\(chain.lastNumber)"
            findings.add(differing)
            if let clock, clock > chain.lastNumber { recordMissingEnd() }
        }
        for (person, entry) in bodilessEntries.sorted(by: { $0.value.number < $1.value.number })
        where !replay.isErased(person) {
            addDamage(entry.code, entry.number)
            replay.damage.recordUnreadableEntry(about: person)
        }
    }

    /// Records that entries are missing after the last one that was read.
    mutating func recordMissingEnd() { replay.damage.recordStop(at: chain.lastNumber + 1) }

    /// Adds a finding about an entry.
    /// - Parameter code: the verifiers' name of the fault.
    mutating func addDamage(_ code: String, _ number: Int64) {
        findings.add(StateFinding(.entry, "\(number)", .broken, family: family, found: code, number: number))
    }

    /// Returns the findings about the chain and the accounts it opened.
    func makeReport() -> StateReport {
        var report = findings
        if let stop = replay.damage.firstUnappliedNumber {
            report.addUnproven(StateFinding(.entry, "\(stop)", .notReplayed, family: family, number: stop))
        }
        for (person, number) in peopleWithoutAccount.sorted(by: { $0.value < $1.value })
        where !replay.isErased(person) {
            report.add(StateFinding(.account, person.description, .noRow, family: family, number: number))
        }
        return report
    }
}
