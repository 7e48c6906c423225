import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

extension TestServer {
    /// Open nags straight in the database, stamped by an entry of the audit log as an act would have.
    func insertNags(_ count: Int, from creator: TestPerson, to recipient: TestPerson, in family: FamilyID) async throws
    {
        var done = 0
        while done < count {
            let size = min(400, count - done)
            let statements: [SQL] = [
                """
                INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, status,
                                  created_at, cycle_started_at, sync_seq, sync_ts)
                SELECT family_id, gen_random_uuid(), \(creator.id), \(recipient.id), \(clock.now() + .days(1)),
                       'chores', 'ack_only', 'open', \(clock.now()), \(clock.now()), seq, ts
                FROM ledger_stamp, generate_series(1, \(size))
                """
            ]
            try await act(.nagCreated, by: creator, in: family, stampedRows: size, statements: statements)
            done += size
        }
    }

    private func act(
        _ kind: AuditKind, by actor: TestPerson, in family: FamilyID, stampedRows: Int, statements: [SQL]
    ) async throws {
        let act = Act(
            kind: kind, basis: .nothing, actor: actor.pseudonym, stampedRows: stampedRows, statements: statements)
        let context = CallContext(
            now: clock.now(), trace: random.identifier(at: clock.now()), request: random.identifier(at: clock.now()),
            idempotency: nil)
        let random = random
        try await database.run {
            _ = try await $0.query(Ledger(database: $0, random: random).statement(act, in: family, context))
        }
    }
}

