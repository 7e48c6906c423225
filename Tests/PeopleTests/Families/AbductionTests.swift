import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// Attacks on accounts: a guardian who is after somebody else's account, with that account's id in their hands.
@Suite("Accounts and guardians of other families")
struct AbductionTests {
    /// Somebody whose account a guardian of the first family wants.
    enum Victim: String, CaseIterable {
        case adult, formerMember, guardianElsewhere, childElsewhere, childRemovedElsewhere, administrator, youngAccount
        case blocksTheGuardian
    }

    private static func victim(_ who: Victim, _ family: Household, _ server: TestServer) async throws -> UserID {
        switch who {
        case .adult: return try await server.account().id
        case .formerMember: return family.removed.id
        case .guardianElsewhere: return family.stranger.id
        case .childElsewhere, .childRemovedElsewhere:
            let child = try await server.call(
                API.createMember, FamilyPath(familyID: family.otherFamilyID),
                MemberCreateAndAdd(displayName: "Finn", role: .participant), as: family.stranger)
            if who == .childRemovedElsewhere {
                try await server.call(
                    API.removeMember, MemberPath(familyID: family.otherFamilyID, userID: child.userID),
                    as: family.stranger)
            }
            return child.userID
        case .administrator:
            return try await server.admin().id
        case .youngAccount: return try await server.account("Kim", status: "pending_guardian_consent").id
        case .blocksTheGuardian:
            let nell = try await server.account()
            // From before, when anybody could be blocked.
            let block: BlockID = server.random.identifier(at: server.clock.now())
            try await server.sql(
                """
                INSERT INTO blocks (id, actor_id, target_id, state, created_at, updated_at)
                VALUES (\(block), \(nell.id), \(family.guardian.id), 'active', now(), now())
                """)
            return nell.id
        }
    }

