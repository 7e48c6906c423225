import Contract
import Domain
import JSON
import Postgres
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Notifications of new family codes")
struct FamilyNoticeTests {
    @Test("when a member is removed, the guardians who stay are notified of a new child code, without the code")
    func removal() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                for person in [family.guardian, family.secondGuardian, family.participant, family.child] {
                    try await server.registerDevice(as: person)
                }
                let admin = try await server.admin()
                try await server.withWorker(provider.options()) { worker in
                    try await server.expectOnly(audit: ["member.removed"]) {
                        try await server.call(
                            API.removeMember, MemberPath(familyID: family.id, userID: family.participant.id),
                            as: family.guardian)
                    }
                    try await worker.run()
                }
                let page = try await server.call(API.listDeliveryReviews, DeliveryReviewQuery(), as: admin)
                #expect(Set(page.items.map(\.userID)) == [family.guardian.id, family.secondGuardian.id])
                #expect(page.items.allSatisfy { $0.cause == "codes_renewed" && $0.status == .sent })
                let codes = try await server.call(
                    API.getFamily, FamilyPath(familyID: family.id), as: family.guardian)
                let bodies = try await provider.received().map { $0["body"] }
                #expect(bodies.count == 2)
                for body in bodies {
                    #expect(body?["title"] == "New family codes" && body?["nag_id"] == .null)
                    let text = try #require(body?["text"]?.stringValue)
                    #expect(text.contains("child code"))
                    #expect(!text.contains(try #require(codes.childCode)) && !text.contains(codes.inviteCode))
                }
            }
        }
    }

    @Test("when a guardian leaves, the others are notified; when a participant leaves, whose codes stay, nobody is")
    func leaving() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for person in [family.guardian, family.secondGuardian] { try await server.registerDevice(as: person) }
            try await server.call(
                API.leaveFamily, FamilyPath(familyID: family.id), as: family.participant)
            #expect(try await server.deliveryRows().isEmpty)
            try await server.call(
                API.leaveFamily, FamilyPath(familyID: family.id), as: family.secondGuardian)
            #expect(try await Self.notices(server) == [[.string("codes_renewed"), .string("\(family.guardian.id)")]])
        }
    }

    @Test("the other guardians are notified of a renewed child code, and nobody of a renewed invite code")
    func renewal() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for person in [family.guardian, family.secondGuardian] { try await server.registerDevice(as: person) }
            for code in [FamilyCode.invite, .child] {
                try await server.call(
                    API.renewFamilyCode, FamilyPath(familyID: family.id), CodeRenewal(code: code), as: family.guardian)
            }
            #expect(
                try await Self.notices(server)
                    == [[.string("child_code_renewed"), .string("\(family.secondGuardian.id)")]])
        }
    }

    private static func notices(_ server: TestServer) async throws -> [[JSONValue?]] {
        try await server.rows("SELECT family_notice, user_id FROM deliveries ORDER BY user_id").map {
            [$0["family_notice"], $0["user_id"]]
        }
    }
}