@Suite("Leaving and being removed")
struct DepartureTests {
    @Test("a removal ends everything that depends on the membership in one act")
    func remove() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let session = try await server.childLogIn(family.childCode, "Cleo", "4711")
            try await server.insertNags(3, from: family.guardian, to: family.child, in: family.id)
            try await server.insertNags(1, from: family.guardian, to: family.participant, in: family.id)
            let answer = try await server.expectOnly(
                audit: ["member.removed"], events: Array(repeating: "nag_cancelled", count: 3), stamped: 3
            ) {
                try await server.call(
                    API.removeMember, MemberPath(familyID: family.id, userID: family.child.id), as: family.guardian)
            }
            #expect(answer.status == .removed)
            #expect(answer.role == .child)
            #expect(try await server.status(of: session.accessToken, family.id) == 401)
            #expect(try await server.status(of: Secret(server.token(family.child)), family.id) == 401)
            try await expectRefusal(401) { try await server.refresh(session.refreshToken) }
            try await expectRefusal(401) { try await server.childLogIn(family.childCode, "Cleo", "4711") }
            #expect(try await server.relationships(of: family.child.id, in: family.id) == ["revoked": 3])
            #expect(
                try await server.relationships(of: family.guardian.id, in: family.id) == ["active": 2, "revoked": 1])
            let open = try await server.rows("SELECT recipient_id FROM nags WHERE status = 'open'")
            #expect(open.map { $0["recipient_id"] } == [.string(family.participant.id.description)])
            let entry = try await server.audit(family.id).last
            #expect(entry?.subject == family.child.pseudonym)
            #expect(entry?.details == ["cancelled_nags": "3", "role": "child"])
        }
    }

    @Test("an adult who leaves keeps the account and loses the family")
    func leave() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let path = FamilyPath(familyID: family.id)
            let answer = try await server.expectOnly(audit: ["member.left"]) {
                try await server.call(API.leaveFamily, path, as: family.participant)
            }
            #expect(answer.userID == family.participant.id)
            #expect(answer.status == .removed)
            try await expectRefusal(403) { try await server.call(API.getFamily, path, as: family.participant) }
            try await server.expectOnly {
                try await expectRefusal(403) { try await server.call(API.leaveFamily, path, as: family.participant) }
            }
            try await server.call(API.createFamily, FamilyCreate(name: "My own"), as: family.participant)
        }
    }

    @Test("of two guardians who leave at once, one stays")
    func lastGuardian() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let statuses = try await server.expectOnly(audit: ["member.left"]) {
                try await together(6) { number in
                    try await server.call(
                        "POST", "/api/v1/families/\(family.id)/leave",
                        as: number.isMultiple(of: 2) ? family.guardian : family.secondGuardian
                    ).status
                }
            }
            #expect(statuses.count { $0 == 200 } == 1)
            // 404: the membership ended between two reads of the request.
            #expect(statuses.allSatisfy { [200, 403, 404, 412].contains($0) })
            let guardians = try await server.rows(
                """
                SELECT user_id FROM memberships
                WHERE status = 'active' AND role = 'guardian' AND family_id = \(family.id)
                """
            )
            #expect(guardians.count == 1)
            let policy = try await server.rows("SELECT owners FROM policies WHERE family_id = \(family.id)")
            #expect(policy.map { $0["owners"] } == [.array(guardians.compactMap { $0["user_id"] })])
        }
    }

    @Test("of two guardians who remove each other at once, one remains")
    func mutualRemoval() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (one, other) = (family.guardian, family.secondGuardian)
            let statuses = try await server.expectOnly(audit: ["member.removed"]) {
                try await together(2) { number in
                    try await server.call(
                        "DELETE", "/api/v1/families/\(family.id)/members/\(number == 0 ? one.id : other.id)",
                        as: number == 0 ? other : one
                    ).status
                }
            }
            // The later one is refused for what it meets first: it is no member any more, or would remove the last
            // guardian.
            #expect([[200, 403], [200, 412]].contains(statuses.sorted()))
        }
    }

    @Test(
        "a removal by somebody without the right is refused, and a member's attempt is an audit entry",
        arguments: [
            ("participant", "child", 403, ["member.remove.denied"]),
            ("child", "participant", 403, ["member.remove.denied"]),
            ("stranger", "child", 403, []),
            ("removed", "child", 403, []),
            ("guardian", "removed", 404, []),
            ("guardian", "stranger", 404, []),
        ])
    func refused(who: String, whom: String, status: Int, audit: [String]) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let target = family.somebody(whom)?.id ?? UserID(high: 1, low: 1)
            try await server.expectOnly(audit: audit) {
                try await expectRefusal(status) {
                    try await server.call(
                        API.removeMember, MemberPath(familyID: family.id, userID: target), as: family.somebody(who))
                }
            }
        }
    }

    @Test("the last guardian can neither leave nor be removed")
    func cannotGo() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.expectOnly {
                let error = try await expectRefusal(412) {
                    try await server.call(
                        API.leaveFamily, FamilyPath(familyID: family.otherFamilyID), as: family.stranger)
                }
                #expect(error.code == .preconditionFailed)
                try await expectRefusal(412) {
                    try await server.call(
                        API.removeMember, MemberPath(familyID: family.otherFamilyID, userID: family.stranger.id),
                        as: family.stranger)
                }
            }
        }
    }

    @Test(
        "a guardian without a sign-in does not count as a remaining guardian, and may leave",
        arguments: ["leaving", "removal", "account"])
    func guardianWithoutPassword(way: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (one, other) = (family.guardian, family.secondGuardian)
            let members = "/api/v1/families/\(family.id)/members"
            let puppet = try await server.call(
                API.createMember, FamilyPath(familyID: family.id),
                MemberCreateAndAdd(displayName: "Nobody", role: .guardian), as: one)
            func end(_ person: TestPerson) async throws -> Int {
                switch way {
                case "leaving": try await server.call("POST", "/api/v1/families/\(family.id)/leave", as: person).status
                case "removal": try await server.call("DELETE", "\(members)/\(person.id)", as: person).status
                default: try await server.call("DELETE", "/api/v1/accounts/\(person.id)", as: person).status
                }
            }
            // The one who goes owns the policy; the puppet has served as long as anybody.
            try await server.sql(
                "UPDATE memberships SET joined_at = joined_at - interval '1 day' WHERE user_id = \(puppet.userID)")
            #expect(try await end(one) == 200, "of two who can sign in, one may go")
            let policy = try await server.rows("SELECT owners FROM policies WHERE family_id = \(family.id)")
            #expect(policy.map { $0["owners"] } == [[.string(other.id.description)]])
            let refused = try await server.expectOnly { try await end(other) }
            #expect(refused == 412)
            let removal = try await server.call("DELETE", "\(members)/\(puppet.userID)", as: other)
            #expect(removal.status == 200, "who cannot sign in is not the last guardian")
            #expect(try await end(other) == 412)
        }
    }

    @Test("more open nags than an act may cancel take several acts, the last with the membership")
    func manyNags() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.insertNags(950, from: family.guardian, to: family.participant, in: family.id)
            let answer = try await server.expectOnly(
                audit: ["nags.cancelled", "nags.cancelled", "member.removed"],
                events: Array(repeating: "nag_cancelled", count: 950), stamped: 950
            ) {
                try await server.call(
                    API.removeMember, MemberPath(familyID: family.id, userID: family.participant.id),
                    as: family.guardian, headers: ["Idempotency-Key": "go"])
            }
            let again = try await server.expectOnly {
                try await server.call(
                    API.removeMember, MemberPath(familyID: family.id, userID: family.participant.id),
                    as: family.guardian, headers: ["Idempotency-Key": "go"])
            }
            #expect(again == answer)
            #expect(try await server.rows("SELECT id FROM nags WHERE status = 'open'").isEmpty)
        }
    }

    /// The code as a guardian reads it.
    private func inviteCode(_ family: Household, _ server: TestServer, as person: TestPerson) async throws -> String {
        try await server.call(API.getFamily, FamilyPath(familyID: family.id), as: person).inviteCode
    }

    @Test("after a removal the old invite code is not valid for anybody", arguments: [false, true])
    func renewedCode(byID: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let other = try await server.call(
                API.getFamily, FamilyPath(familyID: family.otherFamilyID), as: family.stranger)
            try await server.expectOnly(audit: ["member.removed"]) {
                try await server.call(
                    API.removeMember, MemberPath(familyID: family.id, userID: family.participant.id),
                    as: family.guardian)
            }
            let code = try await inviteCode(family, server, as: family.secondGuardian)
            #expect(code != family.inviteCode && code.count == 8)
            #expect(try await inviteCode(family, server, as: family.guardian) == code)
            #expect(try await inviteCode(family, server, as: family.child) == "")
            let untouched = try await server.call(
                API.getFamily, FamilyPath(familyID: family.otherFamilyID), as: family.stranger)
            #expect(untouched == other, "another family keeps its codes")

            let nell = try await server.account()
            func join(_ code: String, _ person: TestPerson) async throws -> Int {
                try await server.call(
                    "POST", byID ? "/api/v1/families/\(family.id)/join" : "/api/v1/families/join", as: person,
                    body: ["invite_code": .string(code)]
                ).status
            }
            try await server.expectOnly {
                for person in [family.participant, family.removed, nell] {
                    let status = try await join(family.inviteCode, person)
                    #expect(status == 404, "\(person.name)")
                }
            }
            #expect(try await join(code.lowercased(), nell) == 201)
        }
    }

    @Test("a join during a removal comes before it or finds no code", arguments: 0..<4)
    func joiningMeanwhile(round: Int) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            let statuses = try await together(4) { number in
                if (number + round).isMultiple(of: 4) {
                    return try await server.call(
                        "DELETE", "/api/v1/families/\(family.id)/members/\(family.participant.id)", as: family.guardian
                    ).status
                }
                let body: JSONValue = ["invite_code": .string(family.inviteCode)]
                return try await server.call("POST", "/api/v1/families/join", as: nell, body: body).status
            }
            #expect(statuses.count { $0 == 200 } == 1)
            #expect(statuses.allSatisfy { [200, 201, 404, 409].contains($0) }, "\(statuses)")
            let kinds = try await server.audit(family.id).map(\.kind)
            #expect(kinds == ["member.removed"] || kinds == ["member.joined", "member.removed"])
        }
    }

    @Test("a person's consents in the family end with their membership")
    func consents() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let path = FamilyPath(familyID: family.id)
            try await server.call(API.leaveFamily, path, as: family.guardian)
            let left = try await server.call(
                API.listConsents, ConsentListQuery(familyID: family.id), as: family.secondGuardian)
            #expect(left.items.isEmpty)
            let code = try await inviteCode(family, server, as: family.secondGuardian)
            try await server.call(API.joinFamily, JoinRequest(inviteCode: code), as: family.guardian)
            let back = try await server.call(
                API.listConsents, ConsentListQuery(familyID: family.id), as: family.guardian)
            #expect(back.items.isEmpty, "coming back agrees to nothing")
            #expect(try await server.rows("SELECT id FROM consents").count == 3, "records are never deleted")
        }
    }
}
