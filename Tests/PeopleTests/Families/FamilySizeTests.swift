import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// Attacks on everybody else by a family that grows without end: each member has a relationship with each.
@Suite("The size of a family")
struct FamilySizeTests {
    private static let most = 50

    private static func create(_ server: TestServer, _ family: Household) async throws -> MemberDetail {
        try await server.call(
            API.createMember, FamilyPath(familyID: family.id),
            MemberCreateAndAdd(displayName: "Finn", role: .participant),
            as: family.guardian)
    }

    private static func remove(_ user: UserID, _ server: TestServer, _ family: Household) async throws {
        try await server.call(API.removeMember, MemberPath(familyID: family.id, userID: user), as: family.guardian)
    }

    private static func size(_ server: TestServer, _ family: Household) async throws -> Int {
        try await server.rows("SELECT 1 AS one FROM memberships WHERE family_id = \(family.id) AND status = 'active'")
            .count
    }

    @Test("a family has fifty members at most, in whichever way they join")
    func members() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            let former = try await Self.create(server, family).userID
            try await Self.remove(former, server, family)
            while try await Self.size(server, family) < Self.most { _ = try await Self.create(server, family) }

            let code = try await server.call(API.getFamily, FamilyPath(familyID: family.id), as: family.guardian)
                .inviteCode
            try await server.expectOnly(audit: ["member.create.denied", "member.join.denied", "member.add.denied"]) {
                for error in [
                    try await expectRefusal(403) { _ = try await Self.create(server, family) },
                    try await expectRefusal(403) {
                        try await server.call(API.joinFamily, JoinRequest(inviteCode: code), as: nell)
                    },
                    try await expectRefusal(403) {
                        try await server.call(
                            API.addMember, FamilyPath(familyID: family.id),
                            MemberAdd(userID: former, role: .participant),
                            as: family.guardian)
                    },
                ] {
                    #expect(error.code == .policyForbidden && error.reason == "family_full")
                }
            }
            // Who is in may change role, and who goes makes room.
            try await server.call(
                API.addMember, FamilyPath(familyID: family.id),
                MemberAdd(userID: family.participant.id, role: .guardian),
                as: family.guardian)
            try await Self.remove(family.child.id, server, family)
            _ = try await Self.create(server, family)
        }
    }

    @Test("of several additions at once no more succeed than there is room for")
    func together() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            while try await Self.size(server, family) < Self.most - 2 { _ = try await Self.create(server, family) }
            let statuses = try await ServerTestKit.together(8) { _ in
                try await server.call(
                    "POST", "/api/v1/families/\(family.id)/members/create", as: family.guardian,
                    body: ["display_name": "Finn", "role": "participant"]
                ).status
            }
            #expect(statuses.sorted() == [201, 201] + Array(repeating: 403, count: 6))
            #expect(try await Self.size(server, family) == Self.most)
        }
    }

    @Test("fifty accounts a day are created in a family, also when each is removed again")
    func accounts() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            // Another day than that of the child's account.
            server.clock.advance(by: .days(1))
            for _ in 0..<Self.most {
                try await Self.remove(try await Self.create(server, family).userID, server, family)
            }
            let error = try await server.expectOnly(audit: ["member.create.denied"]) {
                try await expectRefusal(403) { _ = try await Self.create(server, family) }
            }
            #expect(error.code == .policyForbidden && error.reason == "account_limit_reached")
            server.clock.advance(by: .days(1))
            _ = try await Self.create(server, family)
        }
    }

    @Test("a join or departure reads nothing of other families")
    func otherFamilies() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family()
            let large = family.otherFamilyID
            try await server.sql(
                """
                INSERT INTO users (id, status, pseudonym, created_at)
                SELECT md5('u' || i)::uuid, 'active', md5('p' || i)::uuid, now() FROM generate_series(1, 400) i
                """)
            try await server.sql(
                """
                INSERT INTO memberships (family_id, user_id, role, status, joined_at)
                SELECT \(large), md5('u' || i)::uuid, 'participant', 'active', now() FROM generate_series(1, 400) i
                """)
            try await server.sql(
                """
                INSERT INTO relationships (family_id, id, party_a, party_b, status)
                SELECT a.family_id, gen_random_uuid(), a.user_id, b.user_id, 'active'
                FROM memberships a JOIN memberships b ON b.family_id = a.family_id AND a.user_id < b.user_id
                WHERE a.family_id = \(large) ON CONFLICT DO NOTHING
                """)
            try await server.sql(
                """
                INSERT INTO sessions (id, user_id, created_at, expires_at, is_child)
                SELECT gen_random_uuid(), md5('u' || i)::uuid, now(), now(), true FROM generate_series(1, 400) i
                """)
            // What a sample of so many rows would not show.
            try await server.sql("DELETE FROM relationships WHERE family_id <> \(large)")
            try await server.sql("VACUUM ANALYZE users, memberships, relationships, sessions")
            let (user, now) = (family.child.id, server.clock.now())
            let plans = try await server.database.run { database in
                try await database.transaction { transaction in
                    let planned = PlannedQueries(transaction)
                    for row in [
                        MembershipStatements.revokeRelationships(user), MembershipStatements.markRemoved(user, at: now),
                        MembershipStatements.insertRelationships(user, liftingSuspensions: false),
                        SessionStatements.revokeChildSessions(besides: user, at: now),
                        CredentialStatements.delete(of: user), ConsentStatements.revokeInActFamily(of: user, at: now),
                        PolicyStatements.removeOwnership(of: user),
                    ] {
                        _ = try await planned.query(
                            """
                            WITH ledger_stamp AS (
                                UPDATE family_clock SET seq = seq WHERE family_id = \(family.id)
                                RETURNING family_id, seq, ts
                            ) \(row)
                            """)
                    }
                    return planned.plans
                }
            }
            #expect(plans.count == 7)
            for plan in plans { #expect(plan.pages < 100, "\(plan.text)") }
        }
    }
}
