import Domain
import NagzAI
import SeededNumbers
import Testing

/// What holds for all facts, tried on thousands of random ones.
@Suite struct PropertyTests {
    private static func facts(_ random: inout SeededNumbers) throws -> Snapshot<NagFacts> {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
        func time() -> TimeOfDay { TimeOfDay(secondsSinceMidnight: number(0...86_399)) ?? .midnight }
        let change = Bool.random(using: &random) ? NewYork2026.spring : NewYork2026.autumn
        let now = change + .milliseconds(Int64(number(-200_000_000...200_000_000)))
        var preferences = Preferences()
        preferences.quietHoursEnabled = Bool.random(using: &random)
        preferences.quietWindow = QuietHours(start: time(), end: time())
        preferences.pushBackMode = number(0...9) == 0 ? .off : .bounded
        preferences.tone = PreferredTone.allCases.randomElement(using: &random) ?? .friendly
        let total = number(0...40)
        let nag = NagSnapshot(
            id: NagID(high: random.next(), low: random.next()), familyID: familyID, recipientID: user(1),
            category: NagCategory.allCases.randomElement(using: &random) ?? .other,
            status: number(0...3) == 0 ? NagStatus.allCases.randomElement(using: &random) ?? .open : .open,
            dueAt: now + .seconds(Int64(number(-100_000...200_000))), createdAt: now - .days(1))
        let facts = NagFacts(
            nag: nag, missCount7d: number(-1...6), streak: number(-1...9), timeConflictCount7d: number(0...3),
            categoryRecord: CompletionRecord(resolved: total, completed: number(0...max(1, total))),
            recentCategoryRecord: CompletionRecord(resolved: number(0...5), completed: number(0...5)),
            overallRecord: CompletionRecord(resolved: total + number(0...40), completed: number(0...80)),
            cyclePushBacks: (0..<number(0...3)).map { _ in now - .minutes(Int64(number(0...400))) },
            preferences: preferences,
            policy: try FamilyPolicy(maxPushBacksPerNag: number(0...3), pushBackCooldownMinutes: number(15...240)))
        return Snapshot(facts, now: now, zone: NewYork2026())
    }

    @Test func boundsHoldForAllFacts() throws {
        let rules = try heuristics()
        let again = try heuristics()
        var random = SeededNumbers(seed: 2026)
        var pushedBack = 0
        for _ in 0..<5_000 {
            let snapshot = try Self.facts(&random)
            let facts = snapshot.facts

            let prediction = rules.prediction(for: snapshot).response
            if facts.nag.status == .open {
                #expect((0.05...0.95).contains(prediction.likelihood))
                #expect(isClose(prediction.likelihood, Self.likelihood(facts)))
            } else {
                #expect(prediction.likelihood == (facts.nag.status == .completed ? 1 : 0))
            }
            if let reminder = prediction.suggestedReminderTime {
                #expect(facts.nag.status == .open && snapshot.now <= reminder && reminder < facts.nag.dueAt)
                #expect(facts.preferences.quietHours?.contains(reminder, in: snapshot.zone) != true)
            }

            let pushBack = rules.pushBack(for: snapshot).response
            if pushBack.shouldPushBack {
                pushedBack += 1
                #expect(facts.nag.status == .open && facts.preferences.pushBackMode == .bounded)
                #expect(facts.cyclePushBacks.count < facts.policy.maxPushBacksPerNag)
                #expect(facts.preferences.quietHours?.contains(snapshot.now, in: snapshot.zone) != true)
                let cooldown = Timestamp.Span.minutes(Int64(facts.policy.pushBackCooldownMinutes))
                #expect(facts.cyclePushBacks.allSatisfy { snapshot.now - $0 >= cooldown })
                #expect(pushBack.message.map(rules.phrasebook.disrespectfulPhrases(in:)) == [])
                #expect(pushBack.tone == rules.tone(for: facts).response.tone)
            } else {
                #expect(pushBack.message == nil && pushBack.tone == nil)
            }

            let coaching = rules.coaching(for: snapshot)
            #expect(!coaching.response.tip.isEmpty)
            // The same facts, the same answers.
            if pushedBack % 50 == 0 {
                #expect(again.coaching(for: snapshot) == coaching)
                #expect(again.pushBack(for: snapshot).response == pushBack)
                #expect(again.prediction(for: snapshot).response == prediction)
                #expect(again.tone(for: facts) == rules.tone(for: facts))
            }
        }
        #expect(pushedBack > 500)
    }

