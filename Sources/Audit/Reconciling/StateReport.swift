import Domain

/// A difference between the database and the audit log, or a fault of the log itself.
public struct StateFinding: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of row or of other state that a finding is about.
    public enum Subject: String, Sendable {
        /// An entry of the audit log.
        case entry
        /// The state of a chain's ledger: the number and the hash of its newest entry.
        case clock
        case membership, relationship, consent, nag
        /// A gamification event.
        case points
        /// The sums of a member's gamification events.
        case totals
        case badge, policy
        /// An account, or its link to a pseudonym.
        case account
        case connection
        /// A version of an incentive rule.
        case incentiveRule = "incentive_rule"
        /// The effect of an incentive rule.
        case incentive
        case constraint = "ai_constraint"
        case administrator
        /// What protects the log: triggers, functions, row policies, rules, constraints and grants.
        case schema
        /// The Merkle log.
        case log
    }

    public enum Problem: String, Sendable {
        /// No entry explains the row.
        case noEntry = "no_entry"
        /// A row that an entry records is missing.
        case noRow = "no_row"
        /// The row differs from its entries.
        case differs
        /// The log itself is invalid here: `found` is the fault, as the verifiers name it.
        case broken
        /// The family could not be replayed from the entry on whose number is the finding's ID.
        case notReplayed = "not_replayed"
        /// An entry that records the row cannot be read.
        case unread
    }

    /// The field of a finding about a person's pseudonym in a row.
    public static let pseudonymField = "pseudonym"

    public var family: FamilyID?
    public var subject: Subject
    /// The row's ID, key or number, or a fact about the schema: never a person's or a family's name.
    public var id: String
    public var problem: Problem
    /// The column that differs.
    public var field: String?
    /// The column's value in the row, or the code of a broken log's fault.
    public var found: String?
    /// The column's value by the entries.
    public var expected: String?
    /// The number of the entry that says otherwise, or at which the log is broken; nil where none is known.
    public var number: Int64?

    public init(
        _ subject: Subject, _ id: String, _ problem: Problem, family: FamilyID?, field: String? = nil,
        found: String? = nil, expected: String? = nil, number: Int64? = nil
    ) {
        self.family = family
        self.subject = subject
        self.id = id
        self.problem = problem
        self.field = field
        self.found = found
        self.expected = expected
        self.number = number
    }

    public var description: String {
        let place = family.map { $0 == FamilyID(high: 0, low: 0) ? "outside families, " : "family \($0), " } ?? ""
        let entry = number.map { " (entry \($0))" } ?? ""
        switch problem {
        case .noEntry: return "\(place)\(subject.rawValue) \(id): no entry explains it"
        case .broken: return "\(place)\(subject.rawValue) \(id): \(found ?? "tampered")"
        case .notReplayed: return "\(place)the log could not be replayed from entry \(id) on"
        case .unread: return "\(place)\(subject.rawValue) \(id): an entry about it cannot be read"
        case .noRow:
            return "\(place)\(subject.rawValue) \(id): the log records it\(entry), but the database lacks it"
        case .differs:
            return "\(place)\(subject.rawValue) \(id): \(field ?? "it") is \(found ?? "nothing"), "
                + "the log says \(expected ?? "nothing")\(entry)"
        }
    }
}

/// The result of a reconciliation, in numbers and with its first findings.
public struct StateReport: Sendable, Hashable {
    /// A reason for which the log cannot tell whether a row is correct. It is not a finding.
    public enum Gap: String, Sendable, CaseIterable {
        /// The entries' details were erased with the person.
        case erased
        /// Retention has deleted the entries.
        case pruned
        /// The entries were written before the log recorded this detail.
        case notRecorded = "not_told"
    }

    /// The maximum number of findings in `findings`, and in `unprovenFindings`; the counts include all.
    public static let maxListedFindings = 100

    /// The number of chains: those of families and connections, and the one outside both.
    public var chainCount: Int64 = 0
    /// The number of entries that were replayed.
    public var entryCount: Int64 = 0
    /// The number of rows, leaves of the tree and facts about the schema that were compared.
    public var comparedCount: Int64 = 0
    public private(set) var gaps: [Gap: Int64] = [:]
    public private(set) var findings: [StateFinding] = []
    /// The number of findings, without the unproven ones.
    public private(set) var findingCount: Int64 = 0
    /// Findings that the log does not prove, because the entries that would prove them are invalid or unreadable. The
    /// state may be correct: other findings say where the log is damaged.
    public private(set) var unprovenFindings: [StateFinding] = []
    public private(set) var unprovenCount: Int64 = 0
    /// The reason for which not everything could be compared; nil when it was.
    public var incompleteReason: String?

    public init() {}

    public mutating func add(_ finding: StateFinding) {
        findingCount += 1
        if findings.count < Self.maxListedFindings { findings.append(finding) }
    }

    public mutating func addUnproven(_ finding: StateFinding) {
        unprovenCount += 1
        if unprovenFindings.count < Self.maxListedFindings { unprovenFindings.append(finding) }
    }

    public mutating func add(_ gap: Gap, _ count: Int64 = 1) { gaps[gap, default: 0] += count }

    public mutating func merge(_ other: StateReport) {
        chainCount += other.chainCount
        entryCount += other.entryCount
        comparedCount += other.comparedCount
        for (gap, count) in other.gaps { add(gap, count) }
        findings += other.findings.prefix(max(0, Self.maxListedFindings - findings.count))
        findingCount += other.findingCount
        unprovenFindings += other.unprovenFindings.prefix(max(0, Self.maxListedFindings - unprovenFindings.count))
        unprovenCount += other.unprovenCount
        incompleteReason = incompleteReason ?? other.incompleteReason
    }

    /// The result in one word: `unexplained` if there are findings; otherwise `incomplete` if not everything could be
    /// compared, and `explained` if it was. Unproven findings do not count.
    public var verdict: String {
        findingCount > 0 ? "unexplained" : incompleteReason == nil ? "explained" : "incomplete"
    }
}
