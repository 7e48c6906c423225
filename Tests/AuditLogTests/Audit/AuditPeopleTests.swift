import Audit
import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("People in an audit log, and their consents")
struct AuditPeopleTests {
    @Test("guardians see members by name, and of a former member only that they have left")
    func guardian() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let people = try await server.expectOnly {
                try await server.call(API.listAuditPeople, AuditScopeQuery(), as: family.guardian).items
            }
            func entry(_ person: TestPerson) -> AuditPerson? { people.first { $0.person == person.pseudonym } }
            #expect(entry(family.child)?.name == family.child.name && entry(family.child)?.role == "child")
            #expect(entry(family.guardian)?.role == "guardian")
            #expect(entry(family.removed)?.role == "former_member" && entry(family.removed)?.name == nil)
            #expect(entry(family.stranger) == nil)
            #expect(people.filter { $0.role == "system" }.count == 4)
            #expect(people.allSatisfy { !["administrator", "former_administrator"].contains($0.role) })
        }
    }

    @Test("administrators see each other by address and members by role; each look is an entry")
    func administrator() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let admin = try await server.admin()
            for scope in [nil, family.id] {
                let people = try await server.expectOnly(audit: ["admin.read"]) {
                    try await server.call(API.listAuditPeople, AuditScopeQuery(familyID: scope), as: admin).items
                }
                let own = try #require(people.first { $0.userID == admin.id })
                #expect(own.role == "administrator" && own.name?.contains("@") == true)
                let child = people.first { $0.person == family.child.pseudonym }
                #expect(child?.role == (scope == nil ? nil : "child") && child?.name == nil)
            }
        }
    }

    @Test("a search of the audit log finds people by their shown name, and anything by the end of its id")
    func search() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let thing: ResourceID = server.random.identifier(at: server.clock.now())
            try await server.write([.aiCoaching], by: family.guardian, about: family.child, in: family.id)
            try await server.write([.aiDigest], by: family.secondGuardian, resource: thing, in: family.id)
            try await server.write([.aiPatterns], by: family.stranger, in: family.otherFamilyID)
            let admin = try await server.admin()
            func found(_ q: String, by person: TestPerson) async throws -> [String] {
                try await server.call(API.listAuditEvents, AuditQuery(conditions: .init(q: q)), as: person).items.map(
                    \.kind)
            }
            #expect(try await found(family.child.name.uppercased(), by: family.guardian) == ["ai.coaching"])
            #expect(try await found(String(thing.description.suffix(8)), by: family.guardian) == ["ai.digest"])
            let end = String(family.child.pseudonym.description.suffix(8))
            #expect(try await found("Person \(end)", by: family.guardian) == ["ai.coaching"])
            #expect(try await found(end, by: admin) == ["ai.coaching"])
            #expect(
                try await found("Family \(String(family.otherFamilyID.description.suffix(8)))", by: admin).contains(
                    "ai.patterns")
            )
            // Names of families' members are none of an administrator's search, addresses of administrators are.
            #expect(try await found(family.child.name, by: admin).isEmpty)
            let people = try await server.call(API.listAuditPeople, AuditScopeQuery(), as: admin).items
            let address = try #require(people.first { $0.userID == admin.id }?.name)
            #expect(Set(try await found(address, by: admin)) == ["admin.read"])
            #expect(try await found(address, by: family.guardian).isEmpty)
            #expect(try await found("zzzzzzzz", by: family.guardian).isEmpty)
        }
    }

    @Test("the consents shown of a person are those in force, whoever gave them and whatever came after")
    func consents() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            // Two people give the same consent, one takes it back: it is in force still.
            for person in [family.guardian, family.participant] {
                _ = try await server.call(
                    API.grantConsent, NoParameters(),
                    ConsentCreate(familyID: family.id, type: .gamificationParticipation), as: person)
            }
            let text = try await server.call(
                API.grantConsent, NoParameters(), ConsentCreate(type: .smsOptIn), as: family.participant)
            #expect(text.userID == family.participant.id)
            let given = try await server.call(
                API.listConsents, ConsentListQuery(familyID: family.id), as: family.guardian)
            let own = try #require(
                given.items.first { $0.type == .gamificationParticipation && $0.userID == family.guardian.id })
            for isRevoked in [false, true] {
                if isRevoked {
                    _ = try await server.call(
                        API.updateConsent, ConsentPath(consentID: own.id), ConsentUpdate(isRevoked: true),
                        as: family.guardian)
                }
                let items = try await server.call(
                    API.listAuditConsents, FamilyQuery(familyID: family.id), as: family.guardian
                ).items
                for member in family.members {
                    for type in ConsentType.allCases {
                        let isInForce: Bool = try await server.database.rows(
                            ConsentStatements.status(type, for: member.id, in: family.id)
                        ) { try $0["is_in_force"] }[0]
                        let isActive = member.id != family.removed.id
                        #expect(
                            items.contains { $0.userID == member.id && $0.type == type } == (isInForce && isActive),
                            "\(member.name) \(type) \(isRevoked)")
                    }
                }
                let giver = items.first { $0.userID == family.participant.id && $0.type == .smsOptIn }
                #expect(giver?.givenBy == family.participant.pseudonym)
            }
        }
    }
}
