import Domain

/// The points that retention has deleted.
struct DroppedPoints: Sendable {
    /// The sums of each member's deleted points that the member's row of totals claims.
    var claimed: [UserID: ScoreSums] = [:]
    /// The sums of each person's deleted points that the audit log proves: of its entries about points without a row.
    var recorded: [Pseudonym: ScoreSums] = [:]
    var people: [UserID: Pseudonym] = [:]

    mutating func add(_ row: ExpectedRow) {
        guard case .person(let person?) = row["user"] else { return }
        recorded[person, default: ScoreSums()].add(ScoreSums(of: { row[$0]?.text }))
    }
}

extension FamilyReconciliation {
    /// Compares the sums of a member with the points that came before, and with those that retention has deleted.
    public mutating func check(_ row: TotalsRow) {
        report.rows += 1
        // The points prove it, not the log.
        lastChange = 0
        var expected = sums.removeValue(forKey: row.user) ?? ScoreSums()
        expected.add(row.dropped)
        if row.dropped != ScoreSums() { dropped.claimed[row.user] = row.dropped }
        compareSums(row.user, "", row.sums, expected)
    }

    /// Compares what the sums count of deleted points with the entries, as far as there are any.
    mutating func finishDropped() {
        for (user, person) in dropped.people {
            let (claimed, recorded) = (dropped.claimed[user] ?? ScoreSums(), dropped.recorded[person] ?? ScoreSums())
            if claimed == recorded { continue }
            if replay.cut > 0 {
                report.add(.pruned)
            } else if replay.unread.contains(person) {
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
    fileprivate static var columns: [(String, KeyPath<ScoreSums, Int64>)] {
        [("points", \.points), ("streak", \.streak), ("events", \.events), ("completions", \.completions)]
    }

    /// The sums of one gamification event.
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
