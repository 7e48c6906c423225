import Domain

extension Heuristics {
    /// The digest of the last seven days for the family or one member: counts for each active member, and a few
    /// sentences.
    ///
    /// It counts what happened in that time: nags that were completed, early or late, and nags that were missed; and
    /// what is overdue now. Those are the total. `open` counts every open nag, overdue or not. Only nags of listed
    /// members count, so the totals are the sums of the rows. Withdrawn and cancelled nags are left out.
    public func digest(for snapshot: Snapshot<DigestFacts>) -> Outcome<DigestResponse> {
        let (facts, rows) = (snapshot.facts, Self.rows(snapshot))
        let all = Self.totals(rows)
        let response = DigestResponse(
            familyID: facts.familyID, periodStart: FactWindow.recent.start(snapshot.now), periodEnd: snapshot.now,
            summaryText: summary(rows, isOwn: facts.subject != nil, naming: spoken),
            memberSummaries: rows.map { member, tally in
                MemberSummary(
                    userID: member.userID, displayName: member.displayName, totalNags: tally.total,
                    completed: tally.completed, missed: tally.missed, completionRate: tally.rate.fourDecimals)
            },
            totals: DigestTotals(
                totalNags: all.total, completed: all.completed, missed: all.missed, open: all.open,
                overdue: all.overdue, completionRate: all.rate.fourDecimals))
        return Outcome(response, all.total == 0 ? .digestNothingDue : .digestWeek)
    }

    /// The digest's text with `PromptFacts.person` for the member that it praises, and that member's name as the digest
    /// has it; nil if it praises nobody.
    func digestWithoutNames(for snapshot: Snapshot<DigestFacts>) -> (text: String, praised: String?) {
        let rows = Self.rows(snapshot)
        let isOwn = snapshot.facts.subject != nil
        let praised = isOwn ? nil : Self.best(rows).map { spoken($0.0.displayName) }
        return (summary(rows, isOwn: isOwn) { _ in PromptFacts.person }, praised)
    }

    /// The listed members with their counts, in the digest's order.
    private static func rows(_ snapshot: Snapshot<DigestFacts>) -> [(DigestFacts.Member, Tally)] {
        let facts = snapshot.facts
        var tallies: [UserID: Tally] = [:]
        let members = facts.members.filter {
            $0.status == .active && $0.userID == facts.subject ?? $0.userID
                && tallies.updateValue(Tally(), forKey: $0.userID) == nil
        }
        .sorted(by: isListedBefore)
        for nag in facts.nags where nag.isCounted(now: snapshot.now) {
            tallies[nag.recipientID]?.count(nag, now: snapshot.now)
        }
        return members.map { ($0, tallies[$0.userID] ?? Tally()) }
    }

    private static func totals(_ rows: [(DigestFacts.Member, Tally)]) -> Tally {
        rows.reduce(into: Tally()) { $0.add($1.1) }
    }

    /// Sorts by name, members without a name last, then by ID.
    private static func isListedBefore(_ left: DigestFacts.Member, _ right: DigestFacts.Member) -> Bool {
        switch (left.displayName, right.displayName) {
        case (let leftName?, let rightName?) where leftName != rightName: leftName < rightName
        case (.some, nil): true
        case (nil, .some): false
        default: left.userID < right.userID
        }
    }

    /// The completion rate, the best member and one thing to do next. It praises members by name, but never blames by
    /// name. The digest of one member makes no comparison.
    private func summary(
        _ rows: [(DigestFacts.Member, Tally)], isOwn: Bool, naming: (String?) -> String
    ) -> String {
        let all = Self.totals(rows)
        guard all.total > 0 else {
            let nothing = phrasebook.sentence(isOwn ? .ownNothingDue : .nothingDue)
            return ([nothing] + openSentence(all)).joined(separator: " ")
        }
        var sentences = [
            phrasebook.sentence(
                isOwn ? .ownRate : .rate,
                [.percent: "\(all.rate.percent)", .completed: "\(all.completed)", .total: "\(all.total)"])
        ]
        if !isOwn, let (member, tally) = Self.best(rows) {
            sentences.append(
                phrasebook.sentence(
                    .best,
                    [
                        .name: naming(member.displayName), .completed: "\(tally.completed)",
                        .total: "\(tally.total)",
                    ]))
        }
        let open = openSentence(all)
        return (sentences + (open.isEmpty ? [closedSentence(all)] : open)).joined(separator: " ")
    }

    /// Returns the sentence about open and overdue nags; empty if nothing is open.
    private func openSentence(_ all: Tally) -> [String] {
        switch (all.open, all.overdue) {
        case (0, _): []
        case (1, 0): [phrasebook.sentence(.openOne)]
        case (_, 0): [phrasebook.sentence(.openMany, [.count: "\(all.open)"])]
        case (1, _): [phrasebook.sentence(.overdueOne)]
        case (all.overdue, _): [phrasebook.sentence(.overdueMany, [.count: "\(all.overdue)"])]
        default: [phrasebook.sentence(.openSomeOverdue, [.count: "\(all.open)", .overdue: "\(all.overdue)"])]
        }
    }

    /// Returns the sentence about missed nags; if nothing was missed, it says that nothing is left over.
    private func closedSentence(_ all: Tally) -> String {
        switch all.missed {
        case 0: phrasebook.sentence(.allDone)
        case 1: phrasebook.sentence(.missedOne)
        default: phrasebook.sentence(.missedMany, [.count: "\(all.missed)"])
        }
    }

    /// The member with the highest rate, then with the most completed nags, then the first in the list; nil if no nag
    /// was completed.
    private static func best(_ rows: [(DigestFacts.Member, Tally)]) -> (DigestFacts.Member, Tally)? {
        rows.filter { $0.1.completed > 0 }.reduce(nil) { best, row in
            guard let best else { return row }
            let isBetter =
                row.1.rate.isHigher(than: best.1.rate)
                || row.1.rate.isEqual(to: best.1.rate) && row.1.completed > best.1.completed
            return isBetter ? row : best
        }
    }

    /// A display name for use in a sentence: one line, without invisible characters, at most 40 Characters. An empty
    /// name, or one that the avoid list refuses, becomes “a family member”.
    private func spoken(_ name: String?) -> String {
        let short = Self.shortened(singleLine(name ?? ""), to: 40)
        return short.isEmpty || !phrasebook.disrespect(in: short).isEmpty ? phrasebook.sentence(.someone) : short
    }
}

/// Counts of nags by what became of them.
private struct Tally {
    var completed = 0
    var missed = 0
    /// Overdue or not.
    var open = 0
    var overdue = 0

    var total: Int { completed + missed + overdue }
    var rate: Ratio { Ratio(completed, of: total) }

    mutating func count(_ nag: DigestFacts.Nag, now: Timestamp) {
        switch nag.status {
        case .completed: completed += 1
        case .missed: missed += 1
        case .open:
            open += 1
            if nag.dueAt < now { overdue += 1 }
        case .withdrawn, .cancelledRelationshipChange: break
        }
    }

    mutating func add(_ other: Tally) {
        completed += other.completed
        missed += other.missed
        open += other.open
        overdue += other.overdue
    }
}
