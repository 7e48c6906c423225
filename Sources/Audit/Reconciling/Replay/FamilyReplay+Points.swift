import Domain

extension FamilyReplay {
    /// Adds the score of a nag's end, and the badges and incentives that it earns.
    mutating func addScore(_ nag: ResourceID, _ entry: AuditEntry, _ kind: AuditKind, _ body: AuditBody?) {
        let (points, streak) = (body?["points"], body?["streak_delta"])
        if body == nil || points != nil && streak != nil {
            insert(
                .points, .number(entry.number),
                [
                    "nag": ExpectedValue(nag), "user": .person(entry.act.subject),
                    "delta_points": ExpectedValue("points", of: entry.act.subject, in: body),
                    "streak_delta": ExpectedValue("streak_delta", of: entry.act.subject, in: body),
                    "is_completion": ExpectedValue(kind == .nagCompleted),
                ], by: entry, isOptional: body == nil, retainedFrom: entry.at)
        }
        guard let body else { return }
        earnBadges(entry, body)
        addIncentives(entry, body, nag: nag, isApproved: false)
    }

    private mutating func earnBadges(_ entry: AuditEntry, _ body: AuditBody) {
        guard let person = entry.act.subject else { return }
        for type in (body["badges"] ?? "").split(separator: ",") {
            insert(.badge, .badge(person, type: String(type)), ["type": .text(String(type))], by: entry)
        }
    }

    // MARK: Incentives

    /// Applies a guardian's confirmation of a reward.
    mutating func approveIncentive(_ entry: AuditEntry, _ body: AuditBody?) {
        guard let body else {
            if let id = entry.act.resource { unreadIncentives.insert(id) }
            return
        }
        earnBadges(entry, body)
        addIncentives(entry, body, nag: body["nag"].flatMap { ResourceID($0) }, isApproved: true)
    }

    /// Adds the effects of incentive rules that an entry records, and their points unless a guardian still has to
    /// confirm them.
    private mutating func addIncentives(_ entry: AuditEntry, _ body: AuditBody, nag: ResourceID?, isApproved: Bool) {
        let person = ExpectedValue.person(entry.act.subject)
        let nag: ExpectedValue = nag.map { ExpectedValue($0) } ?? "none"
        for note in IncentiveNote.notes(in: body) {
            let isApplied = isApproved || note.isAutomatic
            insert(
                .incentive, .id(note.event),
                [
                    "nag": nag, "rule": ExpectedValue(note.rule), "version": ExpectedValue(note.version),
                    "applied": ExpectedValue(isApplied), "user": person,
                ], by: entry, retainedFrom: rows[.incentive][.id(note.event)]?.retainedFrom ?? entry.at)
            guard isApplied else { continue }
            insert(
                .points, .id(note.event),
                [
                    "nag": nag, "user": person, "sync_seq": ExpectedValue(entry.number),
                    "delta_points": ExpectedValue(note.terms.points), "streak_delta": "0", "is_completion": "false",
                ], by: entry, retainedFrom: entry.at)
        }
    }

    /// Adds a version of an incentive rule, which supersedes those before it.
    mutating func addIncentiveRuleVersion(_ entry: AuditEntry, _ body: AuditBody?) {
        guard let id = entry.act.resource else { return }
        var latestVersion = lastPrunedNumber == 0 ? 0 : nil
        for key in rows[.incentiveRule].keys {
            guard case .version(of: id, let version) = key else { continue }
            latestVersion = max(latestVersion ?? 0, version)
            update(.incentiveRule, key, ["status": "superseded"], by: entry)
        }
        let rule = body.flatMap(IncentiveRuleVersion.init)
        // Versions count from 1. If retention has deleted the first ones, the version of an entry without details is
        // unknown.
        guard let version = rule?.version ?? latestVersion.map({ $0 + 1 }) else { return }
        insert(
            .incentiveRule, .version(of: id, version),
            [
                "status": rule.map { .text($0.status.rawValue) } ?? .lostDetails(nil),
                "terms": rule.map { .text($0.terms.auditText) } ?? .lostDetails(nil),
            ], by: entry)
    }
}
