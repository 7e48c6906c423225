import Domain

/// What a question to the coach is about.
public enum CoachTopic: String, Sendable, CaseIterable {
    case tone, week, due
    /// Nothing that the facts can answer.
    case unknown
}

extension Heuristics {
    /// The most nags that an answer cites.
    static let citedNags = 20

    /// Answers a person's own question in words from the facts about themselves: what is due, how their week went, why
    /// reminders have their tone. Whatever the words do not ask for plainly, and whatever is about somebody else, is
    /// refused with what can be asked. The answer comes first.
    public func coachAnswer(to text: String, for snapshot: Snapshot<CoachFacts>) -> Outcome<CoachAnswer> {
        let facts = snapshot.facts
        let found = phrasebook.coachTopics.labels(in: text)
        let topic = found.contains(.unknown) ? .unknown : CoachTopic.allCases.first(where: found.contains) ?? .unknown
        let tone = tone(misses: facts.missCount7d, streak: facts.streak)
        var answer = CoachAnswer(
            familyID: facts.familyID, answer: phrasebook.coachSentence(.unknown), topic: topic,
            confidence: topic == .unknown ? 0.3 : found.count == 1 ? 0.9 : 0.6)
        switch topic {
        case .due:
            let open = facts.nags.filter { $0.status == .open }.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }
            answer.answer = dueSentences(open, snapshot)
            answer.citations = open.prefix(Self.citedNags).map(\.id)
        case .week:
            let counted = facts.digestFacts.nags.enumerated().filter { $0.element.isCounted(now: snapshot.now) }
            let digest = Snapshot(facts.digestFacts, now: snapshot.now, zone: snapshot.zone)
            answer.answer = self.digest(for: digest).response.summaryText
            answer.citations = counted.map { facts.nags[$0.offset] }
                .sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }.prefix(Self.citedNags).map(\.id)
        case .tone:
            answer.answer = [
                phrasebook.reasons[tone.rule] ?? tone.rule.rawValue,
                phrasebook.coachSentence(
                    .toneFigures, [.misses: "\(max(0, facts.missCount7d))", .streak: "\(max(0, facts.streak))"]),
            ].joined(separator: " ")
        case .unknown: break
        }
        return Outcome(answer, Rule(topic))
    }

    /// What is overdue, then what comes next.
    /// - Parameter open: by due time.
    private func dueSentences(_ open: [CoachFacts.Nag], _ snapshot: Snapshot<CoachFacts>) -> String {
        let (overdue, next) = (open.filter { $0.dueAt < snapshot.now }, open.first { $0.dueAt >= snapshot.now })
        func values(_ nag: CoachFacts.Nag, _ count: Int) -> [PhraseSlot: String] {
            [.count: "\(count)", .task: phrasebook.name(of: nag.category), .when: moment(nag.dueAt, snapshot)]
        }
        var sentences: [String] = []
        if let oldest = overdue.first {
            sentences.append(
                phrasebook.coachSentence(overdue.count == 1 ? .overdueOne : .overdueMany, values(oldest, overdue.count))
            )
        }
        if let next {
            let count = open.count - overdue.count
            sentences.append(phrasebook.coachSentence(count == 1 ? .dueOne : .dueMany, values(next, count)))
        }
        return sentences.isEmpty ? phrasebook.coachSentence(.nothingOpen) : sentences.joined(separator: " ")
    }

    /// A time near the present by its day's name, any other by its date.
    private func moment(_ moment: Timestamp, _ snapshot: Snapshot<CoachFacts>) -> String {
        let (date, time) = snapshot.zone.local(moment)
        let clock = String(time.description.prefix(5))
        let days = date.daysSinceEpoch - snapshot.zone.local(snapshot.now).date.daysSinceEpoch
        let sentence: CoachSentence =
            switch days {
            case 0: .today
            case 1: .tomorrow
            case -1: .yesterday
            case 2...6: .weekday
            default: .date
            }
        return phrasebook.coachSentence(
            sentence, [.time: clock, .day: sentence == .weekday ? date.weekday.rawValue : date.description])
    }
}

extension Rule {
    fileprivate init(_ topic: CoachTopic) {
        self =
            switch topic {
            case .due: .coachDue
            case .week: .coachWeek
            case .tone: .coachTone
            case .unknown: .coachUnknown
            }
    }
}

extension CoachFacts {
    /// The facts of a digest about the person alone.
    var digestFacts: DigestFacts {
        DigestFacts(
            familyID: familyID, subject: userID, members: [DigestFacts.Member(userID: userID, displayName: nil)],
            nags: nags.map {
                DigestFacts.Nag(recipientID: userID, status: $0.status, dueAt: $0.dueAt, closedAt: $0.closedAt)
            })
    }
}
