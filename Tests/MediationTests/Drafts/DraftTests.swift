import Contract
import Domain
import JSON
import NagzAI
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Drafts: creation, approval and execution")
struct DraftTests {
    @Test("words become a draft and the draft a nag, with one entry for each step and no words in any")
    func suggestedNag() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let words = "Cleo takes her pills tomorrow at 7am, the parrot ones"
            let draft = try await server.expectOnly(audit: ["draft.created"]) {
                try await server.draft(words, in: family, source: .voice, as: family.participant)
            }
            let suggested = try #require(draft.suggestedNag)
            #expect(suggested.recipientID == family.child.id && suggested.category == .meds)
            #expect(suggested.description == words && suggested.doneDefinition == .binaryCheck)
            // 7:00 in New York, daylight saving time.
            #expect(suggested.dueAt == Timestamp(rfc3339: "2026-03-11T11:00:00Z"))
            #expect(draft.confidence == 0.3 && draft.model == "heuristic" && draft.source == .voice)
            #expect(draft.progress.expiresAt == server.clock.now() + .hours(24) && draft.etag == "\"1\"")
            #expect(draft.progress.state == .draft && draft.progress.version == 1 && draft.citations.isEmpty)

            let edited = try await server.expectOnly(audit: ["draft.edited"]) {
                try await server.edit(
                    draft, DraftBodyChanges(dueAt: server.clock.now() + .hours(3)), as: family.participant,
                    ifMatch: "\"1\"")
            }
            #expect(edited.progress.version == 2)
            let approved = try await server.expectOnly(audit: ["draft.approved"]) {
                try await server.approve(edited, as: family.guardian)
            }
            #expect(approved.progress.state == .approved && approved.approvedBy == family.guardian.id)
            let key = try await server.expectOnly(audit: ["draft.confirmed"]) {
                try await server.confirm(edited, as: family.participant)
            }
            #expect(key.expiresAt == server.clock.now() + .seconds(60))
            let executed = try await server.expectOnly(audit: ["nag.created"], events: ["nag_created"], stamped: 1) {
                try await server.execute(edited, key, as: family.participant)
            }
            #expect(executed.progress.state == .executed && executed.executedBy == family.participant.id)
            let nag = try await server.call(
                API.getNag, NagPath(nagID: try #require(executed.resultID).retyped()), as: family.child)
            #expect(nag.creatorID == family.participant.id && nag.recipientID == family.child.id)
            #expect(nag.dueAt == server.clock.now() + .hours(3) && nag.description == words && nag.category == .meds)

            let lines = try await server.audit(family.id)
            let line = try #require(lines.last)
            #expect(line.details["draft"] == draft.id.description && line.details["draft_version"] == "2")
            #expect(line.details["draft_self_approved"] == "false" && line.details["draft_source"] == "voice")
            #expect(line.details["draft_side_effects"] == "create_nag,notify_recipient")
            #expect(!"\(lines)".contains("parrot") && !"\(lines)".contains(key.confirmation.wireText))
            #expect(try await server.draft(draft.id, as: family.secondGuardian) == executed)
        }
    }

