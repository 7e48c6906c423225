import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server

@Suite("Founding and reading families")
struct FamilyTests {
    @Test("a family begins with its guardian, its ledger, its policy and one entry")
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

    @Test("one family at a time, also when two are founded at once")
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

    @Test("founding with the same key again gives the same family")
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
        "the codes are shown to guardians alone",
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

    @Test("the members, page by page, in the order they joined")
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

extension Household {
    /// By the name of the part they play.
    func somebody(_ who: String) -> Person? {
        switch who {
        case "guardian": guardian
        case "second guardian": secondGuardian
        case "participant": participant
        case "child": child
        case "removed": removed
        case "stranger": stranger
        default: nil
        }
    }
}
