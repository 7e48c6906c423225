import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server

extension TestServer {
    /// What lies between one person and others of the family, by status.
    func relationships(of person: UserID, in family: FamilyID) async throws -> [String: Int] {
        try await rows(
            "SELECT status FROM relationships WHERE family_id = \(family) AND \(person) IN (party_a, party_b)"
        ).reduce(into: [:]) { $0[$1["status"]?.stringValue ?? "", default: 0] += 1 }
    }
}

@Suite("Joining by invite code")
struct JoinTests {
    @Test("in any case, as a participant with a relationship to everybody", arguments: [true, false])
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

    @Test("codes that open nothing", arguments: ["NOSUCHCODE", "", "other family's", "child code"])
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

    @Test("not for those who have a family, or wait for a guardian")
    func refused() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let young = try await server.account("Kim", status: "pending_guardian_consent")
            let code = JoinRequest(inviteCode: family.inviteCode)
            try await server.expectOnly {
                for person in [family.child, family.stranger] {
                    try await expectRefusal(409) { try await server.call(API.joinFamily, code, as: person) }
                }
                let error = try await expectRefusal(403) { try await server.call(API.joinFamily, code, as: young) }
                #expect(error.code == .authorizationDenied && error.reason == ErrorReason.accountPending)
            }
        }
    }

    @Test("many at once: each joins once, and everybody has a relationship with everybody")
    func concurrent() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            var people: [Person] = []
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

    @Test("what changed while somebody was away comes once they are back")
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

    @Test("somebody who comes back: member and relationships anew")
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
    @Test("a guardian adds an account in any role", arguments: FamilyRole.allCases)
    func add(role: FamilyRole) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            let member = try await server.expectOnly(audit: ["member.added"]) {
                try await server.call(
                    API.addMember, FamilyPath(familyID: family.id), MemberAdd(userID: nell.id, role: role),
                    as: family.guardian)
            }
            #expect(member.role == role)
            #expect(try await server.relationships(of: nell.id, in: family.id) == ["active": 4])
            let entry = try await server.audit(family.id)[0]
            #expect(entry.actor == family.guardian.pseudonym)
            #expect(entry.subject == nell.pseudonym)
        }
    }

    @Test(
        "what is refused, and what of it is on the trail",
        arguments: [
            ("participant", "nell", FamilyRole.participant, 403, ["member.add.denied"]),
            ("child", "nell", .participant, 403, ["member.add.denied"]),
            ("removed", "nell", .participant, 403, []),
            ("stranger", "nell", .participant, 403, []),
            ("guardian", "nobody", .participant, 404, []),
            ("guardian", "participant", .participant, 409, []),
            ("guardian", "stranger", .participant, 409, []),
            ("guardian", "young", .participant, 403, ["member.add.denied"]),
        ])
    func refused(who: String, whom: String, role: FamilyRole, status: Int, audit: [String]) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            let young = try await server.account("Kim", status: "pending_guardian_consent")
            let target =
                switch whom {
                case "nell": nell.id
                case "young": young.id
                default: family.somebody(whom)?.id ?? UserID(high: 1, low: 1)
                }
            try await server.expectOnly(audit: audit) {
                try await expectRefusal(status) {
                    try await server.call(
                        API.addMember, FamilyPath(familyID: family.id), MemberAdd(userID: target, role: role),
                        as: family.somebody(who))
                }
            }
        }
    }

    @Test("children need the family's consent; a young account is active once a guardian has taken it in")
    func consent() async throws {
        try await TestServer.run { server in
            let family = try await server.family(consents: [])
            let path = FamilyPath(familyID: family.id)
            let young = try await server.account("Kim", status: "pending_guardian_consent")
            let add = MemberAdd(userID: young.id, role: .child)
            let error = try await server.expectOnly(audit: ["member.add.denied"]) {
                try await expectRefusal(403) { try await server.call(API.addMember, path, add, as: family.guardian) }
            }
            #expect(error.code == .policyForbidden)
            try await server.call(
                API.grantConsent, ConsentCreate(familyID: family.id, type: .childAccountCreation),
                as: family.secondGuardian)
            #expect(try await server.status(of: Secret(server.token(young)), family.id) == 403)
            try await server.call(API.addMember, path, add, as: family.guardian)
            #expect(try await server.status(of: Secret(server.token(young)), family.id) == 200)
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
            #expect(entry.details == ["role": "child", "child_login": "true"])
        }
    }

    @Test("a user name is one child's of the family, in any case, and as often as one likes elsewhere")
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
        "creating is refused",
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