    @Test("a due-time draft becomes an edit for creator and guardians, and a snooze for the recipient")
    func dueChange() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child)
            for (person, kind, minutes) in [
                (family.participant, "nag.updated", 180), (family.guardian, "nag.updated", 240),
                (family.child, "nag.snoozed", 250),
            ] as [(TestPerson, String, Int64)] {
                let due = nag.createdAt + .minutes(minutes)
                let draft = try await server.draft(of: nag.id, due: due, in: family, as: person)
                #expect(draft.citations == [nag.id.retyped()] && draft.confidence == nil && draft.model == "client")
                let key = try await server.confirmed(draft, as: person)
                let event = kind.replacing(".", with: "_")
                let executed = try await server.expectOnly(audit: [kind], events: [event], stamped: 1) {
                    try await server.execute(draft, key, as: person)
                }
                #expect(executed.resultID == nag.id.retyped())
                #expect(try await server.call(API.getNag, NagPath(nagID: nag.id), as: person).dueAt == due)
            }
            let same = try await server.draft(
                of: nag.id, due: nag.createdAt + .minutes(250), in: family, as: family.guardian)
            let key = try await server.confirmed(same, as: family.guardian)
            try await server.expectOnly(audit: ["draft.executed"]) {
                try await server.execute(same, key, as: family.guardian)
            }
            let words = try await server.call(
                API.createDraft,
                DraftCreate(familyID: family.id, kind: .dueChange, nagID: nag.id, text: "move it to Friday at 5"),
                as: family.guardian)
            #expect(words.body == .dueChange(DueChange(dueAt: Timestamp(rfc3339: "2026-03-13T21:00:00Z") ?? .epoch)))
            let timeless = DraftCreate(familyID: family.id, kind: .dueChange, nagID: nag.id, text: "later")
            try await server.expect(.refusal(.validationFailed, "text")) {
                try await server.call(API.createDraft, timeless, as: family.guardian)
            }
            try await server.expect(.refusal(.validationFailed, "nag_id")) {
                try await server.call(
                    API.createDraft, DraftCreate(familyID: family.id, kind: .dueChange, text: "at 5"),
                    as: family.guardian)
            }
            try await server.expect(.refusal(.validationFailed, "body.category")) {
                try await server.edit(words, DraftBodyChanges(category: .meds), as: family.guardian)
            }
        }
    }

    @Test("a draft allows nobody what they may not do without one")
    func entitlement() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft("Pat does the dishes", in: family, as: family.child)
            for _ in 0..<2 {
                try await server.expect(.refusal(.policyForbidden)) {
                    try await server.approve(draft, as: family.child)
                }
            }
            try await server.expectOnly {
                try await server.expect(.refusal(.notFound)) {
                    try await server.approve(draft, as: family.participant)
                }
            }
            try await server.approve(draft, as: family.guardian)
            try await server.expect(.refusal(.policyForbidden)) {
                _ = try await server.confirm(draft, as: family.child)
            }
            let key = try await server.confirm(draft, as: family.guardian)
            try await server.expect(.refusal(.conflict)) {
                try await server.execute(draft, key, as: family.child)
            }
            // Rights count when they are used: the two are blocked by now.
            try await server.call(
                API.createBlock, BlockCreate(targetID: family.participant.id), as: family.guardian)
            try await server.expectOnly(audit: ["nag.create.denied"]) {
                try await server.expect(.refusal(.policyForbidden)) {
                    try await server.execute(draft, key, as: family.guardian)
                }
            }
            #expect(try await server.draft(draft.id, as: family.child).progress.state == .confirmed)
        }
    }

    @Test("words that are not understood as a time are a warning, lower the confidence, and move nothing")
    func misread() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft(
                "Cleo takes the bins out every Monday at half 8", in: family, as: family.guardian)
            #expect(draft.warnings == ["Not understood as a time: “every Monday”, “at half 8”."])
            #expect(draft.confidence == 0.1)
            // 18:00 in New York.
            #expect(draft.suggestedNag?.dueAt == Timestamp(rfc3339: "2026-03-11T22:00:00Z"))
            let understood = try await server.draft(
                "Cleo takes the bins out the day after tomorrow at half past 8", in: family, as: family.guardian)
            #expect(understood.warnings.isEmpty && understood.confidence == 0.3)
            #expect(understood.suggestedNag?.dueAt == Timestamp(rfc3339: "2026-03-12T12:30:00Z"))
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let order = DraftCreate(
                familyID: family.id, kind: .dueChange, nagID: nag.id, text: "move it to next week")
            let refused = try await refusal {
                try await server.call(API.createDraft, order, as: family.guardian)
            }
            #expect(refused.status == 422 && refused.field == "text")
            #expect(refused.message.contains("“next week”"))
        }
    }

    @Test("an approval names exactly the draft's side effects")
    func acknowledged() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft(in: family, as: family.guardian)
            for effects in [[], [.createNag], [.createNag, .notifyRecipient, .changeNag]] as [[DraftSideEffect]] {
                try await server.expectOnly {
                    try await server.expect(.refusal(.validationFailed, "acknowledged_side_effects")) {
                        try await server.approve(draft, effects, as: family.guardian)
                    }
                }
            }
            try await server.approve(draft, [.notifyRecipient, .createNag], as: family.guardian)
            try await server.expectOnly { try await server.approve(draft, as: family.secondGuardian) }
        }
    }

    @Test("a draft's context is rows of the family that the caller may see")
    func context() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let seen = try await server.nag(from: family.guardian, to: family.child)
            let hidden = try await server.nag(from: family.guardian, to: family.participant)
            _ = try await server.call(
                API.submitExcuse, NagPath(nagID: seen.id), ExcuseCreate(text: "the bus"), as: family.child)
            _ = try await server.call(
                API.selectTone, NoParameters(), AIEnvelope(ToneSelectRequest(nagID: seen.id)), as: family.child)
            let others = try await server.nag(from: family.stranger, to: family.stranger)
            func ids(_ query: SQL) async throws -> [ResourceID] {
                try await server.database.rows(query) { try $0["id"] }
            }
            let events = try await ids("SELECT id FROM nag_events WHERE nag_id = \(seen.id)")
            let excuses = try await ids("SELECT id FROM excuses WHERE nag_id = \(seen.id)")
            let answers = try await ids("SELECT id FROM ai_mediation_events WHERE nag_id = \(seen.id)")
            func create(_ ids: [ResourceID], _ person: TestPerson) async throws {
                try await server.call(
                    API.createDraft,
                    DraftCreate(
                        familyID: family.id, kind: .digest, contextIDs: ids, recipientIDs: [family.guardian.id]),
                    as: person)
            }
            // The nag will have been due this week by then.
            server.clock.advance(by: .hours(72))
            let all: [ResourceID] = [seen.id.retyped()] + events + excuses + answers
            #expect(events.count == 2 && excuses.count == 1 && answers.count == 1)
            try await create(all, family.child)
            try await create(Array(all.dropLast()) + [hidden.id.retyped()], family.secondGuardian)
            // An answer is between the mediator and who asked.
            try await server.expect(.refusal(.notFound, "context_ids")) {
                try await create(answers, family.secondGuardian)
            }
            for id in all {
                try await server.expect(.refusal(.notFound, "context_ids")) {
                    try await create([id], family.participant)
                }
            }
            let made: ResourceID = server.random.identifier(at: server.clock.now())
            for id in [hidden.id.retyped(), others.id.retyped(), made] as [ResourceID] {
                try await server.expectOnly {
                    try await server.expect(.refusal(.notFound, "context_ids")) {
                        try await create(all + [id], family.child)
                    }
                }
            }
        }
    }

    @Test("constraints can refuse a draft's words, and consent and preferences the AI")
    func gates() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.constraint(
                try .about(
                    "block", .family, 1, .block(reason: "private"), [("content", "contains", "passport")]),
                in: family)
            try await server.constraint(
                try .about(
                    "ask", .family, 2, .requireConfirmation(prompt: "Sure?"), [("content", "contains", "dentist")]),
                in: family)
            let refused = try await server.expectOnly(audit: ["ai_execution.refused"]) {
                try await expectRefusal(403) {
                    try await server.draft("my passport is blue", in: family, as: family.participant)
                }
            }
            #expect(refused.execution?.code == "E-POLICY-001" && refused.message == "private")
            #expect(try await server.draft("dentist at 5", in: family, as: family.child).warnings == ["Sure?"])
            try await server.revokeConsent(.aiMediation)
            try await server.expectOnly {
                let refused = try await expectRefusal(403) {
                    try await server.draft(in: family, as: family.participant)
                }
                #expect(refused.reason == "consent_missing")
            }
        }
    }

    @Test("a page of drafts has the newest first: one's own, and for guardians everybody's")
    func pages() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            var drafts: [DraftResponse] = []
            for person in [family.participant, family.child, family.guardian] {
                server.clock.advance(by: .seconds(1))
                drafts.append(try await server.draft(in: family, as: person))
            }
            func list(_ state: DraftState?, as person: TestPerson) async throws -> [DraftID] {
                try await server.call(API.listDrafts, DraftListQuery(familyID: family.id, state: state), as: person)
                    .items.map(\.id)
            }
            #expect(try await list(nil, as: family.secondGuardian) == drafts.reversed().map(\.id))
            #expect(try await list(nil, as: family.child) == [drafts[1].id])
            try await server.reject(drafts[1], as: family.guardian)
            #expect(try await list(.rejected, as: family.guardian) == [drafts[1].id])
            #expect(try await list(.draft, as: family.participant) == [drafts[0].id])
            server.clock.advance(by: .hours(24))
            #expect(try await list(.expired, as: family.guardian) == [drafts[0].id])
        }
    }

    @Test("a draft's words are in the author's export, and are erased with the account and after 30 days")
    func words() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.draft("the parrot", in: family, as: family.participant)
            try await server.draft("the dishes", in: family, as: family.guardian)
            let export = try await server.call(API.exportAccount, as: family.participant)
            let drafts = try #require(export.sections[.drafts])
            #expect(drafts.count == 1 && String(decoding: drafts[0].jsonBytes, as: UTF8.self).contains("the parrot"))
            try await server.call(API.deleteAccount, AccountPath(userID: family.participant.id), as: family.participant)
            #expect(
                try await server.rows("SELECT state FROM drafts ORDER BY id") == [
                    ["state": "rejected"], ["state": "draft"],
                ])
            server.clock.advance(by: .seconds(30 * 86_400 + 1))
            let deleted = try await server.database.run {
                try await Housekeeping.applyRetention($0, at: server.clock.now())
            }
            #expect(deleted >= 2)
            #expect(try await server.rows("SELECT id FROM drafts").isEmpty)
        }
    }
}
