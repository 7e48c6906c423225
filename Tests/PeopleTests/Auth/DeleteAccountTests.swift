import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Deleting an account")
struct DeleteAccountTests {
    private func delete(_ user: UserID, _ server: TestServer, as person: TestPerson) async throws -> AccountResponse {
        try await server.call(API.deleteAccount, AccountPath(userID: user), as: person)
    }

    @Test("a deletion ends sessions, membership and sign-in in one act, and others see it as a departure")
    func ownAccount() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let signedUp = try await server.signUp("pia@example.org")
            let other = try await server.logIn("pia@example.org", password: "correct horse")
            let claims = try server.tokens.verify(signedUp.accessToken.wireText, at: server.clock.now())
            let pseudonym: [Pseudonym] = try await server.database.rows(
                "SELECT pseudonym FROM users WHERE id = \(claims.user)"
            ) { try $0["pseudonym"] }
            let person = TestPerson(id: claims.user, session: claims.session, pseudonym: pseudonym[0], name: "Pia")
            try await server.call(API.joinFamily, JoinRequest(inviteCode: family.inviteCode), as: person)
            try await server.call(
                API.grantConsent, ConsentCreate(familyID: family.id, type: .smsOptIn), as: person)
            try await server.call(
                API.grantConsent, ConsentCreate(familyID: family.id, type: .aiMediation), as: person)
            try await server.insertNags(2, from: family.guardian, to: person, in: family.id)
            let answer = try await server.expectOnly(
                audit: ["account.deleted"], events: ["nag_cancelled", "nag_cancelled"], stamped: 2
            ) { try await delete(person.id, server, as: person) }
            #expect(answer.status == "deleted" && answer.email == "pia@example.org" && answer.id == person.id)
            let entry = try await server.audit(family.id).last
            #expect(entry?.subject == pseudonym[0] && entry?.details == ["cancelled_nags": "2", "role": "participant"])
            for session in [signedUp, other] {
                #expect(try await server.status(of: session.accessToken, family.id) == 401)
                let refusal = try await expectRefusal(401) { try await server.refresh(session.refreshToken) }
                #expect(refusal.code == .authenticationFailed && refusal.reason == ErrorReason.accountDeleted)
                try await server.call(API.logOut, RefreshRequest(refreshToken: session.refreshToken))
            }
            let unknown = try await expectRefusal(401) {
                try await server.logIn("no@example.org", password: "correct horse")
            }
            let gone = try await expectRefusal(401) {
                try await server.logIn("pia@example.org", password: "correct horse")
            }
            #expect(gone == unknown)
            let stranger = try await expectRefusal(401) { try await server.refresh(Secret("nobody's")) }
            #expect(stranger.code == .authenticationFailed && stranger.reason == nil)
            #expect(
                try await server.rows("SELECT id FROM consents WHERE user_id = \(person.id) AND revoked_at IS NULL")
                    .isEmpty)
            let members = try await server.call(
                API.listMembers, FamilyMembersQuery(familyID: family.id), as: family.guardian)
            #expect(!members.items.contains { $0.userID == person.id })
            try await expectRefusal(401) { try await delete(person.id, server, as: person) }
            try await expectRefusal(404) {
                try await server.call(
                    API.addMember, FamilyPath(familyID: family.id), MemberAdd(userID: person.id, role: .participant),
                    as: family.guardian)
            }
        }
    }

    @Test("a deleted account's email address is free at once, and no means of signing in is left")
    func addressIsFree() async throws {
        try await TestServer.run { server in
            let first = try await server.signUp("pia@example.org", name: "Pia")
            let claims = try server.tokens.verify(first.accessToken.wireText, at: server.clock.now())
            let person = TestPerson(
                id: claims.user, session: claims.session, pseudonym: Pseudonym(high: 0, low: 0), name: "Pia")
            _ = try await delete(person.id, server, as: person)
            let kept = try await server.rows(
                """
                SELECT email, password_hash, display_name, (SELECT count(*) FROM known_addresses) AS addresses FROM users
                """)
            #expect(kept == [["email": .null, "password_hash": .null, "display_name": "Pia", "addresses": 0]])
            let second = try await server.signUp("Pia@example.org", password: "another horse")
            #expect(second.user.id != person.id)
            #expect(try await server.logIn("pia@example.org", password: "another horse").user.id == second.user.id)
            try await expectRefusal(401) { try await server.logIn("pia@example.org", password: "correct horse") }
            #expect(
                try await expectRefusal(401) { try await server.refresh(first.refreshToken) }.reason
                    == ErrorReason.accountDeleted)
            try await server.expectOnly {
                try await server.call(API.logOut, RefreshRequest(refreshToken: first.refreshToken))
            }
            #expect(try await server.status(of: first.accessToken) == 401)
        }
    }

    @Test("of a deletion and sign-ups at once nobody gets half an account", arguments: 0..<3)
    func signingUp(round: Int) async throws {
        try await TestServer.run { server in
            let first = try await server.signUp("pia@example.org")
            let token = first.accessToken.wireText
            let replies = try await ServerTestKit.together(8) { number -> (isDeletion: Bool, status: Int) in
                if number == round {
                    let reply = try await server.call("DELETE", "/api/v1/accounts/\(first.user.id)", token: token)
                    return (true, reply.status)
                }
                let body: JSONValue = ["email": "pia@example.org", "password": "another horse"]
                return (false, try await server.call("POST", "/api/v1/auth/signup", body: body).status)
            }
            #expect(replies.filter(\.isDeletion).map(\.status) == [200])
            let signUps = replies.filter { !$0.isDeletion }.map(\.status)
            #expect(signUps.count { $0 == 201 } <= 1 && signUps.allSatisfy { $0 == 201 || $0 == 409 }, "\(signUps)")
            if !signUps.contains(201) { try await server.signUp("pia@example.org", password: "another horse") }
            let living = try await server.rows("SELECT id FROM users WHERE email = 'pia@example.org'")
            #expect(living.count == 1)
            #expect(
                try await server.rows("SELECT id FROM users WHERE (status = 'deleted') <> (email IS NULL)").isEmpty)
            _ = try await server.logIn("pia@example.org", password: "another horse")
        }
    }

    @Test("the deletion of an account without a family is on the chain outside families")
    func outside() async throws {
        try await TestServer.run { server in
            let person = try await server.account()
            let answer = try await server.expectOnly(audit: ["account.deleted"]) {
                try await delete(person.id, server, as: person)
            }
            #expect(answer.displayName == "Nell")
            #expect(try await server.status(of: Secret(server.token(person))) == 401)
        }
    }

    @Test("a guardian deletes a child's account, and its PIN no longer works")
    func child() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let session = try await server.childLogIn(family.childCode, "Cleo", "4711")
            try await server.expectOnly(audit: ["account.deleted"]) {
                try await delete(family.child.id, server, as: family.guardian)
            }
            #expect(try await server.status(of: session.accessToken, family.id) == 401)
            try await expectRefusal(401) { try await server.childLogIn(family.childCode, "Cleo", "4711") }
            #expect(
                try await expectRefusal(401) { try await server.refresh(session.refreshToken) }.reason
                    == ErrorReason.accountDeleted)
            try await expectRefusal(404) { try await delete(family.child.id, server, as: family.guardian) }
        }
    }

    @Test(
        "a deletion by somebody without the right is refused, and a member's attempt is an audit entry",
        arguments: [
            ("participant", "child", 403, ["account.delete.denied"]),
            ("child", "child", 403, ["account.delete.denied"]),
            ("child", "participant", 403, ["account.delete.denied"]),
            ("guardian", "participant", 403, ["account.delete.denied"]),
            ("guardian", "second guardian", 403, ["account.delete.denied"]),
            ("guardian", "stranger", 404, []), ("guardian", "removed", 404, []), ("stranger", "child", 404, []),
            ("removed", "child", 404, []), ("guardian", "nobody", 404, []),
        ])
    func refused(who: String, whom: String, status: Int, audit: [String]) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let target = family.somebody(whom)?.id ?? UserID(high: 1, low: 1)
            let caller = try #require(family.somebody(who))
            try await server.expectOnly(audit: audit) {
                try await expectRefusal(status) { try await delete(target, server, as: caller) }
            }
        }
    }

    @Test("the last guardian can be deleted only when nobody else is in the family")
    func lastGuardian() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            _ = try await delete(family.secondGuardian.id, server, as: family.secondGuardian)
            let refusal = try await expectRefusal(412) {
                try await delete(family.guardian.id, server, as: family.guardian)
            }
            #expect(refusal.code == .preconditionFailed)
            #expect(try await delete(family.stranger.id, server, as: family.stranger).status == "deleted")
        }
    }

    @Test("of deletions and joins at once no deleted account is an active member", arguments: 0..<4)
    func joining(round: Int) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let person = try await server.account()
            let statuses = try await ServerTestKit.together(4) { number in
                if (number + round).isMultiple(of: 2) {
                    return try await server.call("DELETE", "/api/v1/accounts/\(person.id)", as: person).status
                }
                let body: JSONValue = ["invite_code": .string(family.inviteCode)]
                return try await server.call("POST", "/api/v1/families/join", as: person, body: body).status
            }
            #expect(statuses.allSatisfy { [200, 201, 401, 404, 409].contains($0) }, "\(statuses)")
            let ghosts = try await server.rows(
                """
                SELECT u.id FROM users u JOIN memberships m ON m.user_id = u.id AND m.status = 'active'
                WHERE u.status = 'deleted'
                """)
            #expect(ghosts.isEmpty)
        }
    }

    @Test("the database keeps members' accounts and deleted accounts apart")
    func constraint() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let gone = try await server.account()
            _ = try await delete(gone.id, server, as: gone)
            for statement: SQL in [
                "UPDATE users SET status = 'deleted', deleted_at = now() WHERE id = \(family.child.id)",
                """
                INSERT INTO memberships (family_id, user_id, role, status, joined_at)
                VALUES (\(family.id), \(gone.id), 'participant', 'active', now())
                """,
            ] {
                let error = await #expect(throws: PostgresError.self) {
                    try await server.database.run { _ = try await $0.query(statement) }
                }
                #expect(error?.violates(.deletedIsNoMember) == true)
            }
        }
    }

    @Test("of several deletions of an account at once one takes effect")
    func together() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let statuses = try await server.expectOnly(audit: ["account.deleted"]) {
                try await ServerTestKit.together(6) { _ in
                    try await server.call("DELETE", "/api/v1/accounts/\(family.participant.id)", as: family.participant)
                        .status
                }
            }
            #expect(statuses.count { $0 == 200 } == 1 && statuses.allSatisfy { [200, 401, 404].contains($0) })
        }
    }
}

/// Who may do what in the group `accounts`.
extension MatrixRow {
    static let accounts: [MatrixRow] = [
        MatrixRow(API.deleteAccount, "a child's", allowed: .guardians) {
            (AccountPath(userID: $0.family.child.id), NoBody())
        },
        MatrixRow(API.deleteAccount, "a participant's", allowed: [.participant]) {
            (AccountPath(userID: $0.family.participant.id), NoBody())
        },
        MatrixRow(API.deleteAccount, "a guardian's", allowed: [.coGuardian]) {
            (AccountPath(userID: $0.family.secondGuardian.id), NoBody())
        },
    ]
}
