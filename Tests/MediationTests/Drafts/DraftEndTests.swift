import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Drafts whose author lost the AI")
struct DraftEndTests {
    /// What switches the AI off for the child, whose drafts the tests look at.
    enum Way: String, CaseIterable, Sendable {
        case consentRevoked, modeOff, serverDisabled, giverLeaves, giverBecomesGuardian

        var reason: DraftEndReason { self == .modeOff || self == .serverDisabled ? .modeOff : .consentMissing }
    }

    private static func switchOff(_ way: Way, _ author: TestPerson, _ server: TestServer, _ family: Household)
        async throws
    {
        func prefer(_ preferences: JSONObject) async throws {
            try await server.call(
                API.updatePreferences, FamilyQuery(familyID: family.id), PreferenceUpdate(preferences: preferences),
                as: author)
        }
        switch way {
        case .consentRevoked:
            let consents = try await server.call(
                API.listConsents, ConsentListQuery(familyID: family.id), as: family.guardian)
            let consent = try #require(consents.items.first { $0.type == .aiMediation })
            try await server.call(
                API.updateConsent, ConsentPath(consentID: consent.id), ConsentUpdate(isRevoked: true),
                as: family.guardian)
        case .modeOff: try await prefer(["ai_mode": "off"])
        case .serverDisabled: try await prefer(["ai_server_enabled": false])
        case .giverLeaves:
            try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: family.guardian.id),
                as: family.secondGuardian)
        case .giverBecomesGuardian:
            try await server.call(
                API.addMember, FamilyPath(familyID: family.id),
                MemberAdd(userID: family.participant.id, role: .guardian), as: family.guardian)
        }
    }

    @Test(
        "drafts in any state end with the consent or the author's preference, and refuse every step",
        arguments: Way.allCases)
    func ends(_ way: Way) async throws {
        try await TestServer.run { server in
            let isOwn = way == .giverBecomesGuardian
            let family = try await server.family(consents: isOwn ? [] : [.aiMediation])
            if isOwn {
                try await server.call(
                    API.grantConsent, ConsentCreate(familyID: family.id, type: .aiMediation), as: family.participant)
            }
            let author = isOwn || way == .modeOff || way == .serverDisabled ? family.participant : family.secondGuardian
            let approver = way == .giverLeaves ? family.secondGuardian : family.guardian
            let drafts = try await [
                server.draft(in: family, as: author), server.draft(in: family, as: author),
                server.draft(in: family, as: author),
            ]
            try await server.approve(drafts[1], as: approver)
            let key = try await server.confirmed(drafts[2], as: approver)
            server.clock.advance(by: .seconds(1))
            try await Self.switchOff(way, author, server, family)
            try await server.expectOnly {
                for draft in drafts {
                    for step in DraftStep.allCases {
                        let refusal = try await expectRefusal(409) {
                            try await server.take(step, draft, key, as: approver, source: .keyboard)
                        }
                        #expect(refusal.reason == way.reason.rawValue, "\(step)")
                    }
                    let seen = try await server.draft(draft.id, as: approver).progress
                    #expect(seen.state == .expired && seen.endReason == way.reason)
                }
            }
            #expect(try await server.rows("SELECT 1 FROM nags").isEmpty)
            let marked = try await server.expectOnly(audit: Array(repeating: "draft.expired", count: 3)) {
                try await server.markExpiredDrafts()
            }
            #expect(marked == 3)
            #expect(
                try await server.audit(family.id).suffix(3).allSatisfy { $0.details["reason"] == way.reason.rawValue })
        }
    }

    @Test("no ended draft is revived when the consent is given or the AI is switched on again")
    func staysEnded() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft(in: family, as: family.participant)
            func prefer(_ mode: JSONValue) async throws {
                try await server.call(
                    API.updatePreferences, FamilyQuery(familyID: family.id),
                    PreferenceUpdate(preferences: ["ai_mode": mode]), as: family.participant)
            }
            try await prefer("off")
            try await prefer("auto")
            let refusal = try await expectRefusal(409) { try await server.approve(draft, as: family.guardian) }
            #expect(refusal.reason == "mode_off")
            let again = try await server.draft(in: family, as: family.participant)
            try await server.approve(again, as: family.guardian)
        }
    }

    @Test("switching the AI off ends the author's own open drafts, and no other preference ends one")
    func others() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (own, other) = (
                try await server.draft(in: family, as: family.participant),
                try await server.draft(in: family, as: family.guardian)
            )
            let rejected = try await server.draft(in: family, as: family.participant)
            try await server.reject(rejected, as: family.participant)
            let harmless: JSONObject = [
                "gamification_enabled": true, "quiet_hours_enabled": true, "quiet_hours_start": "21:00",
                "quiet_hours_end": "07:00", "timezone": "Asia/Tokyo", "notification_frequency": "daily_digest",
                "digest_at": "19:00", "delivery_channel": "both", "mute_until": nil, "ai_server_enabled": true,
                "ai_on_device_enabled": false, "pushback_mode": "off", "use_commit_time_for_escalation": true,
                "notify_sent_overdue": false, "tone": "firm", "ai_mode": "heuristic", "ai_privacy_level": "local",
                "ai_model_local": "local_model", "ai_model_cloud": nil, "ai_token_threshold": 300,
                "ai_log_retention_days": 7, "ai_log_errors_only": true,
            ]
            #expect(Set(harmless.members.map(\.key)) == Set(PreferenceKey.allCases.map(\.rawValue)))
            func prefer(_ name: String, _ value: JSONValue) async throws -> DraftState {
                try await server.call(
                    API.updatePreferences, FamilyQuery(familyID: family.id),
                    PreferenceUpdate(preferences: [name: value]), as: family.participant)
                return try await server.draft(own.id, as: family.guardian).progress.state
            }
            for one in harmless.members { #expect(try await prefer(one.key, one.value) == .draft, "\(one.key)") }
            #expect(try await prefer("ai_mode", "off") == .expired)
            #expect(try await server.draft(other.id, as: family.guardian).progress.state == .draft)
            let seen = try await server.draft(rejected.id, as: family.guardian).progress
            #expect(seen.state == .rejected && seen.endReason == nil)
        }
    }
}
