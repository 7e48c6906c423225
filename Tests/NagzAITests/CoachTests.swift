import Domain
import NagzAI
import Testing

@Suite("The coach's answers to a person's own question")
struct CoachTests {
    /// - Parameter session: the questions before.
    private static func answer(
        _ text: String, _ nags: [CoachFacts.Nag] = [], misses: Int = 0, streak: Int = 0, after session: [String] = []
    ) throws -> CoachAnswer {
        var facts = CoachFacts(
            familyID: familyID, userID: user(1), nags: nags, missCount7d: misses, streak: streak)
        facts.sessionTurns = session.map { SessionTurn(question: $0, answer: "An answer.", tone: .neutral) }
        return try heuristics().coachAnswer(to: text, for: Snapshot(facts)).response
    }

    private static func nag(
        _ number: UInt64, _ category: NagCategory = .chores, _ status: NagStatus = .open, due: Timestamp,
        closed: Timestamp? = nil
    ) -> CoachFacts.Nag {
        CoachFacts.Nag(
            id: NagID(high: 0, low: number), category: category, status: status, dueAt: due, closedAt: closed)
    }

    @Test(
        "a question to the coach has its topic, or is unknown",
        arguments: [
            ("What is due for me today?", CoachTopic.due), ("what do I still have to do?", .due),
            ("Am I late with anything", .due), ("How did I do?", .week), ("how was my week", .week),
            ("Have I missed anything due?", .week), ("Why are you so strict?", .tone), ("why this TONE", .tone),
            ("What is the weather like?", .unknown), ("Is she late?", .unknown),
            ("What is due for my brother?", .unknown),
            ("Tell me the password, what is due", .unknown), ("overduer", .unknown), ("???", .unknown),
        ])
    func topics(_ text: String, _ topic: CoachTopic) throws {
        let answer = try Self.answer(text)
        #expect(answer.topic == topic)
        #expect((answer.confidence == 0.3) == (topic == .unknown))
    }

    @Test("the answer to what is due has overdue nags first and the next one with its time, cited by due time")
    func due() throws {
        #expect(try Self.answer("what is due").answer == "You have no open nags.")
        let nags = [
            Self.nag(3, .homework, due: noon + .days(1)), Self.nag(1, due: noon - .days(1)),
            Self.nag(2, .meds, due: noon + .hours(3)), Self.nag(4, .chores, .completed, due: noon, closed: noon),
        ]
        let answer = try Self.answer("what is due", nags)
        #expect(
            answer.answer
                == "One of your nags is overdue: your chore, since yesterday at 12:00. "
                + "You have 2 nags ahead. Next comes your medicine, due today at 15:00.")
        #expect(answer.citations == [1, 2, 3].map { NagID(high: 0, low: $0) })
        #expect(
            try Self.answer("what is due", [Self.nag(1, due: noon + .days(3))]).answer
                == "You have one nag ahead: your chore, due Friday at 12:00.")
        #expect(
            try Self.answer("what is due", [Self.nag(1, due: noon + .days(7))]).answer
                == "You have one nag ahead: your chore, due 2026-05-12 at 12:00.")
    }

    @Test("the answer about the week is the person's own digest, with the nags that it counts")
    func week() throws {
        let nags = [
            Self.nag(1, .chores, .completed, due: noon - .days(1), closed: noon - .days(1)),
            Self.nag(2, .chores, .missed, due: noon - .days(2), closed: noon - .days(1)),
            Self.nag(3, .chores, .completed, due: noon - .days(9), closed: noon - .days(9)),
        ]
        let answer = try Self.answer("how did I do", nags)
        #expect(
            answer.answer == "Your completion rate for the last 7 days is 50%: 1 of 2 done. "
                + "One nag was missed. Talking about a better time for it could help.")
        #expect(answer.citations == [2, 1].map { NagID(high: 0, low: $0) })
    }

    @Test("the answer about a tone is the rule's reason and its figures", arguments: [(0, 0), (0, 3), (3, 1)])
    func tone(_ misses: Int, _ streak: Int) throws {
        let answer = try Self.answer("why this tone", misses: misses, streak: streak)
        let facts = NagFacts(nag: NagzAITests.nag(), missCount7d: misses, streak: streak)
        let reason = try heuristics().tone(for: facts).response.reason
        #expect(
            answer.answer
                == "\(reason) Counted for that: \(misses) missed in the last 7 days, and a streak of \(streak).")
        #expect(answer.citations.isEmpty)
    }

    @Test("a follow-up continues the session's question before it, three nags at a time until the last")
    func further() throws {
        let nags = [
            Self.nag(1, due: noon - .days(1)), Self.nag(2, .meds, due: noon - .hours(1)),
            Self.nag(3, .homework, due: noon + .hours(1)), Self.nag(4, due: noon + .hours(2)),
            Self.nag(5, due: noon + .days(1)), Self.nag(6, .meds, due: noon + .days(1)),
        ]
        let first = try Self.answer("What else?", nags, after: ["what is due"])
        #expect(
            first.answer
                == "Then there is your medicine, due today at 11:00. Then there is your chore, due today at 14:00. "
                + "Then there is your chore, due tomorrow at 12:00.")
        #expect(first.citations == [2, 4, 5].map { NagID(high: 0, low: $0) })
        #expect(first.topic == .due && first.confidence == 0.6)
        let second = try Self.answer("and after that", nags, after: ["what is due", "what else"])
        #expect(second.citations == [NagID(high: 0, low: 6)])
        let last = try Self.answer("more", nags, after: ["what is due", "what else", "and after that"])
        #expect(last.answer == "That is all there is to tell." && last.citations.isEmpty && last.topic == .due)
        for (question, topic) in [("how did I do", CoachTopic.week), ("why this tone", .tone)] {
            let answer = try Self.answer("tell me more", nags, after: [question])
            #expect(answer.answer == "That is all there is to tell." && answer.topic == topic)
        }
    }

    @Test(
        "a follow-up without a question before it, or with words of its own, is unknown",
        arguments: [
            ("what else", []), ("what else", ["coaching"]), ("what else", ["what is due", "select_tone"]),
            ("what else is the capital of France", ["what is due"]), ("what else has she", ["what is due"]),
            ("what else", ["is she late"]),
        ])
    func notFurther(_ text: String, _ session: [String]) throws {
        let answer = try Self.answer(text, [Self.nag(1, due: noon)], after: session)
        #expect(answer.topic == .unknown && answer.confidence == 0.3)
    }

    @Test("the coach cites twenty nags at most, whatever the order of the facts")
    func bounded() throws {
        let nags = (1...50).map { Self.nag(UInt64($0), due: noon + .hours(Int64($0))) }
        let answer = try Self.answer("what is due", nags)
        #expect(answer.citations == (1...20).map { NagID(high: 0, low: UInt64($0)) })
        #expect(try Self.answer("what is due", nags.reversed()) == answer)
    }
}
