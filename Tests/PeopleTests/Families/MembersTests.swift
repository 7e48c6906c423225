import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Joining by invite code")
struct JoinTests {
    @Test(
        "a person joins by the invite code in any case, as a participant with a relationship to everybody",
        arguments: [true, false])
    func join(byID: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            let code = JoinRequest(inviteCode: family.inviteCode.lowercased())
            let member = try await server.expectOnly(audit: ["member.joined"]) {
                byID
                    ? try await server.call(API.joinFamilyByID, FamilyPath(familyID: family.id), code, as: nell)
                    : try await server.call(API.joinFamily, code, as: nell)
            }
            #expect(member.role == .participant)
            #expect(member.status == .active)
            #expect(member.familyID == family.id)
            #expect(try await server.relationships(of: nell.id, in: family.id) == ["active": 4])
            #expect(try await server.audit(family.id)[0].actor == nell.pseudonym)
        }
    }

    @Test(
        "a wrong, empty, other family's or child code is 404",
        arguments: ["NOSUCHCODE", "", "other family's", "child code"])
    func wrongCode(code: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            let codes = ["child code": family.childCode, "other family's": family.inviteCode]
            let path = FamilyPath(familyID: code == "other family's" ? family.otherFamilyID : family.id)
            let error = try await server.expectOnly {
                try await expectRefusal(404) {
                    try await server.call(
                        API.joinFamilyByID, path, JoinRequest(inviteCode: codes[code] ?? code), as: nell)
                }
            }
            #expect(error.code == .notFound)
        }
    }

    @Test("a member of a family cannot join one")
    func refused() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let code = JoinRequest(inviteCode: family.inviteCode)
            try await server.expectOnly {
                for person in [family.child, family.stranger] {
                    try await expectRefusal(409) { try await server.call(API.joinFamily, code, as: person) }
                }
            }
        }
    }

    @Test(
        "the code is not valid for somebody whom a guardian has blocked, and they are not told why",
        arguments: [true, false])
    func blocked(byGuardian: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let actor = byGuardian ? family.secondGuardian : family.participant
            try await server.call(API.createBlock, BlockCreate(targetID: family.removed.id), as: actor)
            let code = JoinRequest(inviteCode: family.inviteCode)
            guard byGuardian else {
                // A block of anybody else is between the two of them: it stands, and keeps nobody out of the family.
                try await server.call(API.joinFamily, code, as: family.removed)
                try await server.expect(.refusal(.policyForbidden)) {
                    try await server.nag(from: family.removed, to: family.participant)
                }
                return
            }
            let refused = try await server.expectOnly(audit: ["member.join.denied"]) {
                try await expectRefusal(404) { try await server.call(API.joinFamily, code, as: family.removed) }
            }
            let unknown = try await expectRefusal(404) {
                try await server.call(API.joinFamily, JoinRequest(inviteCode: "NOSUCHCODE"), as: family.removed)
            }
            #expect(refused == unknown)
        }
    }

    @Test("of sixteen joins at once each person joins once, and everybody has a relationship with everybody")
    func concurrent() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            var people: [TestPerson] = []
            for number in 0..<8 { people.append(try await server.account("Nell\(number)")) }
            let joiners = people
            let statuses = try await server.expectOnly(audit: Array(repeating: "member.joined", count: 8)) {
                try await together(16) { number in
                    try await server.call(
                        "POST", "/api/v1/families/join", as: joiners[number / 2],
                        body: ["invite_code": .string(family.inviteCode)]
                    ).status
                }
            }
            #expect(statuses.count { $0 == 201 } == 8)
            #expect(statuses.count { $0 == 409 } == 8)
            for person in joiners {
                #expect(try await server.relationships(of: person.id, in: family.id) == ["active": 11])
            }
        }
    }

    @Test("what changed while somebody was away is in their feed once they are back")
    func syncedAgain() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let query = SyncQuery(familyID: family.id)
            let before = try await server.call(API.syncEvents, query, as: family.participant)
            try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: family.participant)
            try await expectRefusal(403) { try await server.call(API.syncEvents, query, as: family.participant) }
            let nag = try await server.nag(from: family.guardian, to: family.participant, in: family.id)
            server.clock.advance(by: .minutes(1))
            try await server.call(API.joinFamily, JoinRequest(inviteCode: family.inviteCode), as: family.participant)
            for query in [
                SyncQuery(familyID: family.id, since: before.serverTime.flooredToSecond),
                SyncQuery(familyID: family.id, cursor: before.cursor),
            ] {
                let after = try await server.call(API.syncEvents, query, as: family.participant)
                #expect(after.nags.map(\.id) == [nag])
            }
        }
    }

    @Test("somebody who returns has their membership and relationships again")
    func again() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.expectOnly(audit: ["member.joined"]) {
                try await server.call(API.joinFamily, JoinRequest(inviteCode: family.inviteCode), as: family.removed)
            }
            #expect(try await server.relationships(of: family.removed.id, in: family.id) == ["active": 4])
            #expect(try await server.status(of: Secret(server.token(family.removed)), family.id) == 200)
        }
    }
}

