import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Accounts of people under 13 without a family")
struct YoungAccountTests {
    /// Signs up somebody who will be 13 the day after, and joins the family, as a child.
    private func child(_ server: TestServer, of family: Household) async throws -> UserID {
        let born = try DateOfBirth(wireText: "2013-03-11T00:00:00Z")
        let session = try await server.signUp("kim@example.org", born: born)
        #expect(session.user.status == "pending_guardian_consent")
        let reply = try await join(family, server, token: session.accessToken.wireText)
        #expect(reply.status == 201 && reply.json?["role"] == "child")
        return session.user.id
    }

    /// With the invite code as guardians read it.
    private func join(_ family: Household, _ server: TestServer, token: String) async throws -> Reply {
        let code = try await server.call(API.getFamily, FamilyPath(familyID: family.id), as: family.guardian).inviteCode
        return try await server.call(
            "POST", "/api/v1/families/join", token: token, body: ["invite_code": .string(code)])
    }

    @Test("a person under 13 joins by code once the family consents, and is an active child from then on")
    func joins() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let born = try DateOfBirth(wireText: "2013-03-11T00:00:00Z")
            let session = try await server.signUp("kim@example.org", born: born)
            let token = session.accessToken.wireText
            let refused = try await server.expectOnly(audit: ["member.join.denied"]) {
                try await join(family, server, token: token)
            }
            #expect(refused.status == 403 && refused.errorCode == ErrorCode.policyForbidden.rawValue)
            try await server.call(
                API.grantConsent, ConsentCreate(familyID: family.id, type: .childAccountCreation),
                as: family.secondGuardian)
            #expect(try await server.status(of: session.accessToken, family.id) == 403)
            let joined = try await server.expectOnly(audit: ["member.joined"]) {
                try await join(family, server, token: token)
            }
            #expect(joined.status == 201 && joined.json?["role"] == "child")
            #expect(try await server.status(of: session.accessToken, family.id) == 200)
            #expect(try await signIn(server).status == "active")
            let entry = try await server.audit(family.id).last { $0.kind == "member.joined" }
            #expect(entry?.details["role"] == "child" && entry?.details["user"] != nil)
        }
    }

    @Test("no guardian can add a waiting account of a person under 13")
    func isNotTaken() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let born = try DateOfBirth(wireText: "2013-03-11T00:00:00Z")
            let kim = try await server.signUp("kim@example.org", born: born).user
            for role in FamilyRole.allCases {
                server.clock.advance(by: RefusalCount.window)
                let error = try await server.expectOnly(audit: ["member.add.denied"]) {
                    try await expectRefusal(403) {
                        try await server.call(
                            API.addMember, FamilyPath(familyID: family.id), MemberAdd(userID: kim.id, role: role),
                            as: family.guardian)
                    }
                }
                #expect(error.code == .policyForbidden && error.message.contains("invite code"))
            }
            #expect(try await signIn(server).status == "pending_guardian_consent")
        }
    }

    @Test("a waiting account can be exported and deleted by its owner, and by nobody else")
    func ownData() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let born = try DateOfBirth(wireText: "2013-03-11T00:00:00Z")
            let session = try await server.signUp("kim@example.org", born: born)
            let (kim, token) = (session.user.id, session.accessToken.wireText)
            let export = try await server.expectOnly(audit: ["account.exported"]) {
                try await server.call("GET", "/api/v1/accounts/export", token: token)
            }
            #expect(export.status == 200 && export.json?["account"]?[0]?["email"] == "kim@example.org")
            let path = "/api/v1/accounts/\(kim)"
            let others = try await server.expectOnly {
                try await server.call("DELETE", path, token: server.token(family.guardian))
            }
            #expect(others.status == 404)
            let deleted = try await server.expectOnly(audit: ["account.deleted"]) {
                try await server.call("DELETE", path, token: token)
            }
            #expect(deleted.status == 200 && deleted.json?["status"] == "deleted")
            #expect(try await server.call("GET", "/api/v1/me", token: token).status == 401)
            let again = try await server.signUp("kim@example.org", born: born)
            #expect(again.user.id != kim && again.user.status == "pending_guardian_consent")
        }
    }

    private func signIn(_ server: TestServer) async throws -> (status: String, token: String) {
        let answer = try await server.logIn("kim@example.org", password: "correct horse")
        return (answer.user.status, answer.accessToken.wireText)
    }

    @Test(
        "a person under 13 who leaves or is removed is pending again, and cannot create a family",
        arguments: [true, false])
    func waitsAgain(byLeaving: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let user = try await child(server, of: family)
            let (status, token) = try await signIn(server)
            #expect(status == "active")
            let members = "/api/v1/families/\(family.id)/members"
            let departure = try await server.expectOnly(audit: [byLeaving ? "member.left" : "member.removed"]) {
                byLeaving
                    ? try await server.call("POST", "/api/v1/families/\(family.id)/leave", token: token)
                    : try await server.call("DELETE", "\(members)/\(user)", as: family.guardian)
            }
            #expect(departure.status == 200)

            try await server.expectOnly {
                for (path, body) in [
                    ("/api/v1/families", ["name": "Mine"]), ("/api/v1/consents", ["consent_type": "sms_opt_in"]),
                ] as [(String, JSONValue)] {
                    let reply = try await server.call("POST", path, token: token, body: body)
                    #expect(reply.status == 403 && reply.errorCode == "AUTHZ_DENIED", "\(path)")
                    #expect(reply.errorReason == ErrorReason.accountPending, "\(path)")
                }
            }
            #expect(try await signIn(server).status == "pending_guardian_consent")
            let added = try await server.expectOnly(audit: ["member.add.denied"]) {
                try await server.call(
                    "POST", members, as: family.guardian,
                    body: ["user_id": .string(user.description), "role": "child"])
            }
            #expect(added.status == 403, "they come back as they came")
            #expect(try await join(family, server, token: token).status == 201)
            #expect(try await signIn(server).status == "active")
            #expect(try await server.status(of: Secret(token), family.id) == 200)
        }
    }

    @Test("an account that no family admits for 30 days is deleted once; that of a child who was removed is not")
    func unclaimed() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let removed = try await child(server, of: family)
            try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: removed), as: family.guardian)
            let waiting = try await server.account("Wanda", status: "pending_guardian_consent")
            server.clock.advance(by: .seconds(30 * 86_400 - 1))
            let recent = try await server.account("Rita", status: "pending_guardian_consent")
            func delete() async throws -> Int {
                let (clock, random) = (server.clock, server.random)
                return try await together(2) { _ in
                    try await server.database.run { database in
                        let sealing = Sealing(TestServer.auditKeyring, random: random)
                        let ledger = Ledger(database: database, random: random, sealing: sealing)
                        return try await UnclaimedAccounts(database: database, ledger: ledger).delete {
                            CallContext(systemActAt: clock.now(), random)
                        }
                    }
                }.reduce(0, +)
            }
            let early = try await server.expectOnly { try await delete() }
            server.clock.advance(by: .seconds(1))
            let deleted = try await server.expectOnly(audit: ["account.deleted"]) { try await delete() }
            #expect([early, deleted] == [0, 1])
            let entry = try #require(try await server.audit(.outside).last)
            #expect(entry.subject == waiting.pseudonym && entry.details == ["reason": "no_consent"])
            let statuses = try await server.rows(
                "SELECT id, status FROM users WHERE id = ANY(\(SQLList([waiting.id, recent.id, removed])))")
            let byID = Dictionary(uniqueKeysWithValues: statuses.map { ($0["id"], $0["status"]) })
            #expect(byID[.string(waiting.id.description)] == "deleted")
            for user in [recent.id, removed] {
                #expect(byID[.string(user.description)] == "pending_guardian_consent")
            }
            // The address is free for whom it belongs to.
            _ = try await server.signUp(try #require(waiting.email), born: try DateOfBirth(wireText: "1990-01-01"))
        }
    }

    @Test("somebody who is 13 when leaving keeps an active account")
    func isThirteen() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            _ = try await child(server, of: family)
            server.clock.advance(by: .days(1))
            let token = try await signIn(server).token
            let reply = try await server.call("POST", "/api/v1/families/\(family.id)/leave", token: token)
            #expect(reply.status == 200)
            #expect(try await signIn(server).status == "active")
            let founded = try await server.call("POST", "/api/v1/families", token: token, body: ["name": "Mine"])
            #expect(founded.status == 201)
        }
    }

    @Test("somebody who turns 13 while pending stays pending until they join a family")
    func stillWaiting() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let born = try DateOfBirth(wireText: "2013-03-11T00:00:00Z")
            _ = try await server.signUp("kim@example.org", born: born)
            server.clock.advance(by: .days(400))
            let (status, token) = try await signIn(server)
            #expect(status == "pending_guardian_consent")
            #expect(try await join(family, server, token: token).json?["role"] == "child")
            #expect(try await signIn(server).status == "active")
        }
    }

    @Test("a person under 13 cannot join without the family's consent, over a block, or by the child code")
    func attacks() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let born = try DateOfBirth(wireText: "2013-03-11T00:00:00Z")
            let kim = try await server.signUp("kim@example.org", born: born)
            let token = kim.accessToken.wireText
            func join(_ code: String, of family: FamilyID? = nil) async throws -> Reply {
                let path = family.map { "/api/v1/families/\($0)/join" } ?? "/api/v1/families/join"
                return try await server.call("POST", path, token: token, body: ["invite_code": .string(code)])
            }
            try await server.expectOnly {
                for code in [family.childCode, family.inviteCode + "X", String(family.inviteCode.dropLast()), "%"] {
                    let reply = try await join(code)
                    #expect(reply.status == 404, "\(code)")
                }
                let other = try await join(family.inviteCode, of: family.otherFamilyID)
                #expect(other.status == 404)
            }
            // A participant's own consent is not the family's, and a revoked one is none.
            try await server.revokeConsent(.childAccountCreation)
            let id: ConsentID = server.random.identifier(at: server.clock.now())
            try await server.sql(
                """
                INSERT INTO consents (id, user_id, family_id, consent_type, granted_at)
                VALUES (\(id), \(family.participant.id), \(family.id), 'child_account_creation', now())
                """)
            let revoked = try await server.expectOnly(audit: ["member.join.denied"]) {
                try await join(family.inviteCode)
            }
            #expect(revoked.status == 403 && revoked.errorCode == "POLICY_FORBIDDEN")
            try await server.consent(.childAccountCreation, in: family.id, as: family.guardian)
            // From before, when anybody could be blocked.
            let block: BlockID = server.random.identifier(at: server.clock.now())
            try await server.sql(
                """
                INSERT INTO blocks (id, actor_id, target_id, state, created_at, updated_at)
                VALUES (\(block), \(family.secondGuardian.id), \(kim.user.id), 'active', now(), now())
                """)
            let blocked = try await server.expectOnly(audit: ["member.join.denied"]) {
                try await join(family.inviteCode)
            }
            #expect(blocked.status == 404, "nothing tells them why")
            #expect(try await signIn(server).status == "pending_guardian_consent")
            try await server.call(
                API.updateBlock, BlockPath(blockID: block), BlockUpdate(state: .lifted), as: family.secondGuardian)
            #expect(try await join(family.inviteCode).status == 201)
        }
    }

    @Test("of joins at once into two families one succeeds, and a consent revoked meanwhile is obeyed or too late")
    func atOnce() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let born = try DateOfBirth(wireText: "2013-03-11T00:00:00Z")
            let token = try await server.signUp("kim@example.org", born: born).accessToken.wireText
            try await server.consent(.childAccountCreation, in: family.otherFamilyID, as: family.stranger)
            let other = try await server.call(
                API.getFamily, FamilyPath(familyID: family.otherFamilyID), as: family.stranger
            ).inviteCode
            let statuses = try await together(10) { number in
                try await server.call(
                    "POST", "/api/v1/families/join", token: token,
                    body: ["invite_code": .string(number.isMultiple(of: 2) ? family.inviteCode : other)]
                ).status
            }
            #expect(statuses.filter { $0 == 201 }.count == 1, "\(statuses)")
            #expect(Set(statuses).subtracting([201, 409, 412]).isEmpty, "\(statuses)")
            let rows = try await server.rows(
                """
                SELECT m.role, u.status FROM memberships m JOIN users u ON u.id = m.user_id
                WHERE u.email = 'kim@example.org' AND m.status = 'active'
                """)
            #expect(rows == [["role": "child", "status": "active"]])
        }
    }

    @Test("a child who joined by code keeps their own sign-in: no PIN, no deletion, no other family's guardian")
    func keepsSignIn() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let user = try await child(server, of: family)
            let member = "/api/v1/families/\(family.id)/members/\(user)"
            try await server.expectOnly(
                audit: ["child_credentials.set.denied", "account.delete.denied", "member.add.denied"]
            ) {
                let pin = try await server.call(
                    "PUT", "\(member)/credentials", as: family.guardian,
                    body: ["username": "kim", "pin": "1234"])
                #expect(pin.status == 403, "\(pin.text)")
                let deleted = try await server.call("DELETE", "/api/v1/accounts/\(user)", as: family.guardian)
                #expect(deleted.status == 403, "\(deleted.text)")
                let taken = try await server.call(
                    "POST", "/api/v1/families/\(family.otherFamilyID)/members", as: family.stranger,
                    body: ["user_id": .string(user.description), "role": "child"])
                #expect(taken.status == 403, "\(taken.text)")
            }
        }
    }

    @Test("database and server agree on an age on the day before, on and after a birthday")
    func ages() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let family = try await server.family()
            for (born, day, isYoung) in [
                ("2012-02-29", "2025-02-28", true), ("2012-02-29", "2025-03-01", false),
                ("2015-02-28", "2028-02-28", false), ("2015-03-01", "2028-02-29", true),
                ("2013-03-10", "2026-03-10", false), ("2013-03-11", "2026-03-10", true),
            ] {
                let person = try await server.member("Kim", .participant, of: family)
                try await server.sql("UPDATE users SET date_of_birth = \(born)::date WHERE id = \(person.id)")
                try await server.sql(
                    """
                    UPDATE memberships SET status = 'removed', removed_at = \(day + "T23:59:59Z")::timestamptz
                    WHERE user_id = \(person.id)
                    """)
                let status = try await server.rows("SELECT status FROM users WHERE id = \(person.id)")[0]["status"]
                #expect(status == (isYoung ? "pending_guardian_consent" : "active"), "\(born), \(day)")
                let (birthday, today) = (CivilDate(datePartOf: born), CivilDate(datePartOf: day))
                #expect(today.flatMap { birthday?.isUnder13(on: $0) } == isYoung, "\(born), \(day)")
            }
        }
    }
}
