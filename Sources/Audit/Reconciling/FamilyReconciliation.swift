import Domain

/// Compares the rows of one family with its entries, column by column, and reports each difference.
///
/// Rows may come in any order, except that totals come after points. Rows that the entries record but that did not come
/// are found at the end.
public struct FamilyReconciliation: Sendable {
    let replay: FamilyReplay
    var report = StateReport()
    /// The keys of the rows that the entries record and that have not come yet.
    private var remainingKeys: [StateFinding.Subject: Set<StateKey>] = [:]
    /// The number of membership rows that came and belong to erased people.
    private var membersWithoutPersonCount = 0
    /// The sums of the rows of points that came, for each account whose row of totals has not come yet.
    var uncheckedSums: [UserID: ScoreSums] = [:]
    var droppedPoints = DroppedPoints()
    /// The time before which retention has deleted rows that it does not keep; nil for none.
    let deletedBefore: Timestamp?
    /// The number of the entry that last changed the row under examination, as the row says; nil where the row does not
    /// say.
    var rowLastChangeNumber: Int64?

    private static let subjects: [StateFinding.Subject] = [
        .membership, .relationship, .consent, .nag, .points, .badge, .incentive, .incentiveRule, .constraint, .policy,
        .connection,
    ]

    /// - Parameters:
    ///   - relationships: the keys of the family's relationships by their ids. Entries of admissions do not contain
    ///     these ids.
    ///   - deletedBefore: the time before which retention has deleted points and incentives; nil for none.
    public init(
        _ replay: FamilyReplay, relationships: [ResourceID: StateKey], deletedBefore: Timestamp? = nil
    ) {
        var replay = replay
        replay.addRelationships(relationships)
        self.replay = replay
        self.deletedBefore = deletedBefore
        for subject in Self.subjects { remainingKeys[subject] = Set(replay.rows[subject].keys) }
        report.chainCount = 1
        report.entryCount = replay.entryCount
        if let kind = replay.unknownKinds.min() {
            report.incompleteReason = "this version does not know entries of kind \(kind)"
        }
    }

    /// Compares a row of the database with the entries.
    public mutating func check(_ row: StateRow) {
        report.comparedCount += 1
        rowLastChangeNumber = row.lastChangeNumber
        if row.subject == .points, let user = row.user {
            uncheckedSums[user, default: ScoreSums()].add(ScoreSums(of: row))
        }
        if row.keys.isEmpty {
            if row.subject == .membership { membersWithoutPersonCount += 1 }
            return report.add(.erased)
        }
        if row.subject == .membership, let user = row.user { droppedPoints.memberPseudonyms[user] = row.person }
        let expected = takeExpectedRow(for: row)
        if replay.mayHaveUnreadChange(of: row) { return addLostDetails(row.subject, row.id, of: row.person) }
        if let expected { return compare(row, expected) }
        if row.sourceNag.map(replay.nagsWithUnreadEffects.contains) ?? false {
            return addLostDetails(row.subject, row.id, of: row.person)
        }
        addUnexplained(row)
    }

    /// Returns the expected row of a row of the database, and removes its key from `remainingKeys`; nil where the
    /// entries record no such row, or where another row has come with the same key.
    private mutating func takeExpectedRow(for row: StateRow) -> ExpectedRow? {
        for key in row.keys {
            guard let expected = replay.rows[row.subject][key] else { continue }
            return remainingKeys[row.subject]?.remove(key) != nil || expected.isOptional ? expected : nil
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
            case (.notRecorded(let person), _) where !(person.map(replay.peopleWithLostDetails.contains) ?? false):
                isRecorded = false
            case (.lostDetails(let person), _), (.notRecorded(let person), _):
                if !hasLostDetails { addLostDetails(subject, row.id, of: person) }
                hasLostDetails = true
            case (.person(let expected), .person(nil)): isEqual = expected.map(replay.erasedPeople.contains) ?? true
            case (.people, .people(let people)) where people.contains(nil),
                (.oneOf, .people(let people)) where people.contains(nil):
                report.add(.erased)
            case (.oneOf(let expected), .people(let people)):
                isEqual = people.count == 1 && expected.isSuperset(of: people.compactMap(\.self))
            default: isEqual = found.description == column.value.description
            }
            if isEqual { continue }
            addDifference(subject, row.id, column.name, found.description, column.value.description, column.entryNumber)
        }
        if !isRecorded { report.add(.notRecorded) }
    }

    // MARK: The end

    /// Returns the report, after the last row, with findings about the recorded rows that did not come.
    public mutating func finish() -> StateReport {
        rowLastChangeNumber = nil
        checkErasedMembers()
        for subject in Self.subjects {
            let missing = (remainingKeys[subject] ?? []).compactMap { key in
                replay.rows[subject][key].map { (key, $0) }
            }
            for (key, row) in missing.sorted(by: { $0.1.lastEntryNumber ?? 0 < $1.1.lastEntryNumber ?? 0 }) {
                checkMissing(subject, key, row)
            }
        }
        checkDroppedPoints()
        for user in uncheckedSums.keys { addMissing(.totals, user.description, nil) }
        return report
    }

    /// Reports a recorded row that did not come, unless an erasure, retention or lost details may explain it.
    private mutating func checkMissing(_ subject: StateFinding.Subject, _ key: StateKey, _ row: ExpectedRow) {
        if row.isOptional || key.people.contains(where: replay.erasedPeople.contains) { return }
        if subject == .constraint, replay.hasUnreadConstraints { return }
        if let start = row.retainedFrom, let deletedBefore, start < deletedBefore {
            report.add(.pruned)
            if subject == .points { droppedPoints.add(row) }
            return
        }
        addMissing(subject, row["id"]?.text ?? key.description, row.lastEntryNumber)
    }

    /// Compares the number of membership rows without a person with the number of memberships that the entries record
    /// for erased people. If retention has deleted entries, nothing is compared, because they may be about such
    /// members.
    private mutating func checkErasedMembers() {
        let erased = (remainingKeys[.membership] ?? []).count { key in
            key.people.contains(where: replay.erasedPeople.contains)
        }
        guard replay.lastPrunedNumber == 0, membersWithoutPersonCount != erased else { return }
        addDifference(.membership, "erased", "count", "\(membersWithoutPersonCount)", "\(erased)", nil)
    }

    // MARK: Findings

    /// Adds a finding. It is unproven if an entry that may explain the row was not replayed.
    private mutating func add(_ finding: StateFinding) {
        if let stop = replay.damage.firstUnappliedNumber, rowLastChangeNumber.map({ $0 >= stop }) ?? true {
            report.addUnproven(finding)
        } else {
            report.add(finding)
        }
    }

    /// Reports a row whose entry has lost its details: as a gap if the person was erased, as unproven if the entry
    /// cannot be read.
    /// - Parameter person: the person whom the entry is about; nil where that may be several people.
    mutating func addLostDetails(_ subject: StateFinding.Subject, _ id: String, of person: Pseudonym?) {
        let people = replay.damage.peopleWithUnreadableEntries
        let isDamaged = person.map(people.contains) ?? !people.isEmpty
        if isDamaged { report.addUnproven(finding(subject, id, .unread)) } else { report.add(.erased) }
    }

    /// Reports a row that no entry records: as a gap if retention may have deleted the entry.
    private mutating func addUnexplained(_ row: StateRow) {
        if replay.lastPrunedNumber > 0, row.creationNumber <= replay.lastPrunedNumber {
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
