import Audit
import Contract
import Domain
import JSON
import NagzAI
import Postgres
import SQL
import Testing
import TimeZones

@testable import Server
@testable import ServerTestKit

@Suite("Background work on connection nags")
struct ConnectionNagWorkTests {
    @Test("phases, misses and series of a connection's nag are those of a family's, without points")
    func escalation() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let child = scene.family.child
            try await server.enableGamification(child)
            let nag = try await scene.nag(from: scene.friend, to: child, every: .daily)
            try await server.withScheduler { rounds in
                server.clock.set(to: nag.dueAt + .minutes(1))
                try await rounds.run()
                for person in [scene.friend, child, scene.parent, scene.family.secondGuardian] {
                    let state = try await server.call(API.getEscalation, NagPath(nagID: nag.id), as: person)
                    #expect(state.currentPhase == .overdueSoft)
                }
                // The next one is made when its due time has passed, over the same connection.
                let open = try await scene.list(NagListQuery(connectionID: scene.connection.id), as: scene.friend)
                #expect(open.count == 2)
                server.clock.set(to: nag.dueAt + .hours(24))
                try await rounds.run()
                #expect(try await scene.get(nag, as: child).status == .missed)
            }
            let deliveries = try await server.call(
                API.listDeliveries, DeliveryListQuery(nagID: nag.id), as: scene.friend)
            #expect(!deliveries.items.isEmpty)
            let scores = try await server.rows("SELECT id FROM gamification_events")
            #expect(scores.isEmpty)
            #expect(try await server.reconcile(scene.chain).findings.map(\.description) == [])
        }
    }

    @Test("a completion of a connection's nag scores nothing, also where the recipient family has a rule")
    func points() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let child = scene.family.child
            try await server.enableGamification(child)
            let nag = try await scene.nag(from: scene.friend, to: child)
            try await server.expectOnly(audit: ["nag.completed"], events: ["nag_completed"], stamped: 1) {
                _ = try await server.complete(nag.id, as: child)
            }
            let own = try await server.nag(from: scene.parent, to: child)
            try await server.expectOnly(
                audit: ["nag.completed"], events: ["nag_completed"], scores: ["nag_completed"], stamped: 1
            ) {
                _ = try await server.complete(own.id, as: child)
            }
        }
    }

    @Test("quiet hours of a connection's nag are those of the recipient's family, and changes apply at once")
    func quietHours() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let child = scene.family.child
            let nag = try await scene.nag(from: scene.friend, to: child)
            try await server.withScheduler { rounds in
                try await rounds.run()
                let quiet = ChildSettingsUpdate(
                    quietHoursStart: .value(try #require(TimeOfDay("00:00"))),
                    quietHoursEnd: .value(try #require(TimeOfDay("23:59"))))
                let path = MemberPath(familyID: scene.family.id, userID: child.id)
                try await server.call(API.updateChildSettings, path, quiet, as: scene.parent)
                server.clock.set(to: nag.dueAt + .minutes(1))
                try await rounds.run()
                let held = try await server.call(API.getEscalation, NagPath(nagID: nag.id), as: scene.friend)
                #expect(held.currentPhase == .initial)
                let none = ChildSettingsUpdate(quietHoursStart: .null, quietHoursEnd: .null)
                try await server.call(API.updateChildSettings, path, none, as: scene.parent)
                try await rounds.run()
                let phases = try await server.rows("SELECT phase FROM nags WHERE id = \(nag.id) AND phase = 2")
                #expect(phases.count == 1)
            }
        }
    }

    @Test("a child's snoozes of a day are counted over the family and its connections, in whatever order")
    func snoozes() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let child = scene.family.child
            let remote = try await scene.nag(from: scene.friend, to: child)
            let own = try await server.nag(from: scene.parent, to: child)
            try await server.call(
                API.updateChildSettings, MemberPath(familyID: scene.family.id, userID: child.id),
                ChildSettingsUpdate(maxSnoozesPerDay: 2), as: scene.parent)
            func snooze(_ nag: NagResponse, minutes: Int64) async throws {
                _ = try await scene.update(nag, NagUpdate(dueAt: nag.dueAt + .minutes(minutes)), as: child)
            }
            try await snooze(remote, minutes: 1)
            try await snooze(remote, minutes: 2)
            for nag in [own, remote] {
                let refusal = try await expectRefusal(403) { try await snooze(nag, minutes: 3) }
                #expect(refusal.reason == "snooze_limit_reached")
            }
            server.clock.advance(by: .days(1))
            let (tomorrow, other) = (
                try await server.nag(from: scene.parent, to: child), try await scene.nag(from: scene.friend, to: child)
            )
            try await snooze(tomorrow, minutes: 1)
            try await snooze(other, minutes: 1)
            for nag in [tomorrow, other] { try await expectRefusal(403) { try await snooze(nag, minutes: 2) } }
        }
    }

    @Test("a connection's nag notifies the recipient's device, and no longer after the connection's end")
    func deliveries() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let nag = try await scene.nag(from: scene.friend, to: scene.family.child)
            try await server.withScheduler { rounds in
                server.clock.set(to: nag.dueAt + .minutes(1))
                try await rounds.run()
            }
            func facts() async throws -> (SendingDecision, UserID) {
                let now = server.clock.now()
                return try await server.database.run { database in
                    let row = try await database.query(
                        "SELECT family_id, id FROM deliveries WHERE nag_id = \(nag.id) AND status = 'pending'"
                    ).onlyRow()
                    let (chain, id): (FamilyID, DeliveryID) = (try row["family_id"], try row["id"])
                    let claimed = try await database.query(
                        """
                        SELECT family_id, id, nag_id, user_id, attempts::bigint AS attempts, created_at, created_at AS due_at,
                               repeats::bigint AS repeats, false AS is_repeat, false AS is_digest
                        FROM deliveries WHERE family_id = \(chain) AND id = \(id)
                        """
                    ).onlyRow()
                    let claim = try ClaimedDelivery(claimed, .push, leasedUntil: now)
                    let facts = try DeliveryFacts(
                        try await database.query(DeliveryStatements.facts(of: claim)).onlyRow(), nil)
                    let decision = facts.decision(
                        on: claim, at: now, staleAfter: .hours(1), zones: ZoneTable(), plan: .standard)
                    return (decision, claim.userID)
                }
            }
            let (decision, user) = try await facts()
            guard case .send = decision else {
                Issue.record("\(decision)")
                return
            }
            #expect(user == scene.family.child.id)
            try await server.revoke(scene.connection, as: scene.friend)
            guard case .drop(.notAMember) = try await facts().0 else {
                Issue.record("sent after the connection")
                return
            }
        }
    }

    @Test("AI operations about a connection's nag answer creator and child, by the recipient's consent alone")
    func mediation() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let (child, friend) = (scene.family.child, scene.friend)
            // Misses at home are nobody's business outside.
            let missed = try await server.nag(from: scene.parent, to: child)
            try await server.withScheduler { rounds in
                server.clock.set(to: missed.dueAt + .hours(24))
                try await rounds.run()
            }
            let nag = try await scene.nag(from: friend, to: child, due: .hours(24))
            for person in [friend, child] {
                let tone = try await server.call(API.selectTone, ToneSelectRequest(nagID: nag.id), as: person)
                #expect(tone.missCount7d == 0 && tone.streak == 0)
                _ = try await server.call(API.coach, CoachingRequest(nagID: nag.id), as: person)
                _ = try await server.call(API.predictCompletion, NagQuery(nagID: nag.id), as: person)
                _ = try await server.call(
                    API.summarizeExcuse, ExcuseSummaryRequest(text: "I forgot", nagID: nag.id), as: person)
            }
            let home = try await server.nag(from: scene.parent, to: child)
            let own = try await server.call(API.selectTone, ToneSelectRequest(nagID: home.id), as: child)
            #expect(own.missCount7d == 1)
            _ = try await server.call(API.evaluatePushBack, PushBackRequest(nagID: nag.id), as: friend)
            for person in [child, scene.parent] {
                try await expectRefusal(403) {
                    try await server.call(API.evaluatePushBack, PushBackRequest(nagID: nag.id), as: person)
                }
            }
            for person in [scene.family.participant, scene.family.removed] {
                try await expectRefusal(404) {
                    try await server.call(API.selectTone, ToneSelectRequest(nagID: nag.id), as: person)
                }
            }
            // The friend's family has given no consent; the child's counts.
            try await server.revokeConsent(.aiMediation)
            for person in [friend, child] {
                let refusal = try await expectRefusal(403) {
                    try await server.call(API.selectTone, ToneSelectRequest(nagID: nag.id), as: person)
                }
                #expect(refusal.reason == "consent_missing")
            }
            try await expectRefusal(403) {
                try await server.call(
                    API.submitExcuse, NagPath(nagID: nag.id), ExcuseCreate(text: "I forgot"), as: child)
            }
        }
    }

    @Test("a family's outbox refuses items about a connection's nag")
    func outbox() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let nag = try await scene.nag(from: scene.friend, to: scene.family.child)
            for act in [
                InputAct.status(.completed, note: nil), .excuse(text: "I forgot", category: nil), .note(text: "Hm"),
            ] {
                let item = OutboxItem(
                    clientID: server.random.identifier(at: server.clock.now()), nagID: nag.id, act: act,
                    madeAt: server.clock.now())
                let answer = try await server.call(
                    API.uploadEvents, OutboxUpload(familyID: scene.family.id, items: [item]), as: scene.family.child)
                #expect(answer.results.map(\.outcome) == [.refused])
                #expect(answer.results.first?.error?.code == .notFound)
            }
            #expect(try await scene.get(nag, as: scene.family.child).status == .open)
        }
    }

    @Test("an export has connections' nags and excuses, and forgetting a person's excuses erases their text alone")
    func exportAndPurge() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let child = scene.family.child
            let nag = try await scene.nag(from: scene.friend, to: child)
            let words = "I forgot the very thing"
            try await server.call(API.submitExcuse, NagPath(nagID: nag.id), ExcuseCreate(text: words), as: child)
            for person in [child, scene.friend] {
                _ = try await server.call(API.selectTone, ToneSelectRequest(nagID: nag.id), as: person)
                let export = try await server.call(API.exportAccount, NoParameters(), as: person)
                let exported = try #require(export.sections[.nags]?.first)
                #expect(exported["id"] == .string(nag.id.description) && exported["family_id"] == .null)
                #expect(exported["connection_id"] == .string(scene.connection.id.description))
                #expect(export.sections[.excuses]?.count == (person == child ? 1 : 0))
            }
            for person in [scene.parent, scene.family.participant] {
                let export = try await server.call(API.exportAccount, NoParameters(), as: person)
                #expect(export.sections[.nags]?.isEmpty == true && export.sections[.excuses]?.isEmpty == true)
            }
            let others = "I was at the other place"
            let own = try await server.nag(from: scene.parent, to: scene.family.participant)
            try await server.call(
                API.submitExcuse, NagPath(nagID: own.id), ExcuseCreate(text: others), as: scene.family.participant)
            _ = try await server.call(API.deleteAccount, AccountPath(userID: child.id), as: scene.parent)
            func texts() async throws -> [JSONValue] {
                try await server.rows("SELECT text FROM excuses ORDER BY text NULLS FIRST")
            }
            #expect(try await texts() == [["text": .string(words)], ["text": .string(others)]])
            try await server.database.run { database in
                for rows in [NagStatements.excuseWordsOfPerson, AIStatements.answersToPerson] {
                    _ = try await database.query(rows.erase(rows.keys(child.id, 10)))
                }
            }
            let askers = try await server.rows("SELECT actor_id FROM ai_mediation_events")
            #expect(askers == [["actor_id": .string(scene.friend.id.description)]])
            #expect(try await texts() == [["text": nil], ["text": .string(others)]], "those of others stay")
            let left = try await server.call(API.listExcuses, ExcuseListQuery(nagID: nag.id), as: scene.friend)
            #expect(left.items.map(\.summary) == [words], "the summary that others have seen stays")
        }
    }

    @Test("a child may report and block a caregiver who nagged it")
    func safety() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let report = AbuseReportCreate(targetID: scene.friend.id, reason: "rude")
            try await expectRefusal(404) {
                try await server.call(API.createAbuseReport, report, as: scene.family.child)
            }
            _ = try await scene.nag(from: scene.friend, to: scene.family.child)
            _ = try await server.call(API.createAbuseReport, report, as: scene.family.child)
            try await expectRefusal(404) {
                try await server.call(API.createAbuseReport, report, as: scene.family.participant)
            }
        }
    }
}
