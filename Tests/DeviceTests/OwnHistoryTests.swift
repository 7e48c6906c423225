import Contract
import Device
import Domain
import Foundation
import LocalAI
import NagzAI
import Testing

@Suite("The device's own history")
struct OwnHistoryTests {
    private static let nag = NagID(high: 1, low: 1)

    /// A bench whose answers are kept in its cache.
    private func bench(_ folder: String, days: Int = 30, errorsOnly: Bool = false) throws -> Bench {
        let bench = try Bench(folder)
        bench.keepsHistory = true
        try choose(bench, days: days, errorsOnly: errorsOnly, from: nil, to: "a")
        return bench
    }

    private func choose(
        _ bench: Bench, days: Int, errorsOnly: Bool, from: String?, to cursor: String,
        _ constraints: [ConstraintFacts] = []
    ) throws {
        var facts = facts()
        facts.constraints = constraints
        facts.choices = AIChoices(
            mode: .heuristic, privacyLevel: .auto, tokenThreshold: 4_096, logRetentionDays: days,
            logsErrorsOnly: errorsOnly)
        let page = page(nags: [syncedNag(1)], cursor: cursor, facts: facts)
        #expect(try bench.cache.apply(page, of: homeFamily, requestedFrom: .cursor(from), at: bench.now))
    }

    private func history(_ bench: Bench, errorsOnly: Bool = false, limit: Int = 50) throws -> [ExecutionRecord] {
        try bench.cache.deviceExecutions(of: homeFamily, errorsOnly: errorsOnly, limit: limit, at: bench.now)
    }

    @Test("the device keeps its answers and refusals, the newest first, without words")
    func kept() async throws {
        try await withFolder { folder in
            let bench = try bench(folder)
            _ = try await bench.local.coaching(nagID: Self.nag)
            bench.now = bench.now + .minutes(1)
            _ = try await bench.local.summarizeExcuse("XYZZY was late", nagID: Self.nag)
            bench.now = bench.now + .minutes(1)
            await #expect(throws: CacheMiss.nagUnknown) {
                try await bench.local.coaching(nagID: NagID(high: 1, low: 77))
            }
            bench.now = bench.now + .minutes(1)
            // The server has a history of its own.
            _ = try await bench.ask(.digest)
            let records = try history(bench)
            #expect(records.map(\.operation.rawValue) == ["coaching", "summarize_excuse", "coaching"])
            #expect(records.map(\.errorCode) == ["E-LOCAL-001", nil, nil])
            #expect(records.map(\.nagID) == [NagID(high: 1, low: 77), Self.nag, Self.nag])
            #expect(Set(records.map(\.id)).count == 3 && records.allSatisfy { $0.familyID == homeFamily })
            #expect(try history(bench, errorsOnly: true).count == 1 && history(bench, limit: 2).count == 2)
            #expect(records.allSatisfy { !"\($0)".contains("XYZZY") })
        }
    }

    @Test("the history keeps a block with its constraint")
    func blocked() async throws {
        try await withFolder { folder in
            let bench = try bench(folder)
            let terms = ConstraintTerms(
                scope: .family, name: "no", type: .privacy, priority: 1,
                conditions: [try ConstraintCondition(field: "token_count", operator: "lessThan", value: "10000")],
                action: .block(reason: "not now"))
            let id = ConstraintID(high: 7, low: 1)
            try choose(bench, days: 30, errorsOnly: false, from: "a", to: "b", [ConstraintFacts(id: id, terms: terms)])
            await #expect(throws: QuestionRefusal.self) { try await bench.ask(.coaching) }
            let record = try #require(try history(bench).first)
            #expect(record.errorCode == "E-POLICY-001" && record.execution.applied == [id])
            #expect(record.execution.violationReason == "not now" && record.execution.rule == .policyBlock)
        }
    }

    @Test("the history keeps records as long as the person wants", arguments: [7, 30, 365])
    func retention(days: Int) async throws {
        try await withFolder { folder in
            let bench = try bench(folder, days: days)
            let first = bench.now
            _ = try await bench.local.coaching(nagID: Self.nag)
            bench.now = first + .days(Int64(days))
            #expect(try history(bench).count == 1)
            bench.now = first + .days(Int64(days)) + .seconds(1)
            #expect(try history(bench).isEmpty)
            _ = try await bench.local.coaching(nagID: Self.nag)
            bench.now = first
            #expect(try history(bench).count == 1, "the older one is deleted, not hidden")
        }
    }

    @Test("with errors only, the history keeps no answers and removes earlier ones")
    func errorsOnly() async throws {
        try await withFolder { folder in
            let bench = try bench(folder)
            _ = try await bench.local.coaching(nagID: Self.nag)
            try choose(bench, days: 30, errorsOnly: true, from: "a", to: "b")
            _ = try await bench.local.coaching(nagID: Self.nag)
            #expect(try history(bench).isEmpty)
            await #expect(throws: CacheMiss.nagUnknown) {
                try await bench.local.coaching(nagID: NagID(high: 1, low: 77))
            }
            #expect(try history(bench).map(\.errorCode) == ["E-LOCAL-001"])
        }
    }

    @Test("the history is removed with the family, and with the logout")
    func gone() async throws {
        try await withFolder { folder in
            let bench = try bench(folder)
            _ = try await bench.local.coaching(nagID: Self.nag)
            try bench.cache.remove(homeFamily)
            #expect(try history(bench).isEmpty)
            _ = try? await bench.local.coaching(nagID: Self.nag)
            try DeviceFolder(path: folder).clearPersonalFiles()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        }
    }
}
