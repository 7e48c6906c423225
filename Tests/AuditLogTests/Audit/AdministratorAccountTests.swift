import Audit
import Contract
import Domain
import Postgres
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Accounts of administrators")
struct AdministratorAccountTests {
    @Test("an administrator neither joins nor founds a family")
    func noFamily() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let admin = try await server.admin()
            let joined = try await server.expectOnly(audit: ["member.join.denied"]) {
                try await refusal {
                    try await server.call(API.joinFamily, JoinRequest(inviteCode: family.inviteCode), as: admin)
                }
            }
            #expect(joined.status == 403 && joined.reason == "administrator_joins_no_family")
            let founded = try await server.expectOnly {
                try await refusal { try await server.call(API.createFamily, FamilyCreate(name: "Mine"), as: admin) }
            }
            #expect(founded.status == 403 && founded.reason == "administrator_joins_no_family")
        }
    }

    @Test("an administrator has no connections: they invite nobody, and see no invitation to their address")
    func noConnections() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let admin = try await server.admin()
            let denied = try await server.expectOnly(audit: ["connection.invite.denied"]) {
                try await refusal { try await server.invite(family.stranger, as: admin) }
            }
            #expect(denied.status == 403 && denied.reason == "administrator_joins_no_family")
            let invitation = try await server.expectOnly(audit: ["connection.invited"]) {
                try await server.invite(admin, as: family.guardian)
            }
            #expect(try await server.connections(of: admin).isEmpty)
            try await expectRefusal(404) { try await server.accept(invitation, as: admin) }
        }
    }

    @Test("a deleted administrator is listed as deleted and does not count as an administrator")
    func deleted() async throws {
        try await TestServer.run { server in
            let admin = try await server.admin()
            _ = try await server.call(API.deleteAccount, AccountPath(userID: admin.id), as: admin)
            let listed = try #require(try await Admins.listAll(databaseURL: server.database.url).first)
            #expect(listed.deletedAt != nil && !listed.isCurrent)
            let current = try await server.database.rows(AuditStatements.currentAndFormerAdministrators) {
                row -> Bool in
                try row["is_current"]
            }
            #expect(current.allSatisfy { !$0 })
            await #expect(throws: Admins.Fault.self) {
                try await Admins.revoke(
                    databaseURL: server.database.url, keys: try #require(TestServer.auditKeyring),
                    email: admin.email ?? "ada@example.org", clock: server.clock)
            }
        }
    }
}
