import Domain

/// The points that retention has deleted.
struct DroppedPoints: Sendable {
    /// The sums of the deleted points by account, as the account's row of totals states them.
    var claimedSums: [UserID: ScoreSums] = [:]
    /// The sums of the points that the audit log records for each person and that have no row any more.
    var recordedSums: [Pseudonym: ScoreSums] = [:]
    /// The pseudonyms of the family's members, by account.
    var memberPseudonyms: [UserID: Pseudonym] = [:]

    mutating func add(_ row: ExpectedRow) {
        guard case .person(let person?) = row["user"] else { return }
        recordedSums[person, default: ScoreSums()].add(ScoreSums(of: { row[$0]?.text }))
    }
}

extension FamilyReconciliation {
    /// Compares the sums of a member with the sums of the member's points: those whose rows came before, and those that
    /// retention has deleted.
    public mutating func check(_ row: TotalsRow) {
        report.comparedCount += 1
        // The rows of points prove the sums, so a difference is a finding even if the replay stopped.
        rowLastChangeNumber = 0
        var expected = uncheckedSums.removeValue(forKey: row.user) ?? ScoreSums()
        expected.add(row.droppedSums)
        if row.droppedSums != ScoreSums() { droppedPoints.claimedSums[row.user] = row.droppedSums }
        compareSums(row.user, "", row.sums, expected)
    }

    /// Compares the deleted points that the totals claim with those that the entries record. A difference is a gap if
    /// retention has deleted entries too. If entries about the person have lost their details, it is a gap or unproven.
    mutating func checkDroppedPoints() {
        for (user, person) in droppedPoints.memberPseudonyms {
            let claimed = droppedPoints.claimedSums[user] ?? ScoreSums()
            let recorded = droppedPoints.recordedSums[person] ?? ScoreSums()
            if claimed == recorded { continue }
            if replay.lastPrunedNumber > 0 {
                report.add(.pruned)
            } else if replay.peopleWithLostDetails.contains(person) {
                addLostDetails(.totals, user.description, of: person)
            } else {
                compareSums(user, "dropped_", claimed, recorded)
            }
        }
    }

    private mutating func compareSums(_ user: UserID, _ prefix: String, _ found: ScoreSums, _ expected: ScoreSums) {
        for (name, sum) in ScoreSums.columns where found[keyPath: sum] != expected[keyPath: sum] {
            addDifference(
                .totals, user.description, prefix + name, "\(found[keyPath: sum])", "\(expected[keyPath: sum])", nil)
        }
    }
}

extension ScoreSums {
    fileprivate static var columns: [(name: String, sum: KeyPath<ScoreSums, Int64>)] {
        [("points", \.points), ("streak", \.streak), ("events", \.events), ("completions", \.completions)]
    }

    /// Creates the sums of the one gamification event of a row.
    init(of row: StateRow) {
        self.init(of: { if case .text(let text) = row.values[$0] { text } else { nil } })
    }

    fileprivate init(of text: (_ column: String) -> String?) {
        self.init(
            points: text("delta_points").flatMap { Int64($0) } ?? 0,
            streak: text("streak_delta").flatMap { Int64($0) } ?? 0, events: 1,
            completions: text("is_completion") == "true" ? 1 : 0)
    }
}
