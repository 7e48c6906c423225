import Domain

/// The mediator's operations.
public enum AIOperations {
    /// Shortens an excuse and finds its category. The feed shows only the category.
    public static let summarizeExcuse = AIOperation<ExcuseQuestion, ExcuseSummaryResponse>(
        .summarizeExcuse, factDepth: .none,
        rule: { heuristics, question, _ in heuristics.excuseSummary(of: question.text, nagID: question.nagID) },
        record: { _, question, _, response in
            AIRecord(
                summary: "Excuse: \(response.category.rawValue)", content: response.summary,
                inputs: [("text_length", "\(question.text.unicodeScalars.count)")],
                classification: response.category.rawValue, ruleConfidence: response.confidence)
        },
        wording: ModelWording(\.summary) { _, question, _, names in
            .summarizeExcuse(question.text, memberNames: names)
        })

    /// Selects the tone for a nag's recipient.
    public static let selectTone = AIOperation<NagQuestion, ToneSelectResponse>(
        .selectTone, factDepth: .tone,
        rule: { heuristics, _, snapshot in heuristics.tone(for: snapshot.facts) },
        record: { _, _, _, response in
            AIRecord(
                tone: response.tone, summary: response.reason, content: response.reason,
                inputs: [("miss_count_7d", "\(response.missCount7d)"), ("streak", "\(response.streak)")],
                classification: response.tone.rawValue)
        },
        wording: ModelWording(\.reason) { heuristics, _, snapshot, names in
            .selectTone(snapshot, heuristics, memberNames: names)
        })

    /// Gives a tip for a nag.
    public static let coaching = AIOperation<NagQuestion, CoachingResponse>(
        .coaching,
        rule: { heuristics, _, snapshot in heuristics.coaching(for: snapshot) },
        record: { heuristics, _, snapshot, response in
            AIRecord(
                tone: heuristics.tone(for: snapshot.facts).response.tone, summary: response.tip,
                content: response.tip, inputs: snapshot.facts.counts, classification: response.scenario,
                grounding: snapshot.facts.coachingGrounding)
        },
        wording: ModelWording(\.tip) { heuristics, _, snapshot, names in
            .coaching(snapshot, heuristics, memberNames: names)
        })

    /// Finds the weekdays on which a member repeatedly misses nags.
    public static let patterns = AIOperation<MemberQuestion, PatternsResponse>(
        .patterns,
        rule: { heuristics, _, snapshot in heuristics.patterns(for: snapshot) },
        record: { _, _, snapshot, response in
            AIRecord(
                summary: "\(response.insights.count) repeated weekdays",
                inputs: [("misses_90d", "\(snapshot.facts.misses.count)")],
                classification: "\(response.insights.count)")
        })

    /// Summarises the last seven days of a family or of one member.
    public static let digest = AIOperation<FamilyQuestion, DigestResponse>(
        .digest, deviceExecution: .whenOffline,
        rule: { heuristics, _, snapshot in heuristics.digest(for: snapshot) },
        record: { _, _, snapshot, response in
            AIRecord(
                summary: response.summaryText, content: response.summaryText,
                inputs: [
                    ("nags", "\(response.totals.totalNags)"), ("members", "\(snapshot.facts.members.count)"),
                ],
                classification: "\(response.totals.completionRate)")
        },
        wording: ModelWording(\.summaryText) { heuristics, _, snapshot, _ in .digest(snapshot, heuristics) })

    /// Estimates the likelihood that a nag will be completed.
    public static let predictCompletion = AIOperation<NagQuestion, PredictCompletionResponse>(
        .predictCompletion,
        rule: { heuristics, _, snapshot in heuristics.prediction(for: snapshot) },
        record: { _, _, snapshot, response in
            AIRecord(
                summary: "Likelihood \(response.likelihood)", inputs: snapshot.facts.counts,
                classification: "\(response.likelihood)")
        })

    /// Decides whether an insistent reminder is allowed now, and words it. A refused push-back is recorded but does not
    /// count towards the policy's limit of push-backs on the nag; a granted one counts at once.
    public static let pushBack = AIOperation<NagQuestion, PushBackResponse>(
        .pushBack, nagAct: .askForPushBack, deviceExecution: .never,
        rule: { heuristics, _, snapshot in heuristics.pushBack(for: snapshot) },
        record: { _, _, snapshot, response in
            AIRecord(
                promptType: response.shouldPushBack ? nil : "push_back_refused", tone: response.tone ?? .neutral,
                summary: response.message ?? response.reason, content: response.message ?? "",
                inputs: snapshot.facts.counts, classification: response.reason,
                countsTowardsLimit: response.shouldPushBack, grounding: snapshot.facts.pushBackGrounding)
        },
        wording: ModelWording(\.words) { heuristics, _, snapshot, names in
            .pushBack(snapshot, heuristics, memberNames: names)
        })

    /// Answers a person's own question in words. The record has the length of the question, but not its words.
    public static let askCoach = AIOperation<CoachQuestion, CoachAnswer>(
        .askCoach,
        rule: { heuristics, question, snapshot in heuristics.coachAnswer(to: question.text, for: snapshot) },
        record: { heuristics, question, snapshot, response in
            let facts = snapshot.facts
            return AIRecord(
                tone: heuristics.tone(misses: facts.missCount7d, streak: facts.streak).tone, summary: response.answer,
                content: response.answer,
                inputs: facts.counts + [("text_length", "\(question.text.unicodeScalars.count)")],
                classification: response.topic.rawValue, ruleConfidence: response.confidence,
                grounding: Grounding(
                    persona: facts.tone, session: facts.sessionTurns.count, events: response.citations.count))
        },
        wording: ModelWording(\.answer) { heuristics, question, snapshot, names in
            .askCoach(question.text, snapshot, heuristics, memberNames: names)
        })
}

extension NagFacts {
    /// The counts that the audit log stores as the inputs of a response.
    fileprivate var counts: [(name: String, value: String)] {
        [
            ("miss_count_7d", "\(missCount7d)"), ("streak", "\(streak)"),
            ("time_conflict_count_7d", "\(timeConflictCount7d)"),
            ("category", "\(categoryRecord.completed)/\(categoryRecord.resolved)"),
            ("category_7d", "\(recentCategoryRecord.completed)/\(recentCategoryRecord.resolved)"),
            ("overall", "\(overallRecord.completed)/\(overallRecord.resolved)"),
            ("push_backs", "\(cyclePushBacks.count)"),
        ]
    }
}
