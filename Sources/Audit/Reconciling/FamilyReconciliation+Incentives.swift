import Domain

/// The effects of incentive rules that entries record, and for which no row has come yet.
struct OpenIncentives: Sendable {
    /// Gamification events that rules caused.
    var bonuses: Set<ResourceID>
    var events: Set<ResourceID>
    /// Versions by rule.
    var rules: [ResourceID: Int]

    init(_ replay: FamilyReplay) {
        bonuses = Set(replay.incentives.filter { $0.value.isApplied }.keys)
        events = Set(replay.incentives.keys)
        rules = replay.incentiveRules.mapValues(\.count)
    }
}

extension FamilyReconciliation {
    /// Checks a gamification event that a rule caused.
    /// - Returns: false when no rule caused it.
    mutating func checkBonus(_ row: ScoreRow) -> Bool {
        let id: ResourceID = row.id.retyped()
        if replay.unreadIncentives.contains(id) {
            addLostDetails(.points, row.id.description, of: row.person)
            return true
        }
        guard let told = replay.incentives[id], told.isApplied else { return false }
        openIncentives.bonuses.remove(id)
        let text = row.id.description
        compare(.points, text, "nag", row.nag?.description ?? "none", told.nag?.description ?? "none", told.number)
        compare(person: row.person, told.person, .points, text, "user", told.number)
        compare(.points, text, "sync_seq", "\(row.madeBy)", "\(told.number)", told.number)
        compare(.points, text, "delta_points", "\(row.points)", "\(told.note.terms.points)", told.number)
        compare(.points, text, "streak_delta", "\(row.streakDelta)", "0", told.number)
        compare(.points, text, "is_completion", "\(row.isCompletion)", "false", told.number)
        return true
    }

    mutating func check(_ row: IncentiveRow) {
        let (id, text): (ResourceID, String) = (row.id.retyped(), row.id.description)
        openIncentives.events.remove(id)
        if replay.unreadIncentives.contains(id) { return addLostDetails(.incentive, text, of: row.person) }
        guard let told = replay.incentives[id] else {
            if replay.unreadEnds.contains(row.nag.retyped()) {
                return addLostDetails(.incentive, text, of: row.person)
            }
            return addUnknown(.incentive, text)
        }
        compare(.incentive, text, "nag", row.nag.description, told.nag?.description ?? "none", told.number)
        compare(.incentive, text, "rule", row.rule.description, told.note.rule.description, told.number)
        compare(.incentive, text, "version", "\(row.version)", "\(told.note.version)", told.number)
        compare(.incentive, text, "applied", "\(row.isApplied)", "\(told.isApplied)", told.number)
        compare(person: row.person, told.person, .incentive, text, "user", told.number)
    }

    mutating func check(_ row: IncentiveRuleRow) {
        let (id, text): (ResourceID, String) = (row.id.retyped(), "\(row.id) \(row.version)")
        guard let versions = replay.incentiveRules[id] else { return addUnknown(.incentiveRule, text) }
        openIncentives.rules[id, default: 0] -= 1
        // Retention may have taken the entries of the first versions.
        let told = versions.compactMap(\.self).last { $0.version == row.version }
        guard let told else {
            if versions.contains(where: { $0 == nil }) { return addLostDetails(.incentiveRule, text, of: nil) }
            return addUnknown(.incentiveRule, text)
        }
        let isLast = versions.last?.map { $0.version == row.version } ?? false
        compare(
            .incentiveRule, text, "status", row.status, isLast ? told.status.rawValue : "superseded", told.number)
        if row.terms != told.terms { addDifference(.incentiveRule, text, "terms", "other", "as told", told.number) }
    }

    mutating func finishIncentives() {
        for id in openIncentives.bonuses {
            guard let told = replay.incentives[id] else { continue }
            let sums = ScoreSums(points: Int64(told.note.terms.points), events: 1)
            checkMissingPoints(id.description, sums, of: told.person, at: told.at, told.number)
        }
        for id in openIncentives.events {
            guard let told = replay.incentives[id] else { continue }
            if let retention, told.promisedAt < retention {
                report.add(.pruned)
            } else {
                addMissing(.incentive, id.description, told.number)
            }
        }
        for (id, count) in openIncentives.rules where count > 0 {
            addMissing(.incentiveRule, id.description, replay.incentiveRules[id]?.last.flatMap(\.self)?.number)
        }
    }
}
