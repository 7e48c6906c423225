import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Repeated refusals")
struct RefusalCountTests {
    private static func read(_ server: TestServer, _ family: Household, as person: TestPerson) async throws -> Int {
        try await server.call("GET", "/api/v1/reports/family/weekly?family_id=\(family.id)", as: person).status
    }

    @Test("300 refused reads leave three entries, of which the later have their count")
    func bounded() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for _ in 0..<300 { #expect(try await Self.read(server, family, as: family.child) == 403) }
            let entries = try await server.audit(family.id)
            #expect(entries.map(\.kind) == Array(repeating: "report.read.denied", count: 3))
            #expect(entries.map { $0.details["count"] } == [nil, "10", "100"])
            #expect(
                entries.allSatisfy { $0.actor == family.child.pseudonym && $0.details["reason"] == "guardian_only" })
            #expect(try await server.rows("SELECT count FROM refusal_counts") == [["count": 300]])
        }
    }

    @Test("of thirty refusals at once one is the first")
    func together() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let statuses = try await ServerTestKit.together(30) { _ in
                try await Self.read(server, family, as: family.child)
            }
            #expect(statuses.allSatisfy { $0 == 403 })
            #expect(try await server.audit(family.id).map { $0.details["count"] } == [nil, "10"])
        }
    }

    @Test("a refusal of another person, thing or reason, or in another hour, has an entry of its own")
    func others() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for person in [family.child, family.participant] {
                try await server.expectOnly(audit: ["report.read.denied"]) {
                    for _ in 0..<3 { _ = try await Self.read(server, family, as: person) }
                }
            }
            try await server.expectOnly(audit: ["audit.read.denied"]) {
                try await server.call("GET", "/api/v1/audit/events?family_id=\(family.id)", as: family.child)
            }
            for nag in [
                try await server.nag(from: family.guardian, to: family.child),
                try await server.nag(from: family.guardian, to: family.child),
            ] {
                try await server.expectOnly(audit: ["nag.read.denied"]) {
                    for _ in 0..<3 {
                        try await expectRefusal(403) {
                            try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.participant)
                        }
                    }
                }
            }
            for status in ["suspended", "revoked"] {
                try await server.sql("UPDATE relationships SET status = \(status) WHERE family_id = \(family.id)")
                try await server.expectOnly(audit: ["nag.create.denied"]) {
                    for _ in 0..<3 {
                        try await expectRefusal(403) {
                            try await server.nag(from: family.participant, to: family.child)
                        }
                    }
                }
            }
            server.clock.advance(by: RefusalCount.window)
            try await server.expectOnly(audit: ["report.read.denied"]) {
                for _ in 0..<3 { _ = try await Self.read(server, family, as: family.child) }
            }
        }
    }

    @Test("counts of a past hour are deleted, and powers of ten are recorded")
    func forgotten() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            _ = try await Self.read(server, family, as: family.child)
            server.clock.advance(by: RefusalCount.window)
            server.clock.advance(by: .seconds(1))
            let now = server.clock.now()
            let deleted = try await server.database.run { database in
                try await Housekeeping.applyRetention(database, at: now)
            }
            #expect(deleted == 1)
            let told = (1...100_000).filter(RefusalCount.isRecorded)
            #expect(told == [1, 10, 100, 1_000, 10_000, 100_000])
        }
    }
}
