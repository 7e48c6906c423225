import Contract
import Device
import Domain
import LocalAI
import NagzAI
import Testing

@Suite("Answers on the device and at the server")
struct OnDeviceTests {
    private static let remoteFirst: [AIOperationID: AnswerReason] = [.digest: .wholeFamily, .pushBack: .mustBeRecorded]

    @Test("a fresh cache answers all operations but the digest and push-backs", arguments: AIOperationID.allCases)
    func fresh(operation: AIOperationID) async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            try bench.sync()
            let record = try await bench.ask(operation)
            let reason = Self.remoteFirst[operation]
            let localReason: AnswerReason = operation == .summarizeExcuse ? .local : .fresh
            #expect(record.place == (reason == nil ? .device : .server) && record.reason == reason ?? localReason)
            #expect(bench.far.asked == (reason == nil ? [] : [operation]))
        }
    }

    @Test(
        "with facts older than a day the server is asked, and the device answers if it is not reached",
        arguments: AIOperationID.allCases)
    func stale(operation: AIOperationID) async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            try bench.sync()
            bench.now = bench.now + .hours(25)
            let record = try await bench.ask(operation)
            // An excuse is summed up here, whatever the cache knows.
            let isLocal = operation == .summarizeExcuse
            #expect(record.place == (isLocal ? .device : .server))
            #expect(record.reason == (isLocal ? .local : Self.remoteFirst[operation] ?? .stale))
            bench.far.isDown = true
            if operation == .pushBack {
                await #expect(throws: QuestionRefusal.noRoute(.networkUnavailable)) { try await bench.ask(operation) }
                // Nobody has answered, and the device's own history says so.
                let record = try #require(bench.executions.last)
                #expect(record.errorCode == "E-NET-001" && record.operation == .operation(.pushBack))
                #expect(record.execution.stages.last?.stage == .failed && record.execution.confidence == nil)
            } else {
                let offline = try await bench.ask(operation)
                #expect(offline.place == .device && offline.reason == (isLocal ? .local : .serverUnreachable))
                #expect(offline.dataAge == (isLocal ? nil : .hours(25)), "how old what it is made of is")
            }
        }
    }

    @Test("the server is sent trace, question, task and rule of each question of the device")
    func told() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            #expect(try await bench.ask(.selectTone).reason == .neverSynced)
            try bench.sync()
            #expect(try await bench.ask(.digest).reason == .wholeFamily)
            let told = bench.far.options
            // The device tried the first one itself, and was not to answer the second.
            #expect(told.map(\.rule) == [.localFailureFallback, .autoCloud])
            #expect(told.allSatisfy { $0.taskType == .heuristic && $0.traceID != nil && $0.questionID != nil })
            #expect(Set(told.map(\.traceID)).count == 2 && told.allSatisfy { $0.confirmation == nil })
        }
    }

    @Test("questions about facts that the cache lacks are sent to the server")
    func misses() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            #expect(try await bench.ask(.selectTone).reason == .neverSynced)
            try bench.sync(facts(role: .participant))
            #expect(try await bench.ask(.selectTone, nag: 77).reason == .nagUnknown)
            #expect(try await bench.ask(.coaching, nag: 2).reason == .historyMissing)
            #expect(bench.records.allSatisfy { $0.place == .server })
            bench.far.refuses = true
            await #expect(throws: FarAway.Refused.self) { try await bench.ask(.selectTone, nag: 77) }
        }
    }

    @Test("with the device switched off the server alone answers, and without the consent nobody does")
    func gates() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            try bench.sync(facts(allowsOnDevice: false))
            #expect(try await bench.ask(.selectTone).reason == .switchedOff)
            bench.far.isDown = true
            await #expect(throws: QuestionRefusal.noRoute(.networkUnavailable)) { try await bench.ask(.selectTone) }
            for operation in AIOperationID.allCases where operation != .pushBack {
                await #expect(throws: LocalRefusal.switchedOff, "\(operation)") {
                    try await Bench.run(operation, bench.local, NagID(high: 1, low: 1))
                }
            }
        }
        try await withFolder { folder in
            let bench = try Bench(folder)
            try bench.sync(facts(allowsMediation: false))
            for operation in AIOperationID.allCases where Self.remoteFirst[operation] == nil {
                await #expect(throws: LocalRefusal.consentMissing) { try await bench.ask(operation) }
            }
            #expect(bench.far.asked.isEmpty)
        }
    }

    @Test("a consent that the device does not know of counts as not given, and no excuse is sent")
    func unknownConsent() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            func expectRefusal() async {
                await #expect(throws: LocalRefusal.consentMissing) { try await bench.ask(.summarizeExcuse) }
                await #expect(throws: LocalRefusal.consentMissing) {
                    try await Bench.run(.summarizeExcuse, bench.local, NagID(high: 1, low: 1))
                }
            }
            await expectRefusal()
            // Rows are there already; what is in force comes with the last page.
            let first = page(nags: [syncedNag(1)], cursor: "a", hasMore: true)
            _ = try bench.cache.apply(first, of: homeFamily, requestedFrom: .cursor(nil), at: bench.now)
            await expectRefusal()
            #expect(bench.far.asked.isEmpty)
            // Whoever is asked about the past checks the consent itself.
            #expect(try await bench.ask(.selectTone).reason == .neverSynced)
            #expect(bench.far.asked == [.selectTone])
        }
    }

    @Test(
        "with privacy level local a question is answered on the device or not at all", arguments: AIOperationID.allCases
    )
    func local(operation: AIOperationID) async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            let nag = NagID(high: 1, low: 1)
            if operation != .summarizeExcuse, operation != .pushBack {
                await #expect(throws: CacheMiss.neverSynced) { try await Bench.run(operation, bench.local, nag) }
            }
            try bench.sync()
            bench.now = bench.now + .days(3)
            if operation == .pushBack {
                await #expect(throws: LocalRefusal.mustBeRecorded) { try await Bench.run(operation, bench.local, nag) }
            } else {
                try await Bench.run(operation, bench.local, nag)
            }
            // What a value holds is all it can use: nothing in it could send a request.
            #expect(Self.holdings(of: bench.local).allSatisfy { !$0.contains("Transport") && !$0.contains("Client") })
        }
    }

    /// The types of everything a value holds, directly or not.
    private static func holdings(of value: Any, depth: Int = 0) -> [String] {
        if depth > 6 { return [] }
        let mirror = Mirror(reflecting: value)
        return ["\(mirror.subjectType)"] + mirror.children.flatMap { holdings(of: $0.value, depth: depth + 1) }
    }

    @Test("a completion that waits in the outbox counts as done on this device")
    func reported() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            try bench.sync()
            let nag = NagID(high: 1, low: 1)
            let now = bench.now
            let facts = CacheFacts(bench.cache, family: homeFamily, outboxCompletions: [nag], now: { now })
            let local = LocalAIService(
                facts: facts, heuristics: Heuristics(phrasebook: try Phrasebook.english()), log: .silent(for: me))
            #expect(try await local.predictCompletion(nagID: nag).likelihood == 1)
            #expect(try await facts.nagFacts(nag).facts.categoryRecord == CompletionRecord(resolved: 3, completed: 2))
        }
    }

    @Test("homework that waits in the outbox counts as this week's")
    func reportedHomework() async throws {
        try await withFolder { folder in
            let bench = try Bench(folder)
            try bench.sync()
            let now = bench.now
            let facts = CacheFacts(
                bench.cache, family: homeFamily, outboxCompletions: [NagID(high: 1, low: 1)], now: { now })
            func recent(_ nag: UInt64) async throws -> CompletionRecord {
                try await facts.nagFacts(NagID(high: 1, low: nag)).facts.recentCategoryRecord
            }
            #expect(try await recent(1) == CompletionRecord.none, "not beside itself")
            let other = page(nags: [syncedNag(3), syncedNag(4, status: "missed")], cursor: "b")
            _ = try bench.cache.apply(other, of: homeFamily, requestedFrom: .cursor("a"), at: now)
            #expect(try await recent(3) == CompletionRecord(resolved: 2, completed: 1))
        }
    }

    @Test("the device remembers the latest answer of each operation")
    func answers() async throws {
        try await withFolder { folder in
            let cache = try EventCache(path: folder + "/cache.db", seal: .test)
            for (operation, minutes) in [(AIOperationID.digest, 1), (.coaching, 2), (.digest, 3)]
                as [(AIOperationID, Int64)]
            {
                try cache.store(
                    AnswerRecord(
                        operation: operation, place: .device, reason: .fresh, at: start + .minutes(minutes),
                        elapsedMicroseconds: minutes))
            }
            #expect(try cache.latestAnswerPerOperation().map(\.operation) == [.digest, .coaching])
            #expect(try cache.latestAnswerPerOperation().map(\.elapsedMicroseconds) == [3, 2])
        }
    }
}
