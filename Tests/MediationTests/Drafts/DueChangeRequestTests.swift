import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Drafts of due-time changes that a recipient requests")
struct DueChangeRequestTests {
    /// The refusal of the recipient's request.
    private static func refusal(
        of due: Timestamp, _ nag: NagResponse, as person: TestPerson, on server: TestServer
    ) async throws -> APIError {
        let refusal = try await #require(throws: APIError.self) {
            try await server.call(API.updateNag, NagPath(nagID: nag.id), NagUpdate(dueAt: due), as: person)
        }
        #expect(refusal.status == 422 && refusal.field == "due_at" && refusal.reason == "snooze_too_long")
        return refusal
    }

    @Test("a snooze beyond the limit is refused with a draft, whose execution by the creator moves the nag")
    func draft() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child)
            let due = nag.dueAt + .hours(2)
            let refusal = try await server.expectOnly(audit: ["draft.created"]) {
                try await Self.refusal(of: due, nag, as: family.child, on: server)
            }
            #expect(refusal.message.contains("at most 30 minutes"))
            let id = try #require(refusal.draftID)
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.details["addressee"] == family.participant.id.description)
            #expect(entry.details["nag"] == nag.id.description && entry.details["kind"] == "due_change")

            let page = try await server.call(
                API.listDrafts, DraftListQuery(familyID: family.id), as: family.participant)
            let draft = try #require(page.items.first)
            #expect(page.total == 1 && draft.id == id && draft.addresseeID == family.participant.id)
            #expect(draft.authorID == family.child.id && draft.body == .dueChange(DueChange(dueAt: due)))
            for person in [family.participant, family.child, family.guardian] {
                #expect(try await server.draft(id, as: person) == draft)
            }
            // Who asks may not decide, and asking so makes no second draft.
            try await server.expectOnly {
                try await server.expect(.refusal(.validationFailed, "due_at")) {
                    try await server.approve(draft, as: family.child)
                }
            }
            let key = try await server.confirmed(draft, as: family.participant)
            try await server.expectOnly(audit: ["nag.updated"], events: ["nag_updated"], stamped: 1) {
                try await server.execute(draft, key, as: family.participant)
            }
            #expect(try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.child).dueAt == due)
        }
    }

    @Test("equal requests are one draft, also at once, and a later time, or one after an answer, is another")
    func equalRequests() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let due = nag.dueAt + .hours(2)
            let ids = try await server.expectOnly(audit: ["draft.created"]) {
                try await withThrowingTaskGroup(of: DraftID?.self) { group in
                    for _ in 0..<6 {
                        group.addTask {
                            try await Self.refusal(of: due, nag, as: family.child, on: server).draftID
                        }
                    }
                    return try await group.reduce(into: Set<DraftID?>()) { $0.insert($1) }
                }
            }
            #expect(ids.count == 1)
            let first = try #require(ids.first ?? nil)
            let later = try await Self.refusal(of: due + .hours(1), nag, as: family.child, on: server).draftID
            #expect(later != nil && later != first)
            try await server.reject(server.draft(first, as: family.guardian), as: family.guardian)
            let again = try await Self.refusal(of: due, nag, as: family.child, on: server).draftID
            #expect(again != nil && again != first)
        }
    }

    @Test("the limit of a snooze is the family's")
    func familyLimit() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.sql("UPDATE policies SET max_snooze_minutes = 5 WHERE family_id = \(family.id)")
            let refusal = try await Self.refusal(of: nag.dueAt + .minutes(6), nag, as: family.child, on: server)
            #expect(refusal.message.contains("at most 5 minutes"))
        }
    }

    /// What leaves no room for a draft.
    enum Obstacle: String, CaseIterable, Sendable { case noConsent, modeOff, blocked, manyDrafts, tooFar }

    @Test(
        "without consent, AI, contact or room for a draft a long snooze is refused without one",
        arguments: Obstacle.allCases)
    func noDraft(_ obstacle: Obstacle) async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: obstacle == .noConsent ? [] : [.aiMediation])
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            var due = nag.dueAt + .hours(2)
            switch obstacle {
            case .noConsent: break
            case .modeOff:
                try await server.call(
                    API.updatePreferences, FamilyQuery(familyID: family.id),
                    PreferenceUpdate(preferences: ["ai_mode": "off"]), as: family.participant)
            case .blocked:
                try await server.call(
                    API.createBlock, BlockCreate(targetID: family.guardian.id), as: family.participant)
            case .manyDrafts:
                try await server.sql(
                    """
                    INSERT INTO daily_counts (user_id, act, day_started, count)
                    VALUES (\(family.participant.id), \(DailyLimit.draftSteps.rawValue), \(server.clock.now()),
                            \(DailyLimit.draftSteps.perDay))
                    """)
            case .tooFar: due = server.clock.now() + .days(800)
            }
            try await server.expectOnly {
                let refusal = try await Self.refusal(of: due, nag, as: family.participant, on: server)
                #expect(refusal.draftID == nil && refusal.message.hasSuffix("at most 30 minutes at a time."))
            }
        }
    }
}