@Suite("Adding and creating members")
struct AddMemberTests {
    private func add(
        _ user: UserID, _ role: FamilyRole, as person: TestPerson?, of family: Household, _ server: TestServer
    ) async throws -> MemberResponse {
        try await server.call(
            API.addMember, FamilyPath(familyID: family.id), MemberAdd(userID: user, role: role), as: person)
    }

    @Test("a participant becomes a guardian, at once and with what guardians see")
    func raise() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let pat = family.participant
            let path = FamilyPath(familyID: family.id)
            try await server.call(
                API.grantConsent, ConsentCreate(familyID: family.id, type: .gamificationParticipation), as: pat)
            let nag = try await server.nag(from: family.guardian, to: family.child, in: family.id)
            let before = try await server.call(API.syncEvents, SyncQuery(familyID: family.id), as: pat)
            #expect(before.nags.isEmpty)
            server.clock.advance(by: .minutes(1))
            let member = try await server.expectOnly(audit: ["member.role_changed"]) {
                try await add(pat.id, .guardian, as: family.guardian, of: family, server)
            }
            #expect(member.role == .guardian && member.status == .active && member.userID == pat.id)
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.actor == family.guardian.pseudonym && entry.subject == pat.pseudonym)
            #expect(entry.details == ["from": "participant", "role": "guardian"])
            #expect(try await server.call(API.getFamily, path, as: pat).inviteCode == family.inviteCode)
            let after = try await server.call(
                API.syncEvents, SyncQuery(familyID: family.id, since: before.serverTime.flooredToSecond), as: pat)
            #expect(after.nags.map(\.id) == [nag], "the feed shows all of the family's nags from the start")
            let consents = try await server.call(
                API.listConsents, ConsentListQuery(familyID: family.id), as: family.child)
            #expect(consents.items.isEmpty, "what they agreed to for themself does not hold for everybody")
            try await server.expectOnly {
                try await expectRefusal(409) {
                    try await add(pat.id, .guardian, as: family.secondGuardian, of: family, server)
                }
            }
        }
    }

    @Test(
        "adding a member without the right is refused, and a member's attempt is an audit entry",
        arguments: [
            ("participant", "nell", FamilyRole.participant, 403, ["member.add.denied"]),
            ("child", "nell", .participant, 403, ["member.add.denied"]),
            ("participant", "participant", .guardian, 403, ["member.add.denied"]),
            ("removed", "nell", .participant, 403, []),
            ("removed", "removed", .guardian, 403, []),
            ("stranger", "participant", .guardian, 403, []),
            ("guardian", "nobody", .participant, 404, []),
            ("guardian", "participant", .participant, 409, []),
            ("guardian", "participant", .child, 403, ["member.add.denied"]),
            ("guardian", "second guardian", .participant, 403, ["member.add.denied"]),
            ("guardian", "child", .guardian, 403, ["member.add.denied"]),
            ("guardian", "child", .participant, 403, ["member.add.denied"]),
        ])
    func refused(who: String, whom: String, role: FamilyRole, status: Int, audit: [String]) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            let target = whom == "nell" ? nell.id : family.somebody(whom)?.id ?? UserID(high: 1, low: 1)
            try await server.expectOnly(audit: audit) {
                try await expectRefusal(status) {
                    try await add(target, role, as: family.somebody(who), of: family, server)
                }
            }
        }
    }

    @Test("an account made in the family is added again by a guardian, a child's with the family's consent")
    func again() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let child = family.child
            try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: child.id), as: family.guardian)
            let refused = try await server.expectOnly(audit: ["member.add.denied"]) {
                try await expectRefusal(403) {
                    try await add(child.id, .child, as: family.guardian, of: family, server)
                }
            }
            #expect(refused.code == .policyForbidden)
            try await server.expectOnly(audit: ["member.add.denied"]) {
                // Under 13: as a child or not at all.
                try await expectRefusal(403) {
                    try await add(child.id, .participant, as: family.guardian, of: family, server)
                }
            }
            try await server.call(
                API.grantConsent, ConsentCreate(familyID: family.id, type: .childAccountCreation),
                as: family.secondGuardian)
            let member = try await server.expectOnly(audit: ["member.added"]) {
                try await add(child.id, .child, as: family.guardian, of: family, server)
            }
            #expect(member.role == .child)
            #expect(try await server.relationships(of: child.id, in: family.id) == ["active": 3])
            try await server.setPIN(family)
            _ = try await server.childLogIn(try await server.childCode(of: family), "Cleo", "4711")
        }
    }

    @Test("the family's child cannot be added over a block between it and that guardian", arguments: [true, false])
    func block(byChild: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (actor, target) = byChild ? (family.child, family.guardian) : (family.guardian, family.child)
            try await server.call(API.createBlock, BlockCreate(targetID: target.id), as: actor)
            try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: family.child.id), as: family.guardian)
            let refused = try await server.expectOnly(audit: ["member.add.denied"]) {
                try await expectRefusal(403) {
                    try await add(family.child.id, .child, as: family.guardian, of: family, server)
                }
            }
            #expect(refused.code == .policyForbidden)
            _ = try await add(family.child.id, .child, as: family.secondGuardian, of: family, server)
            let blocks = try await server.rows("SELECT state FROM blocks")
            #expect(blocks == [["state": "active"]], "the block stands")
        }
    }

    @Test("a created child signs in with its PIN")
    func create() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let child = try await server.expectOnly(audit: ["member.created"]) {
                try await server.call(
                    API.createMember, FamilyPath(familyID: family.id),
                    MemberCreateAndAdd(
                        displayName: "Finn", role: .child, username: "finn", pin: try PIN(wireText: "0815")),
                    as: family.guardian)
            }
            #expect(child.hasChildLogin)
            #expect(child.displayName == "Finn")
            #expect(try await server.childLogIn(family.childCode, "FINN", "0815").user.id == child.userID)
            #expect(try await server.relationships(of: child.userID, in: family.id) == ["active": 4])
            let entry = try await server.audit(family.id)[0]
            #expect(
                entry.details == [
                    "role": "child", "child_login": "true", "user": child.userID.description,
                ])
        }
    }

    @Test("a user name is one child's of the family in any case, and free in other families")
    func sameName() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family, username: "Finn")
            let body: JSONValue = ["display_name": "F", "role": "child", "username": "FINN", "pin": "1234"]
            let reply = try await server.expectOnly {
                try await server.call(
                    "POST", "/api/v1/families/\(family.id)/members/create", as: family.guardian, body: body)
            }
            #expect(reply.status == 409)
            #expect(reply.json?["error"]?["details"]?["field"] == "username")
            let other = try await server.family()
            let elsewhere = try await server.call(
                "POST", "/api/v1/families/\(other.id)/members/create", as: other.guardian, body: body)
            #expect(elsewhere.status == 201)
        }
    }

    @Test(
        "creating a member without the right or with invalid fields is refused",
        arguments: [
            ("participant", #"{"display_name":"F","role":"participant"}"#, 403, ["member.create.denied"]),
            (
                "child", #"{"display_name":"F","role":"child","username":"f","pin":"1234"}"#, 403,
                ["member.create.denied"]
            ),
            ("removed", #"{"display_name":"F","role":"participant"}"#, 403, []),
            ("stranger", #"{"display_name":"F","role":"participant"}"#, 403, []),
            ("guardian", #"{"display_name":"F","role":"child","username":"f"}"#, 422, []),
            ("guardian", #"{"display_name":"F","role":"child","pin":"1234"}"#, 422, []),
            ("guardian", #"{"display_name":"F","role":"participant","username":"f","pin":"1234"}"#, 422, []),
            ("guardian", #"{"display_name":"F","role":"child","username":"f","pin":"12345"}"#, 422, []),
            ("guardian", #"{"display_name":"","role":"child"}"#, 422, []),
        ])
    func refusedCreation(who: String, body: String, status: Int, audit: [String]) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let json = try JSONValue(parsing: Array(body.utf8).span)
            let reply = try await server.expectOnly(audit: audit) {
                try await server.call(
                    "POST", "/api/v1/families/\(family.id)/members/create", as: family.somebody(who), body: json)
            }
            #expect(reply.status == status)
        }
    }
}
