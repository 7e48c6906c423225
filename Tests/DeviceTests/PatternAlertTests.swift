import Contract
import Device
import Domain
import LocalAI
import NagzAI
import Testing

@Suite("Alerts of patterns")
struct PatternAlertTests {
    /// A bench with so many misses of the person's nags that were due on one weekday.
    private static func bench(_ folder: String, misses: UInt64, _ facts: FamilyFacts = facts()) throws -> Bench {
        let bench = try Bench(folder)
        try miss(1...misses, bench, after: nil, facts)
        return bench
    }

    private static func miss(
        _ numbers: ClosedRange<UInt64>, _ bench: Bench, after cursor: String?, _ facts: FamilyFacts = facts()
    ) throws {
        let missed = numbers.map { number in
            SyncedNagEvent(
                id: EventID(high: 2, low: number), nagID: NagID(high: 1, low: number), eventType: "nag_missed",
                actorID: sibling, at: start + .hours(6), payload: ["recipient_id": me.description])
        }
        bench.now = start + .hours(7)
        let next = page(
            nags: numbers.map { syncedNag($0, status: "missed") }, events: missed, cursor: "\(numbers.upperBound)",
            facts: facts)
        _ = try bench.cache.apply(next, of: homeFamily, requestedFrom: .cursor(cursor), at: bench.now)
    }

    @Test("an alert of a pattern is given once, and is not in the history")
    func once() async throws {
        try await withFolder { folder in
            let bench = try Self.bench(folder, misses: 2)
            bench.keepsHistory = true
            #expect(try await bench.local.takeNewPatternAlerts().isEmpty, "two misses are none")
            try Self.miss(3...3, bench, after: "2")
            let alerts = try await bench.local.takeNewPatternAlerts()
            let insights = try await bench.local.patterns(userID: me, familyID: homeFamily).insights
            #expect(alerts.map(\.missCount) == [3] && alerts == insights)
            let asked = bench.executions.count
            #expect(try await bench.local.takeNewPatternAlerts().isEmpty, "told already")
            try Self.miss(4...4, bench, after: "3")
            #expect(try await bench.local.takeNewPatternAlerts().isEmpty, "the same weekday")
            #expect(bench.executions.count == asked && bench.far.attempts == 0)
        }
    }

    @Test("alerts of patterns can be switched off, and on again")
    func switched() async throws {
        try await withFolder { folder in
            let bench = try Self.bench(folder, misses: 3)
            try bench.cache.setPatternAlerts(false, of: homeFamily)
            #expect(try !bench.cache.arePatternAlertsOn(of: homeFamily))
            #expect(try await bench.local.takeNewPatternAlerts().isEmpty)
            try bench.cache.setPatternAlerts(true, of: homeFamily)
            #expect(try await bench.local.takeNewPatternAlerts().count == 1)
            try bench.cache.setPatternAlerts(true, of: homeFamily)
            #expect(try await bench.local.takeNewPatternAlerts().isEmpty, "on already: what was told stays told")
        }
    }

    @Test("without consent, or with device or AI switched off, there are no alerts of patterns")
    func refused() async throws {
        var off = facts()
        off.choices = AIChoices(mode: .off, privacyLevel: .auto, tokenThreshold: 4_096)
        for facts in [facts(allowsMediation: false), facts(allowsOnDevice: false), off] {
            try await withFolder { folder in
                let bench = try Self.bench(folder, misses: 3, facts)
                #expect(try await bench.local.takeNewPatternAlerts().isEmpty)
            }
        }
    }
}
