import Domain

/// The parts of people's points that retention has deleted.
struct DroppedPoints: Sendable {
    /// The deleted points by the rows of the sums.
    var claimed: [UserID: ScoreSums] = [:]
    /// The deleted points by the entries whose rows are missing.
    var recorded: [Pseudonym: ScoreSums] = [:]
    var people: [UserID: Pseudonym] = [:]
}

extension FamilyReconciliation {
    /// Reports an entry that records points but has no row: as a gap if it is so old that retention has deleted the
    /// row.
    mutating func checkMissingPoints(
        _ id: String, _ sums: ScoreSums, of person: Pseudonym?, at moment: Timestamp, _ number: Int64
    ) {
        guard let retention, moment < retention else { return addMissing(.points, id, number) }
        report.add(.pruned)
        if let person { dropped.recorded[person, default: ScoreSums()].add(sums) }
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
                compare(.totals, user.description, "dropped_points", "\(claimed.points)", "\(recorded.points)", nil)
                compare(.totals, user.description, "dropped_streak", "\(claimed.streak)", "\(recorded.streak)", nil)
                compare(.totals, user.description, "dropped_events", "\(claimed.events)", "\(recorded.events)", nil)
                compare(
                    .totals, user.description, "dropped_completions", "\(claimed.completions)",
                    "\(recorded.completions)", nil)
            }
        }
    }
}
