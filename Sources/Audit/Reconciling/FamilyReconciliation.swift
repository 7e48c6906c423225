import Domain

/// Compares the rows of one family with its entries, column by column, and reports each difference.
///
/// Rows may come in any order, except that totals come after points. Rows that the entries record but that did not come
/// are found at the end.
public struct FamilyReconciliation: Sendable {
    let replay: FamilyReplay
    var report = StateReport()
    /// The rows that the entries record and that have not come yet.
    private var open: [StateFinding.Subject: Set<StateKey>] = [:]
    private var membersWithoutPerson = 0
    /// The sums of the points that came, for which no totals have come yet.
    var sums: [UserID: ScoreSums] = [:]
    var dropped = DroppedPoints()
    /// The time before which retention has deleted rows that it does not keep; nil for none.
    let retention: Timestamp?
    /// The entry that changed the row under examination last, as the row says; nil where it does not say.
    var lastChange: Int64?

    private static let subjects: [StateFinding.Subject] = [
        .membership, .relationship, .consent, .nag, .points, .badge, .incentive, .incentiveRule, .constraint, .policy,
        .connection,
    ]

    /// - Parameters:
    ///   - relationships: the keys of the family's relationships by their ids. Entries of admissions do not contain
    ///     these ids.
    ///   - retention: the time before which retention has deleted points and incentives; nil for none.
    public init(
        _ replay: FamilyReplay, relationships: [ResourceID: StateKey], deletedBefore retention: Timestamp? = nil
    ) {
        var replay = replay
        replay.addRelationships(relationships)
        self.replay = replay
        self.retention = retention
        for subject in Self.subjects { open[subject] = Set(replay.rows[subject].keys) }
        report.families = 1
        report.entries = replay.entries
        if let kind = replay.unknownKinds.min() {
            report.incomplete = "this version does not know entries of kind \(kind)"
        }
    }

    public mutating func check(_ row: StateRow) {
        report.rows += 1
        lastChange = row.changedBy
        if row.subject == .points, let user = row.user { sums[user, default: ScoreSums()].add(ScoreSums(of: row)) }
        if row.keys.isEmpty {
            if row.subject == .membership { membersWithoutPerson += 1 }
            return report.add(.erased)
        }
        if row.subject == .membership, let user = row.user { dropped.people[user] = row.person }
        let expected = take(row)
        if replay.mayHaveUnreadChange(of: row) { return addLostDetails(row.subject, row.id, of: row.person) }
        if let expected { return compare(row, expected) }
        if row.source.map(replay.unreadEnds.contains) ?? false {
            return addLostDetails(row.subject, row.id, of: row.person)
        }
        addUnknown(row)
    }

    /// Returns what the entries record of the row; nil where they record nothing, or where another row has come as it.
    private mutating func take(_ row: StateRow) -> ExpectedRow? {
        for key in row.keys {
            guard let expected = replay.rows[row.subject][key] else { continue }
            return open[row.subject]?.remove(key) != nil || expected.isOptional ? expected : nil
        }
        return nil
    }

    private mutating func compare(_ row: StateRow, _ expected: ExpectedRow) {
        var (hasLostDetails, isRecorded) = (false, true)
        for column in expected.columns {
            let subject = column.name == StateFinding.pseudonymField ? .account : row.subject
            let found = row.values[column.name] ?? "nothing"
            var isEqual = true
            switch (column.value, found) {
            case (.unknown, _), (_, .unknown): break
            case (.notRecorded(let person), _) where !(person.map(replay.unread.contains) ?? false): isRecorded = false
            case (.lostDetails(let person), _), (.notRecorded(let person), _):
                if !hasLostDetails { addLostDetails(subject, row.id, of: person) }
                hasLostDetails = true
            case (.person(let expected), .person(nil)): isEqual = expected.map(replay.erased.contains) ?? true
            case (.people, .people(let people)) where people.contains(nil),
                (.oneOf, .people(let people)) where people.contains(nil):
                report.add(.erased)
            case (.oneOf(let expected), .people(let people)):
                isEqual = people.count == 1 && expected.isSuperset(of: people.compactMap(\.self))
            default: isEqual = found.description == column.value.description
            }
            if isEqual { continue }
            addDifference(subject, row.id, column.name, found.description, column.value.description, column.number)
        }
        if !isRecorded { report.add(.notRecorded) }
    }