    /// The formula as it is written, in floating point.
    private static func likelihood(_ facts: NagFacts) -> Double {
        func rate(_ record: CompletionRecord) -> Double {
            (Double(min(record.completed, record.resolved)) + 1) / (Double(record.resolved) + 2)
        }
        let misses = Double(min(max(0, facts.missCount7d), 3))
        let raw =
            0.6 * rate(facts.categoryRecord) + 0.4 * rate(facts.overallRecord) - 0.1 * misses
            + (facts.streak >= 3 ? 0.05 : 0)
        return min(max(raw, 0.05), 0.95)
    }

    private func isClose(_ left: Double, _ right: Double) -> Bool { (left - right).magnitude <= 0.005 + 1e-9 }

    @Test func randomTextsNeverTrap() throws {
        let rules = try heuristics()
        var random = SeededNumbers(seed: 99)
        let pieces = [
            "no", "forgot", " ", "'", "\u{2019}", "don", "t", "slipped my mind", "\u{0301}", "\u{200D}", "👩", "🇩🇪", "İ",
            "\n", ".", "{", "\u{202E}", "忘", "\u{1100}", "\u{FE0F}", "time", "s",
        ]
        for _ in 0..<3_000 {
            let text = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }.joined()
            let response = rules.excuseSummary(of: text, nagID: nagID).response
            #expect(response.summary.count <= 200)
            #expect([0.3, 0.6, 0.9].contains(response.confidence))
            #expect((response.category == .other) == (response.confidence == 0.3))
            #expect(response == rules.excuseSummary(of: text, nagID: nagID).response)
        }
    }

    @Test func digestsAddUpWhateverTheOrder() throws {
        let rules = try heuristics()
        var random = SeededNumbers(seed: 5)
        for _ in 0..<500 {
            let members = (0..<UInt64.random(in: 0...6, using: &random)).map {
                DigestFacts.Member(
                    userID: user($0), displayName: ["Ann", "Bo", nil, "Cy"].randomElement(using: &random) ?? nil,
                    status: Int.random(in: 0...4, using: &random) == 0 ? .removed : .active)
            }
            let nags = (0..<Int.random(in: 0...40, using: &random)).map { _ in
                DigestFacts.Nag(
                    recipientID: user(.random(in: 0...7, using: &random)),
                    status: NagStatus.allCases.randomElement(using: &random) ?? .open,
                    dueAt: noon - .seconds(.random(in: -100_000...800_000, using: &random)),
                    closedAt: noon - .seconds(.random(in: -100_000...800_000, using: &random)))
            }
            let digest = rules.digest(
                for: Snapshot(DigestFacts(familyID: familyID, members: members, nags: nags)))
            let shuffled = DigestFacts(
                familyID: familyID, members: members.shuffled(using: &random), nags: nags.shuffled(using: &random))
            #expect(rules.digest(for: Snapshot(shuffled)) == digest)
            let rows = digest.response.memberSummaries
            let totals = digest.response.totals
            #expect(rows.map(\.totalNags).reduce(0, +) == totals.totalNags)
            #expect(totals.completed + totals.missed + totals.overdue == totals.totalNags)
            #expect(totals.overdue <= totals.open)
            #expect(rows.allSatisfy { (0...1).contains($0.completionRate) })
            #expect(digest.rule == (totals.totalNags == 0 ? .digestNothingDue : .digestWeek))
        }
    }
}
