import Contract
import Device
import Domain
import LocalAI
import NagzAI
import Testing

@Suite("Constraints on the device")
struct DeviceConstraintTests {
    private static let nag = NagID(high: 1, low: 1)
    /// What only the server answers, and what it answers first.
    private static let serverOnly: Set<AIOperationID> = [.pushBack]
    private static let serverFirst: Set<AIOperationID> = [.pushBack, .digest]

    /// A constraint of the family on questions whose content has a word; on all questions without one.
    private func constraint(
        _ number: UInt64, _ action: ConstraintAction, on word: String? = nil, scope: ConstraintScope = .family
    ) throws -> ConstraintFacts {
        let condition =
            if let word {
                try ConstraintCondition(field: "content", operator: "contains", value: word)
            } else {
                try ConstraintCondition(field: "token_count", operator: "lessThan", value: "10000")
            }
        return ConstraintFacts(
            id: ConstraintID(high: 7, low: number),
            terms: ConstraintTerms(
                scope: scope, name: "c\(number)", type: .privacy, priority: Int(number), conditions: [condition],
                action: action))
    }

    /// A bench whose cache has the family's rows, and these constraints.
    private func bench(_ folder: String, _ constraints: [ConstraintFacts]) throws -> Bench {
        let bench = try Bench(folder)
        var facts = facts()
        facts.constraints = constraints
        try bench.sync(facts)
        return bench
    }

