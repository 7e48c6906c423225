import Audit
import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Giving and revoking consents")
struct ConsentTests {
    @Test(
        "each role may give exactly its consents",
        arguments: [
            ("guardian", ConsentType.childAccountCreation, 201, ["consent.granted"]),
            ("guardian", .aiMediation, 201, ["consent.granted"]),
            ("guardian", .gamificationParticipation, 201, ["consent.granted"]),
            ("participant", .aiMediation, 201, ["consent.granted"]),
            ("participant", .gamificationParticipation, 201, ["consent.granted"]),
            ("participant", .childAccountCreation, 403, ["consent.grant.denied"]),
            ("child", .aiMediation, 403, ["consent.grant.denied"]),
            ("child", .smsOptIn, 403, ["consent.grant.denied"]),
            ("stranger", .aiMediation, 403, []),
            ("removed", .aiMediation, 403, []),
        ])
    func grant(who: String, type: ConsentType, status: Int, audit: [String]) async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let person = try #require(family.somebody(who))
            let reply = try await server.expectOnly(audit: audit) {
                try await server.call(
                    "POST", "/api/v1/consents", as: person,
                    body: ["family_id": .string(family.id.description), "consent_type": .string(type.rawValue)])
            }
            #expect(reply.status == status)
            if who == "child" { #expect(reply.errorCode == "POLICY_FORBIDDEN") }
            guard status == 201 else { return }
            #expect(reply.json?["user_id"]?.stringValue == person.id.description)
            #expect(reply.json?["family_id_nullable"]?.stringValue == family.id.description)
            #expect(try await server.audit(family.id)[0].details == ["type": type.rawValue])
        }
    }

    @Test("a guardian's consent is for the family, and a participant's for themself")
    func scope() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let own = try await server.grant(.aiMediation, in: family.id, as: family.participant)
            #expect(try await server.hasConsent(.aiMediation, for: family.participant, in: family.id))
            #expect(try await !server.hasConsent(.aiMediation, for: family.child, in: family.id))
            #expect(try await !server.hasConsent(.gamificationParticipation, for: family.participant, in: family.id))
            // Clients read what is listed as granted to them.
            #expect(try await server.consents(family.id, as: family.guardian).isEmpty)
            server.clock.advance(by: .seconds(1))
            let shared = try await server.grant(.aiMediation, in: family.id, as: family.secondGuardian)
            for member in family.members {
                #expect(try await server.hasConsent(.aiMediation, for: member, in: family.id))
            }
            #expect(try await !server.hasConsent(.aiMediation, for: family.stranger, in: family.otherFamilyID))
            #expect(try await server.consents(family.id, as: family.guardian).map(\.id) == [shared.id])
            #expect(try await server.consents(family.id, as: family.participant).map(\.id) == [own.id, shared.id])
            #expect(try await server.consents(family.id, as: family.child).map(\.id) == [shared.id])
            try await expectRefusal(403) { try await server.consents(family.id, as: family.stranger) }
            // What a former guardian gave is no guardian's word any more.
            try await server.sql(
                "UPDATE memberships SET role = 'participant' WHERE user_id = \(family.secondGuardian.id)")
            #expect(try await !server.hasConsent(.aiMediation, for: family.child, in: family.id))
            #expect(try await server.hasConsent(.aiMediation, for: family.secondGuardian, in: family.id))
        }
    }

    @Test("the consent to text messages is a person's own, whatever family is named")
    func personal() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let nell = try await server.account()
            let consent = try await server.expectOnly(audit: ["consent.granted"]) {
                try await server.grant(.smsOptIn, in: family.otherFamilyID, as: family.guardian)
            }
            #expect(consent.familyID == nil)
            #expect(try await server.consents(family.id, as: family.guardian) == [consent])
            #expect(try await server.consents(family.id, as: family.secondGuardian).isEmpty)
            #expect(try await server.hasConsent(.smsOptIn, for: family.guardian, in: family.id))
            #expect(try await !server.hasConsent(.smsOptIn, for: family.child, in: family.id))
            let outside = try await server.grant(.smsOptIn, in: nil, as: nell)
            #expect(try await server.audit(.outside).map(\.kind) == ["consent.granted"])
            try await server.expectOnly(audit: ["consent.revoked"]) { try await server.revoke(outside.id, as: nell) }
            #expect(try await !server.hasConsent(.smsOptIn, for: nell, in: family.id))
        }
    }

    @Test("a consent given ten times at once is given once")
    func once() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            for (type, id) in [(ConsentType.aiMediation, family.id as FamilyID?), (.smsOptIn, nil)] {
                let given = try await server.expectOnly(audit: ["consent.granted"]) {
                    try await together(10) { _ in try await server.grant(type, in: id, as: family.guardian).id }
                }
                #expect(Set(given).count == 1)
            }
        }
    }

    @Test("a family's consent without a family is refused")
    func missingFamily() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let error = try await server.expectOnly {
                try await expectRefusal(422) { try await server.grant(.aiMediation, in: nil, as: family.guardian) }
            }
            #expect(error.field == "family_id")
        }
    }

    @Test(
        "a consent is revoked once, by whoever gave it or a guardian, and its record stays",
        arguments: [
            ("participant", 200), ("guardian", 200), ("child", 403), ("stranger", 404), ("removed", 404),
        ])
    func revoke(who: String, status: Int) async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let person = try #require(family.somebody(who))
            let consent = try await server.grant(.aiMediation, in: family.id, as: family.participant)
            let denials = status == 403 ? ["consent.revoke.denied"] : []
            let reply = try await server.expectOnly(audit: status == 200 ? ["consent.revoked"] : denials) {
                try await server.call("PATCH", "/api/v1/consents/\(consent.id)", as: person, body: ["revoked": true])
            }
            #expect(reply.status == status)
            let isInForce = try await server.hasConsent(.aiMediation, for: family.participant, in: family.id)
            #expect(isInForce == (status != 200))
            guard status == 200 else { return }
            let again = try await server.expectOnly { try await server.revoke(consent.id, as: person) }
            #expect(again == consent)
            #expect(try await server.consents(family.id, as: family.guardian).isEmpty)
            let kept = try await server.rows("SELECT revoked_at IS NOT NULL AS is_revoked FROM consents")
            #expect(kept == [["is_revoked": true]])
        }
    }

    @Test("a change of a consent that changes nothing is refused, and the status revoked revokes it")
    func bodies() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let consent = try await server.grant(.aiMediation, in: family.id, as: family.guardian)
            func patch(_ body: JSONValue) async throws -> Reply {
                try await server.call("PATCH", "/api/v1/consents/\(consent.id)", as: family.guardian, body: body)
            }
            try await server.expectOnly {
                for body: JSONValue in [[:], ["granted": false], ["status": "active"], ["revoked_at": "2026-01-01"]] {
                    let reply = try await patch(body)
                    #expect(reply.status == 422 && reply.errorCode == "VALIDATION_ERROR")
                }
            }
            #expect(try await server.hasConsent(.aiMediation, for: family.child, in: family.id))
            let reply = try await server.expectOnly(audit: ["consent.revoked"]) {
                try await patch(["status": "revoked"])
            }
            #expect(reply.status == 200)
            #expect(try await !server.hasConsent(.aiMediation, for: family.child, in: family.id))
        }
    }

    @Test("a change with revoked false does nothing, and does not restore a revoked consent")
    func unrevoke() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let consent = try await server.grant(.aiMediation, in: family.id, as: family.guardian)
            let same = try await server.expectOnly {
                try await server.revoke(consent.id, revoked: false, as: family.guardian)
            }
            #expect(same == consent)
            _ = try await server.revoke(consent.id, as: family.guardian)
            let error = try await server.expectOnly {
                try await expectRefusal(422) {
                    try await server.revoke(consent.id, revoked: false, as: family.guardian)
                }
            }
            #expect(error.field == "revoked")
            let anew = try await server.grant(.aiMediation, in: family.id, as: family.guardian)
            #expect(anew.id != consent.id)
        }
    }

    @Test("what was hidden while a consent was missing is in the feed once it is given again, by since and cursor")
    func visibilityGained() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let consent = try await server.grant(.aiMediation, in: family.id, as: family.guardian)
            let nag = try await server.nag(from: family.guardian, to: family.child, in: family.id)
            try await server.call(API.selectTone, ToneSelectRequest(nagID: nag), as: family.guardian)
            _ = try await server.revoke(consent.id, as: family.guardian)
            server.clock.advance(by: .minutes(1))
            try await server.write([.preferencesChanged], by: family.guardian, in: family.id)
            let without = try await server.call(API.syncEvents, SyncQuery(familyID: family.id), as: family.guardian)
            #expect(without.aiMediationEvents.isEmpty)
            _ = try await server.grant(.aiMediation, in: family.id, as: family.guardian)
            for query in [
                SyncQuery(familyID: family.id, since: without.serverTime.flooredToSecond),
                SyncQuery(familyID: family.id, cursor: without.cursor),
            ] {
                let again = try await server.call(API.syncEvents, query, as: family.guardian)
                #expect(again.aiMediationEvents.count == 1)
            }
        }
    }

    @Test("the list of consents in force has pages")
    func pages() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let all = try await server.call(
                API.listConsents, ConsentListQuery(familyID: family.id), as: family.guardian)
            #expect(all.total == 3)
            let page = try await server.call(
                API.listConsents, ConsentListQuery(familyID: family.id, page: PageRequest(limit: 2, offset: 2)),
                as: family.guardian)
            #expect(page.items == [all.items[2]])
            #expect(page.total == 3)
        }
    }
}

/// Who may do what in the group `consents`.
extension MatrixRow {
    static let consents: [MatrixRow] = [
        MatrixRow(API.listConsents, allowed: .members) { (ConsentListQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.grantConsent, "to games", allowed: .adults) {
            (NoParameters(), ConsentCreate(familyID: $0.family.id, type: .gamificationParticipation))
        },
        MatrixRow(API.grantConsent, "to children's accounts", allowed: .guardians) {
            (NoParameters(), ConsentCreate(familyID: $0.family.id, type: .childAccountCreation))
        },
        MatrixRow(API.updateConsent, "a guardian's", allowed: .guardians) {
            (ConsentPath(consentID: $0.consent), ConsentUpdate(isRevoked: true))
        },
    ]
}
