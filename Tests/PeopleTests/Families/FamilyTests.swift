import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Founding and reading families")
struct FamilyTests {
    @Test("a new family has its guardian, its codes, its policy and one entry")
    func create() async throws {
        try await TestServer.run { server in
            let nell = try await server.account()
            let family = try await server.expectOnly(audit: ["family.created"]) {
                try await server.call(API.createFamily, FamilyCreate(name: "The Nells"), as: nell)
            }
            #expect(family.name == "The Nells")
            #expect(family.inviteCode.count == 8)
            #expect((6...8) ~= (family.childCode ?? "").count)
            let entry = try await server.audit(family.id)[0]
            #expect(entry.n == 1)
            #expect(entry.actor == nell.pseudonym)
            #expect(entry.resource == family.id.retyped())
            let policy = try await server.rows("SELECT owners, is_default, status, daily_cap FROM policies")
            #expect(
                policy == [
                    ["owners": [.string(nell.id.description)], "is_default": true, "status": "active", "daily_cap": 8]
                ])
            #expect(try await server.call(API.getFamily, FamilyPath(familyID: family.id), as: nell) == family)
            let members = try await server.call(API.listMembers, FamilyMembersQuery(familyID: family.id), as: nell)
            #expect(members.items.map(\.userID) == [nell.id])
            #expect(members.items[0].role == .guardian)
        }
    }

    @Test("a person creates one family at a time, also with six requests at once")
    func oneFamily() async throws {
        try await TestServer.run { server in
            let nell = try await server.account()
            let replies = try await server.expectOnly(audit: ["family.created"]) {
                try await together(6) { number in
                    try await server.call("POST", "/api/v1/families", as: nell, body: ["name": .string("N\(number)")])
                        .status
                }
            }
            #expect(replies.sorted() == [201, 409, 409, 409, 409, 409])
            #expect(try await server.rows("SELECT id FROM families").count == 1)
            #expect(
                try await server.rows("SELECT family_id FROM family_clock").count == 2, "no clock without its family")
        }
    }

    @Test("a creation that is repeated with its Idempotency-Key gives the same family")
    func idempotent() async throws {
        try await TestServer.run { server in
            let nell = try await server.account()
            let families = try await server.expectOnly(audit: ["family.created"]) {
                var families: Set<FamilyResponse> = []
                for _ in 0..<2 {
                    families.insert(
                        try await server.call(
                            API.createFamily, FamilyCreate(name: "The Nells"), as: nell,
                            headers: ["Idempotency-Key": "once"]))
                }
                return families
            }
            #expect(families.count == 1)
        }
    }

    @Test(
        "a family's codes are shown to guardians alone",
        arguments: ["guardian", "participant", "child", "removed", "stranger"])
    func read(who: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let person = family.somebody(who)
            let reply = try await server.expectOnly {
                try await server.call("GET", "/api/v1/families/\(family.id)", as: person)
            }
            switch who {
            case "guardian":
                #expect(reply.json?["invite_code"] == .string(family.inviteCode))
                #expect(reply.json?["child_code"] == .string(family.childCode))
            case "participant", "child":
                #expect(reply.json?["invite_code"] == "")
                #expect(reply.json?["child_code"] == .null)
            default:
                #expect(reply.status == 403)
            }
        }
    }

    @Test("the members of a family are listed page by page, in the order they joined")
    func members() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            server.clock.advance(by: .seconds(1))
            let last = try await server.member("Zoe", .participant, of: family)
            let query = FamilyMembersQuery(familyID: family.id)
            let all = try await server.call(API.listMembers, query, as: family.child)
            #expect(all.total == 5)
            #expect(all.items.last?.userID == last.id)
            #expect(all.items.allSatisfy { $0.status == .active && $0.userID != family.removed.id })
            var paged: [MemberDetail] = []
            for offset in [0, 2, 4] {
                let page = PageRequest(limit: 2, offset: offset)
                let answer = try await server.call(
                    API.listMembers, FamilyMembersQuery(familyID: family.id, page: page), as: family.child)
                #expect(answer.total == 5)
                paged += answer.items
            }
            #expect(paged == all.items)
            let past = try await server.call(
                API.listMembers, FamilyMembersQuery(familyID: family.id, page: PageRequest(limit: 2, offset: 9)),
                as: family.child)
            #expect(past.items.isEmpty)
            #expect(past.total == 5)
        }
    }
}