    @Test(
        "a guardian cannot add another's account in any role, and the account does not change",
        arguments: Victim.allCases)
    func add(who: Victim) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let victim = try await Self.victim(who, family, server)
            let before = try await server.rows("SELECT * FROM users WHERE id = \(victim)")
            for role in FamilyRole.allCases {
                server.clock.advance(by: RefusalCount.window)
                let error = try await server.expectOnly(audit: ["member.add.denied"]) {
                    try await expectRefusal(403) {
                        try await server.call(
                            API.addMember, FamilyPath(familyID: family.id), MemberAdd(userID: victim, role: role),
                            as: family.guardian)
                    }
                }
                #expect(error.code == .policyForbidden && error.message.contains("invite code"))
                #expect(
                    try await server.audit(family.id).last?.subject == nil,
                    "the audit log tells the guardian no names of others")
            }
            try await server.expectOnly {
                try await expectRefusal(404) {
                    try await server.call(
                        API.setChildCredentials, MemberPath(familyID: family.id, userID: victim),
                        ChildCredentialsSet(username: "x", pin: try PIN(wireText: "1111")), as: family.guardian)
                }
                try await expectRefusal(404) {
                    try await server.call(API.deleteAccount, AccountPath(userID: victim), as: family.guardian)
                }
            }
            #expect(try await server.rows("SELECT * FROM users WHERE id = \(victim)") == before)
        }
    }

    /// Makes somebody with a sign-in of their own a child with a PIN, as it was possible once.
    private static func abduct(_ person: TestPerson, into family: Household, _ server: TestServer) async throws {
        let now = server.clock.now()
        let hash = try await server.rows("SELECT pin_hash FROM child_credentials")[0]["pin_hash"]?.stringValue
        try await server.sql(
            """
            INSERT INTO memberships (family_id, user_id, role, status, joined_at)
            VALUES (\(family.id), \(person.id), 'child', 'active', \(now))
            """)
        try await server.sql(
            """
            INSERT INTO child_credentials (family_id, user_id, username, pin_hash, set_at)
            VALUES (\(family.id), \(person.id), 'victim', \(hash), \(now))
            """)
    }

    /// Accounts that are not the family's: but for the first, one thing alone keeps each of them from being so.
    enum ForeignAccount: String, CaseIterable {
        case ownSignIn, madeHereWithEmail, madeHereWithPassword, madeElsewhere, administrator
    }

    private static func make(
        _ account: ForeignAccount, _ family: Household, _ server: TestServer
    ) async throws -> TestPerson {
        let person = try await server.account()
        let madeIn = account == .madeElsewhere ? family.otherFamilyID : family.id
        if account != .ownSignIn {
            try await server.sql("UPDATE users SET made_in_family = \(madeIn) WHERE id = \(person.id)")
        }
        if account != .ownSignIn, account != .madeHereWithEmail {
            try await server.sql("UPDATE users SET email = NULL WHERE id = \(person.id)")
        }
        if account != .ownSignIn, account != .madeHereWithPassword {
            try await server.sql("UPDATE users SET password_hash = NULL WHERE id = \(person.id)")
        }
        if account == .administrator {
            try await server.sql(
                "INSERT INTO admins (user_id, created_at) VALUES (\(person.id), \(server.clock.now()))")
        }
        return person
    }

    @Test(
        "an earlier PIN signs in to no account with a sign-in of its own, and to no administrator's",
        arguments: ForeignAccount.allCases)
    func oldCredentials(account: ForeignAccount) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let person = try await Self.make(account, family, server)
            try await Self.abduct(person, into: family, server)
            try await server.expectOnly(audit: ["sign_in.failed"]) {
                try await expectRefusal(401) { try await server.childLogIn(family.childCode, "victim", "4711") }
            }
            let set = try await server.expectOnly(audit: ["child_credentials.set.denied"]) {
                try await expectRefusal(403) {
                    try await server.call(
                        API.setChildCredentials, MemberPath(familyID: family.id, userID: person.id),
                        ChildCredentialsSet(username: "x", pin: try PIN(wireText: "1111")), as: family.guardian)
                }
            }
            #expect(set.code == .policyForbidden)
            try await server.expectOnly(audit: ["account.delete.denied"]) {
                try await expectRefusal(403) {
                    try await server.call(API.deleteAccount, AccountPath(userID: person.id), as: family.guardian)
                }
            }
        }
    }

    @Test("a child that joined with its own email gets no PIN or deletion from a guardian, and may delete itself")
    func ownSignIn() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let born = try DateOfBirth(wireText: "2014-05-06T00:00:00Z")
            let session = try await server.signUp("kim@example.org", born: born)
            let (kim, token) = (session.user.id, session.accessToken.wireText)
            let joined = try await server.call(
                "POST", "/api/v1/families/join", token: token, body: ["invite_code": .string(family.inviteCode)])
            #expect(joined.json?["role"] == "child")
            try await server.expectOnly(audit: ["child_credentials.set.denied"]) {
                try await expectRefusal(403) {
                    try await server.call(
                        API.setChildCredentials, MemberPath(familyID: family.id, userID: kim),
                        ChildCredentialsSet(username: "kim", pin: try PIN(wireText: "1111")), as: family.guardian)
                }
            }
            try await server.expectOnly(audit: ["account.delete.denied"]) {
                try await expectRefusal(403) {
                    try await server.call(API.deleteAccount, AccountPath(userID: kim), as: family.guardian)
                }
            }
            let left = try await server.expectOnly(audit: ["account.deleted"]) {
                try await server.call("DELETE", "/api/v1/accounts/\(kim)", token: token)
            }
            #expect(left.status == 200)
        }
    }

    @Test("a child whose account was made in the family can neither leave nor delete itself")
    func childStays() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (child, path) = (family.child, FamilyPath(familyID: family.id))
            let error = try await server.expectOnly(audit: ["member.leave.denied"]) {
                try await expectRefusal(403) { try await server.call(API.leaveFamily, path, as: child) }
            }
            #expect(error.message.contains("guardian"))
            try await server.expectOnly(audit: ["member.remove.denied"]) {
                try await expectRefusal(403) {
                    try await server.call(
                        API.removeMember, MemberPath(familyID: family.id, userID: child.id), as: child)
                }
            }
            try await server.expectOnly(audit: ["account.delete.denied"]) {
                try await expectRefusal(403) {
                    try await server.call(API.deleteAccount, AccountPath(userID: child.id), as: child)
                }
            }
            _ = try await server.call(API.deleteAccount, AccountPath(userID: child.id), as: family.guardian)
        }
    }

    @Test("of a role change, a removal and a departure at once, no former member becomes a guardian", arguments: 0..<6)
    func raisedMeanwhile(round: Int) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let pat = family.participant
            let members = "/api/v1/families/\(family.id)/members"
            let statuses = try await together(6) { number in
                let body: JSONValue = ["user_id": .string(pat.id.description), "role": "guardian"]
                switch (number + round) % 6 {
                case 0: return try await server.call("DELETE", "\(members)/\(pat.id)", as: family.guardian).status
                case 1: return try await server.call("POST", "/api/v1/families/\(family.id)/leave", as: pat).status
                case 2: return try await server.call("POST", members, as: family.secondGuardian, body: body).status
                // A guardian only if they were raised before.
                case 3: return try await server.call("POST", members, as: pat, body: body).status
                default: return try await server.call("POST", members, as: family.guardian, body: body).status
                }
            }
            #expect(statuses.allSatisfy { [200, 201, 403, 404, 409].contains($0) }, "\(statuses)")
            let kinds = try await server.audit(family.id).map(\.kind)
            let raised = kinds.count { $0 == "member.role_changed" }
            let gone = kinds.count { $0 == "member.removed" || $0 == "member.left" }
            #expect(raised <= 1 && gone == 1, "\(kinds)")
            #expect(statuses.count { $0 == 201 } == raised && statuses.count { $0 == 200 } == gone)
            let end = kinds.lastIndex { $0 == "member.removed" || $0 == "member.left" } ?? 0
            #expect(!kinds[end...].contains("member.role_changed"), "who is gone is not raised")
            let row = try await server.rows(
                "SELECT role, status FROM memberships WHERE family_id = \(family.id) AND user_id = \(pat.id)")
            #expect(row == [["role": raised == 1 ? "guardian" : "participant", "status": "removed"]])
            // A guardian who went took the codes along; so did a participant who was removed.
            let codes = try await server.codes(of: family)
            let isRenewed = raised == 1 || kinds.contains("member.removed")
            #expect((codes.childCode != family.childCode) == isRenewed)
        }
    }
}
