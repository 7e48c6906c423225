import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The caller's own account")
struct MeTests {
    @Test("the own account has its person, family, consents in force and features that are switched on")
    func get() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [.aiMediation])
            func me(_ person: TestPerson) async throws -> MeResponse {
                try await server.call(API.getMe, NoParameters(), as: person)
            }
            let child = try await me(family.child)
            #expect(child.id == family.child.id && child.email == nil && !child.isAdministrator)
            #expect(child.family?.familyID == family.id && child.family?.role == .child)
            #expect(child.consents == [.aiMediation])
            #expect(child.switchedOn == SwitchedOn(ai: true, points: false, sms: false))

            // Points need the consent and the person's own preference; messages both of the person's own.
            let guardian = family.guardian
            for consent in [
                ConsentCreate(familyID: family.id, type: .gamificationParticipation), ConsentCreate(type: .smsOptIn),
            ] {
                try await server.call(API.grantConsent, NoParameters(), consent, as: guardian)
            }
            #expect(try await me(guardian).switchedOn == SwitchedOn(ai: true, points: false, sms: false))
            try await server.prefer(
                ["gamification_enabled": true, "delivery_channel": "both", "ai_mode": "off"], as: guardian)
            let now = try await me(guardian)
            #expect(now.switchedOn == SwitchedOn(ai: false, points: true, sms: true))
            #expect(now.consents == [.aiMediation, .gamificationParticipation, .smsOptIn])
            // A guardian's consent to messages is their own.
            #expect(try await me(family.participant).consents == [.aiMediation, .gamificationParticipation])

            let loner = try await me(try await server.account("Nell"))
            #expect(loner.family == nil && loner.consents.isEmpty)
            let waiting = try await me(try await server.account("Peni", status: "pending_guardian_consent"))
            #expect(waiting.status == "pending_guardian_consent")
            let admin = try await server.admin()
            #expect(try await me(admin).isAdministrator)
        }
    }

    @Test("the list of families has the caller's, with its codes for guardians only")
    func families() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            func list(_ person: TestPerson, offset: Int = 0) async throws -> Page<FamilyResponse> {
                try await server.call(API.listFamilies, PageRequest(limit: 10, offset: offset), as: person)
            }
            let guardians = try await list(family.guardian)
            #expect(guardians.total == 1 && guardians.items.map(\.id) == [family.id])
            #expect(guardians.items.first?.inviteCode == family.inviteCode)
            #expect(try await list(family.child).items.first?.childCode == nil)
            #expect(try await list(family.guardian, offset: 1).items.isEmpty)
            for person in [family.removed, try await server.account("Nell")] {
                #expect(try await list(person).total == 0)
            }
        }
    }

    @Test("people change their own name; the same name writes nothing")
    func name() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let answer = try await server.expectOnly(audit: ["account.changed"]) {
                try await server.call(
                    API.updateMe, NoParameters(), MeUpdate(displayName: "Patricia"), as: family.participant)
            }
            #expect(answer.displayName == "Patricia")
            let members = try await server.call(
                API.listMembers, .init(familyID: family.id, page: PageRequest(limit: 10, offset: 0)), as: family.child)
            #expect(members.items.contains { $0.displayName == "Patricia" })
            let again = try await server.expectOnly {
                try await server.call(
                    API.updateMe, NoParameters(), MeUpdate(displayName: "Patricia"), as: family.participant)
            }
            #expect(again == answer)
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.details == ["changed": "display_name"])
        }
    }

    @Test("a change of one's name during one's removal from the family is recorded outside the family")
    func leavingMeanwhile() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family()
            let (before, outside) = (try await server.audit(family.id).count, try await server.audit(.outside).count)
            let late = try await server.database.run { database in
                try await database.transaction { transaction in
                    // The account is read, then its family's sequence number is waited for.
                    _ = try await transaction.query("LOCK TABLE family_clock IN ACCESS EXCLUSIVE MODE")
                    let late = Task {
                        try await server.call(
                            API.updateMe, NoParameters(), MeUpdate(displayName: "Patricia"), as: family.participant)
                    }
                    try await transaction.waitUntilBlocking("the change never came to read the sequence number")
                    _ = try await transaction.query(
                        """
                        UPDATE memberships SET status = 'removed', removed_at = \(server.clock.now())
                        WHERE user_id = \(family.participant.id)
                        """)
                    return late
                }
            }
            #expect(try await late.value.displayName == "Patricia")
            #expect(try await server.audit(family.id).count == before)
            #expect(try await server.audit(.outside).dropFirst(outside).map(\.kind) == ["account.changed"])
        }
    }
}

/// Who may do what with their own account.
extension MatrixRow {
    static let me: [MatrixRow] = [
        MatrixRow(API.getMe, concern: .caller, allowed: .everybody) { _ in (NoParameters(), NoBody()) },
        MatrixRow(API.updateMe, concern: .caller, allowed: .everybody) { _ in
            (NoParameters(), MeUpdate(displayName: "Gianna"))
        },
        MatrixRow(API.listFamilies, concern: .caller, allowed: .everybody) { _ in
            (PageRequest(limit: 10, offset: 0), NoBody())
        },
        MatrixRow(API.changePassword, concern: .caller, allowed: .adults.union([.administrator])) { _ in
            (
                NoParameters(),
                PasswordChange(password: Secret(TestServer.password), newPassword: Secret("a longer one: 0123456789"))
            )
        },
        MatrixRow(API.requestEmailChange, concern: .caller, allowed: .adults.union([.administrator])) { _ in
            (
                NoParameters(),
                EmailChangeRequest(password: Secret(TestServer.password), email: address("other@example.org"))
            )
        },
        MatrixRow(API.confirmEmailChange, concern: .caller, allowed: [.guardian], refusals: [403, 422]) { scene in
            (NoParameters(), EmailChangeConfirmation(code: scene.emailCode))
        },
        MatrixRow(API.requestPhone, concern: .caller, allowed: .adults.union([.administrator])) { scene in
            (NoParameters(), PhoneRequest(password: Secret(TestServer.password), phone: scene.phone))
        },
        MatrixRow(API.confirmPhone, concern: .caller, allowed: [.guardian], refusals: [403, 422]) { scene in
            (NoParameters(), PhoneConfirmation(code: scene.phoneCode))
        },
        MatrixRow(API.deletePhone, concern: .caller, allowed: .everybody) { _ in (NoParameters(), NoBody()) },
        MatrixRow(API.listSessions, concern: .caller, allowed: .everybody) { _ in
            (PageRequest(limit: 10, offset: 0), NoBody())
        },
        MatrixRow(API.endSession, allowed: [.guardian]) { scene in
            (SessionPath(sessionID: scene.family.guardian.session), NoBody())
        },
        MatrixRow(API.createSocketTicket, concern: .caller, allowed: .everybody) { _ in (NoParameters(), NoBody()) },
        MatrixRow(API.endOtherSessions, concern: .caller, allowed: .everybody) { _ in (NoParameters(), NoBody()) },
    ]

    private static func address(_ text: String) -> EmailAddress {
        guard let address = try? EmailAddress(wireText: text) else { preconditionFailure("an address") }
        return address
    }
}
