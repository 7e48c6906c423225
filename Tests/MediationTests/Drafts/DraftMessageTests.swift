import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Drafts of push-backs and rewards")
struct DraftMessageTests {
    private static func create(
        _ kind: DraftKind, _ nag: NagID, _ body: DraftBody? = nil, in family: Household, _ server: TestServer,
        as person: TestPerson
    ) async throws -> DraftResponse {
        try await server.call(
            API.createDraft, DraftCreate(familyID: family.id, kind: kind, nagID: nag, body: body), as: person)
    }

    @Test("a push-back is worded by the rules, edited, and sent to the recipient by feed and notification")
    func pushBack() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.register("token", as: family.child)
            let nag = try await server.nag(from: family.participant, to: family.child)
            let draft = try await server.expectOnly(audit: ["draft.created"]) {
                try await Self.create(.pushBack, nag.id, in: family, server, as: family.participant)
            }
            guard case .pushBack(let worded) = draft.body else { throw DraftMessageError.otherKind }
            #expect(!worded.message.isEmpty && draft.nagID == nag.id && draft.model == "heuristic")
            let words = "The parrot waits, Cleo."
            let edited = try await server.edit(draft, DraftBodyChanges(message: words), as: family.participant)
            let key = try await server.confirmed(edited, as: family.participant)
            let before = try await server.rows("SELECT id FROM deliveries").count
            let executed = try await server.expectOnly(
                audit: ["draft.executed"], events: ["push_back_sent"], mediations: ["push_back"], stamped: 0
            ) {
                try await server.execute(edited, key, as: family.participant)
            }
            #expect(try await server.rows("SELECT id FROM deliveries").count == before + 1)
            #expect(try await server.payloads("push_back_sent", of: nag.id).map { $0.contains(words) } == [true])
            let event = try #require(executed.resultID)
            #expect(try await server.rows("SELECT id FROM nag_events WHERE id = \(event)").count == 1)
            #expect(!"\(try await server.audit(family.id))".contains("parrot"))

            // It counts as one of the mediator's own.
            let again = try await expectRefusal(409) {
                try await Self.create(.pushBack, nag.id, in: family, server, as: family.guardian)
            }
            #expect(again.reason == "cooldown_active")
            let given = try await Self.create(
                .pushBack, nag.id, .pushBack(PushBackMessage(message: "now")), in: family, server, as: family.guardian)
            let refused = try await expectRefusal(409) { try await server.approve(given, as: family.guardian) }
            #expect(refused.reason == "cooldown_active")
        }
    }

    @Test("of ten push-backs of as many drafts at once, one is sent")
    func pushBacksAtOnce() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            var drafts: [(DraftResponse, DraftConfirmation)] = []
            for number in 0..<10 {
                let draft = try await Self.create(
                    .pushBack, nag.id, .pushBack(PushBackMessage(message: "\(number)")), in: family, server,
                    as: family.guardian)
                drafts.append((draft, try await server.confirmed(draft, as: family.guardian)))
            }
            let all = drafts
            let outcomes = try await server.expectOnly(
                audit: ["draft.executed"], events: ["push_back_sent"], mediations: ["push_back"]
            ) {
                try await together(outcomesOf: all.count) { number in
                    try await server.execute(all[number].0, all[number].1, as: family.guardian)
                }
            }
            #expect(outcomes.count { (try? $0.get()) != nil } == 1)
        }
    }

    @Test("the recipient and others can neither have a push-back drafted nor approve or send it")
    func pushBackRights() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.expectOnly(audit: ["ai.push_back.denied"]) {
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await Self.create(.pushBack, nag.id, in: family, server, as: family.child)
                }
            }
            try await server.expect(.refusal(.notFound)) {
                try await Self.create(.pushBack, nag.id, in: family, server, as: family.participant)
            }
            let draft = try await Self.create(
                .pushBack, nag.id, .pushBack(PushBackMessage(message: "m")), in: family, server, as: family.child)
            try await server.expect(.refusal(.authorizationDenied)) {
                try await server.approve(draft, as: family.child)
            }
            _ = try await server.complete(nag.id, as: family.child)
            let closed = try await expectRefusal(409) { try await server.approve(draft, as: family.guardian) }
            #expect(closed.reason == "nag_not_open")
        }
    }

    @Test("a guardian gives what a rule promises for a completed nag, once")
    func consequence() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            let nag = try await server.nag(from: family.participant, to: family.child)
            let rule = try await server.call(
                API.createIncentiveRule,
                IncentiveRuleCreate(
                    familyID: family.id, condition: IncentiveCondition(type: .nagCompleted, count: 100),
                    action: IncentiveAction(type: .bonusPoints, amount: 7), approvalMode: .guardianConfirmed),
                as: family.guardian)
            let body = DraftBody.consequence(Consequence(ruleID: rule.id, actionType: .bonusPoints, amount: 7))
            let draft = try await Self.create(.consequence, nag.id, body, in: family, server, as: family.participant)
            let open = try await expectRefusal(409) { try await server.approve(draft, as: family.guardian) }
            #expect(open.reason == "nag_not_completed")
            _ = try await server.complete(nag.id, as: family.child)
            try await server.expect(.refusal(.authorizationDenied)) {
                try await server.approve(draft, as: family.participant)
            }
            let greedy = try await server.edit(draft, DraftBodyChanges(amount: 8), as: family.participant)
            try await expectRefusal(409) { try await server.approve(greedy, as: family.guardian) }
            let fair = try await server.edit(greedy, DraftBodyChanges(amount: 7), as: family.participant)
            let key = try await server.confirmed(fair, as: family.guardian)
            let executed = try await server.expectOnly(
                audit: ["incentive.approved"], scores: ["bonus_points"]
            ) {
                try await server.execute(fair, key, as: family.guardian)
            }
            let given = try #require(executed.resultID)
            let rows = try await server.rows(
                "SELECT action_type, applied_at IS NOT NULL AS applied FROM incentive_events WHERE id = \(given)")
            #expect(rows == [["action_type": "bonus_points", "applied": true]])
            let second = try await Self.create(.consequence, nag.id, body, in: family, server, as: family.guardian)
            let twice = try await expectRefusal(409) { try await server.approve(second, as: family.secondGuardian) }
            #expect(twice.reason == "given_before")
        }
    }

    @Test("nobody gives themselves a reward, and a draft of one needs a body")
    func ownReward() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.guardian)
            let nag = try await server.nag(from: family.participant, to: family.guardian)
            _ = try await server.complete(nag.id, as: family.guardian)
            let body = DraftBody.consequence(
                Consequence(
                    ruleID: server.random.identifier(at: server.clock.now()), actionType: .bonusPoints, amount: 1))
            let draft = try await Self.create(.consequence, nag.id, body, in: family, server, as: family.guardian)
            let own = try await expectRefusal(403) { try await server.approve(draft, as: family.guardian) }
            #expect(own.reason == "own_incentive")
            try await server.expect(.refusal(.notFound)) {
                try await server.approve(draft, as: family.secondGuardian)
            }
            try await server.expect(.refusal(.validationFailed, "body")) {
                try await Self.create(.consequence, nag.id, in: family, server, as: family.guardian)
            }
        }
    }
}

private enum DraftMessageError: Error { case otherKind }
