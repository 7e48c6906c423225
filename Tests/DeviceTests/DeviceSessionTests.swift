import Contract
import Device
import Domain
import LocalAI
import NagzAI
import Testing

@Suite("A device's AI session")
struct DeviceSessionTests {
    private static let nag = NagID(high: 1, low: 1)

    @Test("a session keeps its last four questions for 45 minutes, and the coach repeats no tip")
    func continuesSession() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            try bench.sync()
            let plain = try await bench.local.coaching(nagID: Self.nag).tip
            bench.continuesSession = true
            var tips: [String] = []
            for used in [0, 1, 2, 3, 4, 4] {
                tips.append(try await bench.local.coaching(nagID: Self.nag).tip)
                #expect(bench.executions.last?.execution.grounding?.session == used)
                bench.now = bench.now + .seconds(1)
            }
            #expect(tips[0] == plain && tips[1] != plain)
            #expect(try bench.cache.sessionTurns(of: homeFamily, at: bench.now).count == SessionTurn.maxTurnsPerSession)
            bench.now = bench.now + .minutes(45)
            #expect(try bench.cache.sessionTurns(of: homeFamily, at: bench.now).isEmpty)
            _ = try await bench.local.coaching(nagID: Self.nag)
            #expect(bench.executions.last?.execution.grounding?.session == 0)
            #expect(try bench.cache.sessionTurns(of: homeFamily, at: bench.now).count == 1, "another session")
            try bench.cache.endSession(of: homeFamily)
            #expect(try bench.cache.sessionTurns(of: homeFamily, at: bench.now).isEmpty)
        }
    }

    @Test("the session of one family leaves another family's session as it is")
    func twoFamilies() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            try bench.sync()
            let otherFamily = FamilyID(high: 0xfa, low: 2)
            _ = try bench.cache.apply(
                page(cursor: "a", facts: facts()), of: otherFamily, requestedFrom: .cursor(nil), at: bench.now)
            let turn = SessionTurn(question: "What is due?", answer: "Nothing.", tone: .neutral)
            try bench.cache.add(turn, ExecutionID(high: 1, low: 1), of: otherFamily, at: bench.now)
            for number in UInt64(2)..<8 {
                try bench.cache.add(turn, ExecutionID(high: 1, low: number), of: homeFamily, at: bench.now)
            }
            #expect(try bench.cache.sessionTurns(of: otherFamily, at: bench.now) == [turn])
            #expect(try bench.cache.sessionTurns(of: homeFamily, at: bench.now).count == SessionTurn.maxTurnsPerSession)
        }
    }

    @Test("a follow-up to the coach continues from the question before it")
    func followUp() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            try bench.sync()
            bench.continuesSession = true
            var topics: [CoachTopic] = []
            for text in ["What else?", "What is due?", "What else?"] {
                topics.append(try await bench.local.askCoach(text, of: me, familyID: homeFamily).topic)
                bench.now = bench.now + .seconds(1)
            }
            #expect(topics == [.unknown, .due, .due])
            #expect(bench.executions.map { $0.execution.grounding?.session } == [0, 1, 2])
        }
    }

    @Test("without a session no question is remembered")
    func plain() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            try bench.sync()
            for _ in 0..<2 { _ = try await bench.local.coaching(nagID: Self.nag) }
            #expect(bench.executions.map { $0.execution.grounding?.session } == [0, 0])
            #expect(try bench.cache.sessionTurns(of: homeFamily, at: bench.now).isEmpty)
        }
    }
}
