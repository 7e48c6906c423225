import Domain
import NagzAI
import Testing

/// Facts that a test lays out.
private struct FixedFacts: FactSource {
    struct UnknownNag: Error {}
    var nag: NagFacts

    func nagFacts(_ id: NagID) async throws -> Snapshot<NagFacts> {
        guard id == nag.nag.id else { throw UnknownNag() }
        return Snapshot(nag)
    }

    func patternFacts(userID: UserID, familyID: FamilyID) async throws -> Snapshot<PatternFacts> {
        let miss = PatternFacts.Miss(dueAt: noon, missedAt: noon)
        return Snapshot(PatternFacts(userID: userID, familyID: familyID, misses: [miss, miss, miss]))
    }

    func coachFacts(of userID: UserID?, familyID: FamilyID) async throws -> Snapshot<CoachFacts> {
        Snapshot(CoachFacts(familyID: familyID, userID: userID ?? user(1), nags: []))
    }

    func digestFacts(familyID: FamilyID) async throws -> Snapshot<DigestFacts> {
        Snapshot(DigestFacts(familyID: familyID, members: [], nags: []))
    }
}

@Suite struct ServiceTests {
    @Test func answersAllSevenAsTheHeuristicsDo() async throws {
        let rules = try heuristics()
        let facts = NagFacts(nag: nag(), streak: 4)
        let service: any AIService = HeuristicAIService(source: FixedFacts(nag: facts), heuristics: rules)
        let snapshot = Snapshot(facts)
        #expect(
            try await service.summarizeExcuse("no", nagID: nagID)
                == rules.excuseSummary(of: "no", nagID: nagID).response)
        #expect(try await service.selectTone(nagID: nagID) == rules.tone(for: facts).response)
        #expect(try await service.coaching(nagID: nagID) == rules.coaching(for: snapshot).response)
        #expect(try await service.predictCompletion(nagID: nagID) == rules.prediction(for: snapshot).response)
        #expect(try await service.pushBack(nagID: nagID) == rules.pushBack(for: snapshot).response)
        let patterns = try await service.patterns(userID: user(1), familyID: familyID)
        #expect(patterns.insights == [InsightItem(dayOfWeek: .tuesday, missCount: 3)])
        #expect(try await service.digest(familyID: familyID).totals.totalNags == 0)
    }

    @Test func theSourcesErrorComesThrough() async throws {
        let service = HeuristicAIService(
            source: FixedFacts(nag: NagFacts(nag: nag())), heuristics: try heuristics())
        await #expect(throws: FixedFacts.UnknownNag.self) {
            try await service.selectTone(nagID: NagID(high: 1, low: 1))
        }
    }
}
