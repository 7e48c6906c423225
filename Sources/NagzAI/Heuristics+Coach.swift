import Domain

/// The topic of a question to the coach.
public enum CoachTopic: String, Sendable, CaseIterable {
    /// The question asks why reminders have their tone.
    case tone
    /// The question asks how the person's last seven days went.
    case week
    /// The question asks which nags are due.
    case due
    /// The facts cannot answer the question: it asks for none of these topics, or about somebody else.
    case unknown
}

extension Heuristics {
    /// The maximum number of nags that an answer cites.
    static let maxCitations = 20
    /// The maximum number of nags that an answer to “more?” lists.
    private static let maxFurtherNags = 3

    /// Answers a person's own question from the facts about themselves: what is due, how their week went, why reminders
    /// have their tone. A question that does not clearly ask for one of these, or that is about somebody else, gets a
    /// list of what can be asked instead of an answer. In an AI session, a question that only asks for more continues
    /// the topic of the previous question.
    public func coachAnswer(to text: String, for snapshot: Snapshot<CoachFacts>) -> Outcome<CoachAnswer> {
        let facts = snapshot.facts
        let (topics, followUpCount) = coachTopics(of: text, after: facts.sessionTurns)
        let topic = topics.contains(.unknown) ? .unknown : CoachTopic.allCases.first(where: topics.contains) ?? .unknown
        let tone = tone(misses: facts.missCount7d, streak: facts.streak)
        var answer = CoachAnswer(
            familyID: facts.familyID, answer: phrasebook.coachSentence(.unknown), topic: topic,
            confidence: topic == .unknown ? 0.3 : topics.count == 1 && followUpCount == 0 ? 0.9 : 0.6)
        switch topic {
        case .due where followUpCount > 0:
            let nags = furtherNags(followUpCount, snapshot)
            answer.answer = furtherSentences(nags, snapshot)
            answer.citations = nags.map(\.id)
        case .week where followUpCount > 0, .tone where followUpCount > 0:
            answer.answer = phrasebook.coachSentence(.noMore)
        case .due:
            let openNags = facts.openNags
            answer.answer = dueSentences(openNags, snapshot)
            answer.citations = openNags.prefix(Self.maxCitations).map(\.id)
        case .week:
            let countedNags = facts.digestFacts.nags.enumerated().filter { $0.element.isCounted(now: snapshot.now) }
            let digest = Snapshot(facts.digestFacts, now: snapshot.now, zone: snapshot.zone)
            answer.answer = self.digest(for: digest).response.summaryText
            answer.citations = countedNags.map { facts.nags[$0.offset] }
                .sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }.prefix(Self.maxCitations).map(\.id)
        case .tone:
            answer.answer = [
                phrasebook.toneReasons[tone.rule] ?? tone.rule.rawValue,
                phrasebook.coachSentence(
                    .toneFigures, [.misses: "\(max(0, facts.missCount7d))", .streak: "\(max(0, facts.streak))"]),
            ].joined(separator: " ")
        case .unknown: break
        }
        return Outcome(answer, HeuristicRule(topic))
    }

    /// Returns the topics of a question, and how many questions, including this one, have asked for more about them.
    private func coachTopics(
        of text: String, after session: [SessionTurn]
    ) -> (topics: Set<CoachTopic>, followUpCount: Int) {
        var followUpCount = 0
        for question in [text] + session.reversed().map(\.question) {
            // The question of a turn without a person's words is the ID of its operation.
            guard AIOperationID(rawValue: question) == nil else { break }
            let topics = phrasebook.coachTopics.labels(in: question)
            if !topics.isEmpty { return (topics, followUpCount) }
            guard phrasebook.coachFollowUps.contains(words(in: question).map(\.text)) else { break }
            followUpCount += 1
        }
        return ([], followUpCount)
    }

    /// Returns the sentences about the overdue nags, then about the next one.
    /// - Parameter open: the open nags by due time.
    private func dueSentences(_ open: [CoachFacts.Nag], _ snapshot: Snapshot<CoachFacts>) -> String {
        let (overdue, next) = (open.filter { $0.dueAt < snapshot.now }, open.first { $0.dueAt >= snapshot.now })
        var sentences: [String] = []
        if let oldest = overdue.first {
            let sentence: CoachSentence = overdue.count == 1 ? .overdueOne : .overdueMany
            sentences.append(coachSentence(sentence, oldest, count: overdue.count, snapshot))
        }
        if let next {
            let count = open.count - overdue.count
            sentences.append(coachSentence(count == 1 ? .dueOne : .dueMany, next, count: count, snapshot))
        }
        return sentences.isEmpty ? phrasebook.coachSentence(.nothingOpen) : sentences.joined(separator: " ")
    }

    /// Returns the open nags for an answer to “more?”: the next ones, at most `maxFurtherNags`, that neither
    /// `dueSentences` nor an earlier such answer has listed.
    private func furtherNags(_ followUpCount: Int, _ snapshot: Snapshot<CoachFacts>) -> [CoachFacts.Nag] {
        let open = snapshot.facts.openNags
        let listedIDs = [open.first { $0.dueAt < snapshot.now }, open.first { $0.dueAt >= snapshot.now }].map { $0?.id }
        return Array(
            open.filter { !listedIDs.contains($0.id) }.dropFirst((followUpCount - 1) * Self.maxFurtherNags)
                .prefix(Self.maxFurtherNags))
    }

    private func furtherSentences(_ nags: [CoachFacts.Nag], _ snapshot: Snapshot<CoachFacts>) -> String {
        guard !nags.isEmpty else { return phrasebook.coachSentence(.noMore) }
        return nags.map { coachSentence(.furtherOne, $0, count: 1, snapshot) }.joined(separator: " ")
    }

    private func coachSentence(
        _ sentence: CoachSentence, _ nag: CoachFacts.Nag, count: Int, _ snapshot: Snapshot<CoachFacts>
    ) -> String {
        phrasebook.coachSentence(
            sentence,
            [.count: "\(count)", .task: phrasebook.name(of: nag.category), .when: timeWords(for: nag.dueAt, snapshot)])
    }

    /// Returns the words for a time: with a name of the day if it is near, otherwise with the date.
    private func timeWords(for moment: Timestamp, _ snapshot: Snapshot<CoachFacts>) -> String {
        let (date, time) = snapshot.zone.local(moment)
        let clockTime = String(time.description.prefix(5))
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
            sentence, [.time: clockTime, .day: sentence == .weekday ? date.weekday.rawValue : date.description])
    }
}

extension HeuristicRule {
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
    /// The open nags by due time.
    fileprivate var openNags: [Nag] {
        nags.filter { $0.status == .open }.sorted { ($0.dueAt, $0.id) < ($1.dueAt, $1.id) }
    }

    /// The facts of a digest about the person alone.
    var digestFacts: DigestFacts {
        DigestFacts(
            familyID: familyID, subject: userID, members: [DigestFacts.Member(userID: userID, displayName: nil)],
            nags: nags.map {
                DigestFacts.Nag(recipientID: userID, status: $0.status, dueAt: $0.dueAt, closedAt: $0.closedAt)
            })
    }
}