    // MARK: The end

    /// Returns the report, with the entries for which no row came.
    public mutating func finish() -> StateReport {
        lastChange = nil
        finishErasedMembers()
        for subject in Self.subjects {
            let missing = (open[subject] ?? []).compactMap { key in replay.rows[subject][key].map { (key, $0) } }
            for (key, row) in missing.sorted(by: { $0.1.number ?? 0 < $1.1.number ?? 0 }) {
                finish(subject, key, row)
            }
        }
        finishDropped()
        for user in sums.keys { addMissing(.totals, user.description, nil) }
        return report
    }

    private mutating func finish(_ subject: StateFinding.Subject, _ key: StateKey, _ row: ExpectedRow) {
        if row.isOptional || key.people.contains(where: replay.erased.contains) { return }
        if subject == .constraint, replay.hasUnreadConstraints { return }
        if let start = row.retainedFrom, let retention, start < retention {
            report.add(.pruned)
            if subject == .points { dropped.add(row) }
            return
        }
        addMissing(subject, row["id"]?.text ?? key.description, row.number)
    }

    /// Compares the number of membership rows without a person with the number of those that the entries record for
    /// erased people; unless retention has deleted entries, which may be about some of them.
    private mutating func finishErasedMembers() {
        let erased = (open[.membership] ?? []).count { $0.people.contains(where: replay.erased.contains) }
        guard replay.cut == 0, membersWithoutPerson != erased else { return }
        addDifference(.membership, "erased", "count", "\(membersWithoutPerson)", "\(erased)", nil)
    }

    // MARK: Findings

    /// Adds a finding. If the replay stopped before an entry that may explain the row, the finding counts as unproven,
    /// because the entries before that do not prove it.
    private mutating func add(_ finding: StateFinding) {
        if let stop = replay.damage.stop, lastChange.map({ $0 >= stop }) ?? true {
            report.addUnproven(finding)
        } else {
            report.add(finding)
        }
    }

    /// Reports a row whose entry has lost its details: as a gap if the person was erased, as unproven if the entry
    /// cannot be read.
    /// - Parameter person: the person whom the entry is about; nil where that may be several people.
    mutating func addLostDetails(_ subject: StateFinding.Subject, _ id: String, of person: Pseudonym?) {
        let isDamaged = person.map(replay.damage.people.contains) ?? !replay.damage.people.isEmpty
        if isDamaged { report.addUnproven(finding(subject, id, .unread)) } else { report.add(.erased) }
    }

    /// Reports a row that no entry records: as a gap if retention may have deleted the entry.
    private mutating func addUnknown(_ row: StateRow) {
        if replay.cut > 0, row.madeBy <= replay.cut {
            report.add(.pruned)
        } else {
            add(finding(row.subject, row.id, .noEntry))
        }
    }

    private mutating func addMissing(_ subject: StateFinding.Subject, _ id: String, _ number: Int64?) {
        add(finding(subject, id, .noRow, number))
    }

    mutating func addDifference(
        _ subject: StateFinding.Subject, _ id: String, _ field: String, _ found: String, _ expected: String,
        _ number: Int64?
    ) {
        var finding = finding(subject, id, .differs, number)
        (finding.field, finding.found, finding.expected) = (field, found, expected)
        add(finding)
    }

    private func finding(
        _ subject: StateFinding.Subject, _ id: String, _ problem: StateFinding.Problem, _ number: Int64? = nil
    ) -> StateFinding { StateFinding(subject, id, problem, family: replay.family, number: number) }
}
