import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The test harness")
struct HarnessTests {
    @Test("of a hundred requests at once each gets its own answer")
    func manyAtOnce() async throws {
        try await TestServer.run { server in
            let versions = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<100 {
                    group.addTask { try await server.call(API.getVersion).serverVersion }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(versions == Array(repeating: NagzVersion.current, count: 100))
        }
    }

    @Test("test personas are in the database as the features would have made them, without events or entries")
    func personas() async throws {
        try await TestServer.run { server in
            try await server.expectOnly { try await server.call("GET", "/api/v1/version") }
            let family = try await server.family()
            let roles = try await server.rows(
                "SELECT role, status FROM memberships WHERE family_id = \(family.id) ORDER BY role, status")
            #expect(roles.map { $0["role"] } == ["child", "guardian", "guardian", "participant", "participant"])
            let relationships = try await server.rows("SELECT id FROM relationships")
            #expect(relationships.count == 6)
            #expect(try await server.audit(family.id).isEmpty)
            #expect(try await server.feed(family.id).isEmpty)
            let claims = try server.tokens.verify(server.token(family.child), at: server.clock.now())
            #expect(claims.user == family.child.id)
        }
    }

    @Test(
        "a statement that reads rows of every family is detected, in any notation",
        arguments: [
            ("SELECT id FROM nags WHERE status = 'open'", true),
            ("SELECT id FROM nags WHERE family_id = $1 OR status = 'open'", true),
            ("SELECT id FROM nags WHERE family_id <> $1", true),
            ("SELECT f.id FROM families f JOIN nags n ON n.status = f.name WHERE f.id = $1", true),
            ("SELECT n.id FROM nags n JOIN nag_events e ON e.family_id = n.family_id", true),
            ("SELECT n.id FROM families f JOIN nags n ON n.family_id = f.id", true),
            ("UPDATE nags SET status = 'open' WHERE id IN (SELECT nag_id FROM policies, drafts)", true),
            ("DELETE FROM nag_events", true),
            ("SELECT id FROM nags WHERE family_id = $1 AND (status = 'open' OR phase = 1)", false),
            ("SELECT id FROM nags WHERE family_id = ANY (ARRAY[$1]::uuid[])", false),
            ("SELECT id FROM nags WHERE family_id = $1 AND creator_id = $1 OR recipient_id = $1", false),
            ("SELECT f.id FROM families f JOIN nags n ON n.family_id = f.id WHERE f.id = $1", false),
            ("INSERT INTO nag_events SELECT * FROM nag_events WHERE family_id = $1", false),
            ("SELECT id FROM users", false),
            ("LISTEN changes", false),
        ])
    func crossFamilyReads(text: String, isFound: Bool) async throws {
        // The value stands in the text: the check plans statements with the types of their values.
        let statement = SQL(unsafeSQL: text.replacing("$1", with: "'\(FamilyID(high: 0, low: 1))'::uuid"))
        let faults = try await CrossFamilyReads.faults(of: [statement])
        #expect(!faults.isEmpty == isFound, "\(faults)")
    }

    @Test("a changed chain and a wrong sum are detected")
    func faultsAreFound() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.sql("UPDATE member_totals SET points = 1 WHERE user_id = \(family.child.id)")
            try await server.sql("UPDATE family_clock SET seq = 1 WHERE family_id = \(family.id)")
            #expect(try await server.database.faults().count == 2)
            try await server.sql("UPDATE member_totals SET points = 0")
            try await server.sql("UPDATE family_clock SET seq = 0")
        }
    }
}