/// Who may do what in the group `families`.
extension MatrixRow {
    static let families: [MatrixRow] = [
        MatrixRow(API.createFamily, concern: .caller, allowed: [], refusals: [403, 409]) { _ in
            (NoParameters(), FamilyCreate(name: "Second"))
        },
        MatrixRow(API.getFamily, allowed: .members) { (family($0), NoBody()) },
        MatrixRow(API.updateFamily, allowed: .guardians) {
            (family($0), FamilyUpdate(timeZone: "Europe/Berlin"))
        },
        MatrixRow(API.joinFamily, "without its code", concern: .caller, allowed: []) { _ in
            (NoParameters(), JoinRequest(inviteCode: "NOSUCHCODE"))
        },
        MatrixRow(API.joinFamilyByID, "without its code", concern: .caller, allowed: []) {
            (family($0), JoinRequest(inviteCode: "NOSUCHCODE"))
        },
        MatrixRow(API.addMember, "a participant as a guardian", allowed: .guardians) {
            (family($0), MemberAdd(userID: $0.family.participant.id, role: .guardian))
        },
        MatrixRow(API.addMember, "a child as a guardian", allowed: [], refusals: [403, 404, 409]) {
            (family($0), MemberAdd(userID: $0.family.child.id, role: .guardian))
        },
        MatrixRow(API.addMember, "somebody with a sign-in of their own", allowed: []) {
            (family($0), MemberAdd(userID: $0.family.removed.id, role: .participant))
        },
        MatrixRow(API.addMember, "an administrator", allowed: []) {
            (family($0), MemberAdd(userID: $0.administrator.id, role: .child))
        },
        MatrixRow(API.listMembers, allowed: .members) { (FamilyMembersQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.createMember, allowed: .guardians) {
            (family($0), MemberCreateAndAdd(displayName: "Nina", role: .child))
        },
        MatrixRow(API.removeMember, "a child", allowed: .guardians) { (child($0), NoBody()) },
        MatrixRow(API.removeMember, "a participant", allowed: .guardians) {
            (MemberPath(familyID: $0.family.id, userID: $0.family.participant.id), NoBody())
        },
        MatrixRow(API.removeMember, "a guardian", allowed: .guardians) {
            (MemberPath(familyID: $0.family.id, userID: $0.family.secondGuardian.id), NoBody())
        },
        MatrixRow(API.leaveFamily, allowed: .adults) { (family($0), NoBody()) },
        MatrixRow(API.renewFamilyCode, allowed: .guardians) { (family($0), CodeRenewal(code: .child)) },
        MatrixRow(API.unlockMember, allowed: .guardians) { (child($0), NoBody()) },
        MatrixRow(API.setChildCredentials, "a child's", allowed: .guardians) {
            (child($0), ChildCredentialsSet(username: "cleo", pin: pin("1234")))
        },
        MatrixRow(API.setChildCredentials, "a participant's", allowed: [], refusals: [403, 404, 422]) {
            (
                MemberPath(familyID: $0.family.id, userID: $0.family.participant.id),
                ChildCredentialsSet(username: "pat", pin: pin("1234"))
            )
        },
        MatrixRow(API.changePIN, "without a PIN", allowed: []) {
            (child($0), PinChangeRequest(currentPin: pin("1234"), newPin: pin("4321")))
        },
        MatrixRow(API.getChildSettings, allowed: .guardians.union([.child])) { (child($0), NoBody()) },
        MatrixRow(API.updateChildSettings, allowed: .guardians) { (child($0), ChildSettingsUpdate(canSnooze: false)) },
    ]
}