    private func expect(
        _ refusal: QuestionRefusal, of operation: AIOperationID, _ bench: Bench,
        at location: SourceLocation = #_sourceLocation
    ) async {
        await #expect(throws: refusal, sourceLocation: location) { try await bench.ask(operation) }
        if !Self.serverOnly.contains(operation) {
            await #expect(throws: refusal, sourceLocation: location) {
                try await Bench.run(operation, bench.local, Self.nag)
            }
        }
        #expect(bench.far.asked.isEmpty && bench.records.isEmpty, sourceLocation: location)
    }

    @Test(
        "a block refuses every operation with its reason, on the device as at the server",
        arguments: AIOperationID.allCases)
    func block(operation: AIOperationID) async throws {
        try await withFolder { folder in
            let all = try constraint(2, .block(reason: "not now"))
            let bench = try bench(folder, [try constraint(1, .warn(message: "mind")), all])
            let engine = PolicyEngine([try all.terms.constraint(all.id)])
            let question = Question(
                id: QuestionID(high: 0, low: 0), operation: .operation(operation), content: "", askedAt: bench.now)
            let violation = try #require(engine.evaluate(question).violation)
            #expect(violation.reason == "not now" && violation.constraintID == all.id)
            await expect(.noRoute(.blocked(violation)), of: operation, bench)
            #expect(Set(bench.shown) == ["warning: mind"], "warnings are shown beside a block")
        }
    }

    @Test("a device's own constraint is obeyed, outlives a sync, is sealed, and can be deleted")
    func ownOfDevice() async throws {
        try await withFolder { folder in
            let bench = try bench(folder, [])
            let own = try constraint(1, .block(reason: "not my words"), on: "forgot", scope: .own)
            #expect(try bench.cache.addOwnConstraint(own.terms, own.id, of: homeFamily))
            await #expect(throws: QuestionRefusal.self) { try await bench.ask(.summarizeExcuse) }
            let again = page(cursor: "b", facts: facts())
            _ = try bench.cache.apply(again, of: homeFamily, requestedFrom: .cursor("a"), at: bench.now)
            #expect(try bench.cache.ownConstraints(of: homeFamily).map(\.id) == [own.id])
            await #expect(throws: QuestionRefusal.self) { try await bench.ask(.summarizeExcuse) }
            for number in 2...UInt64(EventCache.maxOwnConstraintsPerFamily) {
                #expect(try bench.cache.addOwnConstraint(own.terms, ConstraintID(high: 8, low: number), of: homeFamily))
            }
            #expect(
                try !bench.cache.addOwnConstraint(own.terms, ConstraintID(high: 8, low: 1), of: homeFamily),
                "no more than the limit"
            )
            #expect(
                try !bench.cache.addOwnConstraint(
                    own.terms, ConstraintID(high: 9, low: 1), of: FamilyID(high: 0, low: 9)))
            #expect(bench.far.asked.isEmpty)
            for constraint in try bench.cache.ownConstraints(of: homeFamily) {
                #expect(try bench.cache.deleteOwnConstraint(constraint.id))
            }
            #expect(try !bench.cache.deleteOwnConstraint(own.id))
            #expect(try await bench.ask(.summarizeExcuse).place == .device)
        }
    }

    @Test("a block on words refuses an excuse that has them, in any case, and no other")
    func words() async throws {
        try await withFolder { folder in
            let bench = try bench(folder, [try constraint(1, .block(reason: "no"), on: "FORGOT|passport", scope: .own)])
            await #expect(throws: QuestionRefusal.self) { try await bench.ask(.summarizeExcuse) }
            for operation in AIOperationID.allCases where operation != .summarizeExcuse {
                #expect(
                    try await bench.ask(operation).place == (Self.serverFirst.contains(operation) ? .server : .device))
            }
            #expect(bench.shown.isEmpty)
        }
    }

    @Test("the next sync replaces a device's constraints, also by none")
    func synced() async throws {
        try await withFolder { folder in
            let bench = try bench(folder, [try constraint(1, .block(reason: "no")), try constraint(2, .forceLocal)])
            #expect(try bench.cache.constraints(of: homeFamily).map(\.name).sorted() == ["c1", "c2"])
            await #expect(throws: QuestionRefusal.self) { try await bench.ask(.coaching) }
            // A page after which nothing has happened carries no facts.
            _ = try bench.cache.apply(page(cursor: "b"), of: homeFamily, requestedFrom: .cursor("a"), at: bench.now)
            await #expect(throws: QuestionRefusal.self) { try await bench.ask(.coaching) }
            _ = try bench.cache.apply(
                page(cursor: "c", facts: facts()), of: homeFamily, requestedFrom: .cursor("b"), at: bench.now)
            #expect(try await bench.ask(.coaching).reason == .fresh)
            #expect(try bench.cache.constraints(of: homeFamily).isEmpty)
        }
    }

    @Test("constraints on the device are removed with their family")
    func removed() async throws {
        try await withFolder { folder in
            let bench = try bench(folder, [try constraint(1, .forceLocal)])
            #expect(try bench.cache.constraints(of: homeFamily).count == 1)
            try bench.cache.remove(homeFamily)
            #expect(try bench.cache.constraints(of: homeFamily).isEmpty)
        }
    }

    @Test(
        "under force_local the device asks nothing of the server, also with a stale cache",
        arguments: AIOperationID.allCases)
    func forceLocal(operation: AIOperationID) async throws {
        try await withFolder { folder in
            let bench = try bench(folder, [try constraint(1, .forceLocal)])
            bench.now = bench.now + .days(3)
            if operation == .pushBack {
                await #expect(throws: LocalRefusal.mustBeRecorded) { try await bench.ask(operation) }
            } else {
                let record = try await bench.ask(operation)
                let isOfWords = operation == .summarizeExcuse
                #expect(record.place == .device && record.reason == (isOfWords ? .local : .constraint))
            }
            #expect(bench.far.asked.isEmpty)
        }
    }

    @Test("under force_local a question whose facts the device lacks is not sent elsewhere")
    func forceLocalWithoutFacts() async throws {
        try await withFolder { folder in
            let bench = try bench(folder, [try constraint(1, .forceLocal)])
            await #expect(throws: CacheMiss.nagUnknown) { try await bench.ask(.selectTone, nag: 77) }
            var switchedOff = facts(allowsOnDevice: false)
            switchedOff.constraints = [try constraint(1, .forceLocal)]
            _ = try bench.cache.apply(
                page(cursor: "b", facts: switchedOff), of: homeFamily, requestedFrom: .cursor("a"), at: bench.now)
            await #expect(throws: LocalRefusal.switchedOff) { try await bench.ask(.selectTone) }
            #expect(bench.far.asked.isEmpty)
        }
    }

    @Test("under force_cloud the device asks the server alone, but summarizes an excuse itself")
    func forceCloud() async throws {
        try await withFolder { folder in
            let bench = try bench(folder, [try constraint(1, .forceCloud)])
            let record = try await bench.ask(.coaching)
            #expect(record.place == .server && record.reason == .constraint)
            #expect(try await bench.ask(.summarizeExcuse).place == .device)
            #expect(bench.far.asked == [.coaching] && bench.shown == ["warning: \(Router.ignoredForceCloudWarning)"])
            bench.far.isDown = true
            await #expect(throws: QuestionRefusal.noRoute(.networkUnavailable)) { try await bench.ask(.coaching) }
        }
    }

    @Test("a confirmation is asked for once, and without it nothing is answered")
    func confirmation() async throws {
        try await withFolder { folder in
            let bench = try bench(
                folder,
                [
                    try constraint(1, .requireConfirmation(prompt: "Sure?")), try constraint(2, .warn(message: "long")),
                    try constraint(3, .requireConfirmation(prompt: "Really?")),
                ])
            let prompt = "Sure?\n\nReally?"
            await expect(.unconfirmed(prompt: prompt), of: .coaching, bench)
            bench.confirmation = .declined
            await expect(.declined, of: .digest, bench)
            bench.confirmation = .given
            bench.shown = []
            #expect(try await bench.ask(.coaching).place == .device)
            #expect(bench.shown == ["warning: long", "confirm: \(prompt)"])
        }
    }

    @Test("the sync brings a person's choices of privacy level and mode")
    func choices() async throws {
        try await withFolder { folder in
            let bench = try bench(folder, [])
            var syncs = 0
            func choose(_ mode: AIMode = .heuristic, _ level: PrivacyLevel = .auto) throws {
                var facts = facts()
                facts.choices = AIChoices(mode: mode, privacyLevel: level, tokenThreshold: 4_096)
                let position = FeedPosition.cursor(syncs == 0 ? "a" : "a\(syncs)")
                syncs += 1
                #expect(
                    try bench.cache.apply(
                        page(cursor: "a\(syncs)", facts: facts), of: homeFamily, requestedFrom: position, at: bench.now)
                )
                #expect(try bench.cache.choices(of: homeFamily) == facts.choices)
            }
            #expect(try bench.cache.choices(of: homeFamily) == .standard)
            try choose(.heuristic, .local)
            #expect(try await bench.ask(.digest).place == .device && bench.records.last?.reason == .local)
            try choose(.heuristic, .cloud)
            #expect(try await bench.ask(.coaching).reason == .cloud && bench.far.asked == [.coaching])
            #expect(try await bench.ask(.summarizeExcuse).place == .device)
            try choose(.onDeviceOnly)
            await #expect(throws: QuestionRefusal.noRoute(.unavailableInMode)) { try await bench.ask(.coaching) }
            try choose(.localOnly)
            for operation in [AIOperationID.coaching, .digest] {
                #expect(try await bench.ask(operation).place == .device)
            }
            await #expect(throws: CacheMiss.nagUnknown) { try await bench.ask(.coaching, nag: 77) }
            try choose(.off)
            for operation in AIOperationID.allCases {
                await #expect(throws: QuestionRefusal.noRoute(.switchedOff)) { try await bench.ask(operation) }
            }
            #expect(bench.far.asked == [.coaching])
            try choose()
            #expect(try await bench.ask(.coaching).reason == .fresh)
        }
    }
}
