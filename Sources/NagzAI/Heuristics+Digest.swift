import Domain

extension Heuristics {
    /// Returns the digest of the last seven days for the family or one member: counts for each active member, and a few
    /// sentences.
    ///
    /// The total counts the nags that were completed or missed in these seven days, and those that are overdue now.
    /// `open` counts every open nag, overdue or not. Only nags of active members count, so the totals are the sums of
    /// the members' counts. Withdrawn and cancelled nags are left out.
    public func digest(for snapshot: Snapshot<DigestFacts>) -> Outcome<DigestResponse> {
        let (facts, rows) = (snapshot.facts, Self.rows(snapshot))
        let totals = Self.totals(rows)
        let response = DigestResponse(
            familyID: facts.familyID, periodStart: FactWindow.recent.start(snapshot.now), periodEnd: snapshot.now,
            summaryText: summary(rows, isOwn: facts.subject != nil, naming: spokenName),
            memberSummaries: rows.map { member, tally in
                MemberSummary(
                    userID: member.userID, displayName: member.displayName, totalNags: tally.due,
                    completed: tally.completed, missed: tally.missed, completionRate: tally.rate.fourDecimals)
            },
            totals: DigestTotals(
                totalNags: totals.due, completed: totals.completed, missed: totals.missed, open: totals.open,
                overdue: totals.overdue, completionRate: totals.rate.fourDecimals))
        return Outcome(response, totals.due == 0 ? .digestNothingDue : .digestWeek)
    }

    /// Returns the digest's text with `PromptFacts.personPhrase` in place of the praised member's name, and the name
    /// itself. The name is nil if the digest praises nobody.
    func digestWithoutNames(for snapshot: Snapshot<DigestFacts>) -> (text: String, praisedName: String?) {
        let rows = Self.rows(snapshot)
        let isOwn = snapshot.facts.subject != nil
        let praisedName = isOwn ? nil : Self.bestRow(rows).map { spokenName($0.member.displayName) }
        return (summary(rows, isOwn: isOwn) { _ in PromptFacts.personPhrase }, praisedName)
    }

    /// A listed member with their counts.
    private typealias Row = (member: DigestFacts.Member, tally: Tally)

    /// Returns the active members, or the digest's subject alone, with their counts, in the digest's order.
    private static func rows(_ snapshot: Snapshot<DigestFacts>) -> [Row] {
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

    private static func totals(_ rows: [Row]) -> Tally {
        rows.reduce(into: Tally()) { $0.add($1.tally) }
    }

    /// Returns whether one member is listed before another. Members are listed by name, then by ID; those without a
    /// name come last.
    private static func isListedBefore(_ left: DigestFacts.Member, _ right: DigestFacts.Member) -> Bool {
        switch (left.displayName, right.displayName) {
        case (let leftName?, let rightName?) where leftName != rightName: leftName < rightName
        case (.some, nil): true
        case (nil, .some): false
        default: left.userID < right.userID
        }
    }

    /// Returns sentences about the completion rate, the best member, and open or missed nags. They praise a member by
    /// name, but blame nobody by name. The digest of one member makes no comparison. If no nag was due, the sentences
    /// say so.
    /// - Parameter naming: returns the words for a member by their display name.
    private func summary(_ rows: [Row], isOwn: Bool, naming: (String?) -> String) -> String {
        let totals = Self.totals(rows)
        guard totals.due > 0 else {
            let sentence = phrasebook.digestSentence(isOwn ? .ownNothingDue : .nothingDue)
            return ([sentence] + openSentence(totals)).joined(separator: " ")
        }
        var sentences = [
            phrasebook.digestSentence(
                isOwn ? .ownRate : .rate,
                [.percent: "\(totals.rate.percent)", .completed: "\(totals.completed)", .total: "\(totals.due)"])
        ]
        if !isOwn, let (member, tally) = Self.bestRow(rows) {
            sentences.append(
                phrasebook.digestSentence(
                    .best,
                    [
                        .name: naming(member.displayName), .completed: "\(tally.completed)",
                        .total: "\(tally.due)",
                    ]))
        }
        let open = openSentence(totals)
        return (sentences + (open.isEmpty ? [closedSentence(totals)] : open)).joined(separator: " ")
    }

    /// Returns the sentence about open and overdue nags; empty if nothing is open.
    private func openSentence(_ totals: Tally) -> [String] {
        switch (totals.open, totals.overdue) {
        case (0, _): []
        case (1, 0): [phrasebook.digestSentence(.openOne)]
        case (_, 0): [phrasebook.digestSentence(.openMany, [.count: "\(totals.open)"])]
        case (1, _): [phrasebook.digestSentence(.overdueOne)]
        case (totals.overdue, _): [phrasebook.digestSentence(.overdueMany, [.count: "\(totals.overdue)"])]
        default:
            [phrasebook.digestSentence(.openSomeOverdue, [.count: "\(totals.open)", .overdue: "\(totals.overdue)"])]
        }
    }

    /// Returns the sentence about missed nags. If no nag was missed, it says that everything is done.
    private func closedSentence(_ totals: Tally) -> String {
        switch totals.missed {
        case 0: phrasebook.digestSentence(.allDone)
        case 1: phrasebook.digestSentence(.missedOne)
        default: phrasebook.digestSentence(.missedMany, [.count: "\(totals.missed)"])
        }
    }

    /// Returns the member with the highest rate; among equal ones the member with the most completed nags, then the
    /// first in the list. Nil if no nag was completed.
    private static func bestRow(_ rows: [Row]) -> Row? {
        rows.filter { $0.tally.completed > 0 }.reduce(nil) { best, row in
            guard let best else { return row }
            let isBetter =
                row.tally.rate.isHigher(than: best.tally.rate)
                || row.tally.rate.isEqual(to: best.tally.rate) && row.tally.completed > best.tally.completed
            return isBetter ? row : best
        }
    }

    /// Returns a display name for use in a sentence: one line, without invisible characters, at most 40 Characters. A
    /// missing or empty name, or one that the avoid list refuses, becomes “a family member”.
    private func spokenName(_ name: String?) -> String {
        let shortName = Self.shortened(singleLine(name ?? ""), to: 40)
        return shortName.isEmpty || !phrasebook.disrespectfulPhrases(in: shortName).isEmpty
            ? phrasebook.digestSentence(.someone) : shortName
    }
}

/// The number of nags in each state.
private struct Tally {
    var completed = 0
    var missed = 0
    /// All open nags, overdue or not.
    var open = 0
    /// Those of the open nags whose due time has passed.
    var overdue = 0

    /// The number of nags that were due: those that are completed, missed or overdue.
    var due: Int { completed + missed + overdue }
    var rate: Ratio { Ratio(completed, of: due) }

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
