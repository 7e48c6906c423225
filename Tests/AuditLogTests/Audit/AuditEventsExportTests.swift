import Audit
import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Exports of what a filter finds")
struct AuditEventsExportTests {
    @Test("an export of filtered audit entries has all entries of the list, in either format")
    func whole() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for _ in 0..<5 {
                try await server.write(
                    [AuditKind](repeating: .blockCreated, count: 50) + [.blockLifted], by: family.child, in: family.id)
            }
            try await server.write([.blockCreated], by: family.stranger, in: family.otherFamilyID)
            let conditions = AuditConditions(kind: "block.created")
            let text = try await server.expectOnly {
                try await server.call(
                    API.exportAuditEvents, AuditEventsExportQuery(conditions: conditions), as: family.guardian
                ).text
            }
            let entries = try text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
            #expect(entries.count == 250)
            #expect(
                entries.allSatisfy {
                    $0["kind"] == "block.created" && $0["family_id"] == .string(family.id.description)
                })
            let csv = try await server.call(
                API.exportAuditEvents, AuditEventsExportQuery(conditions: conditions, format: .csv), as: family.guardian
            ).text
            let lines = csv.split(separator: "\r\n")
            #expect(lines.count == 251 && lines.first?.hasPrefix("\"at\",\"family_id\",\"n\",\"kind\"") == true)
            let nothing = try await server.call(
                API.exportAuditEvents,
                AuditEventsExportQuery(conditions: .init(q: "no such word"), format: .csv), as: family.guardian
            ).text
            #expect(nothing.split(separator: "\r\n").count == 1)
        }
    }

    @Test("an administrator's export of filtered entries is one entry of the audit log")
    func audited() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.write([AuditKind](repeating: .blockCreated, count: 450), by: family.child, in: family.id)
            let admin = try await server.admin()
            let text = try await server.expectOnly(audit: ["admin.read"]) {
                try await server.call(
                    API.exportAuditEvents, AuditEventsExportQuery(conditions: .init(familyID: family.id)), as: admin
                ).text
            }
            #expect(text.split(separator: "\n").count == 450)
        }
    }

    @Test(
        "no field of a CSV export is a formula, and none leaves its quotes",
        arguments: ["=HYPERLINK(\"http://x\")", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\u{FF1D}1"])
    func formulas(_ text: String) {
        let line = String(decoding: AuditCSV.line([text, "a\"b", "a=b"]), as: UTF8.self)
        #expect(line.hasPrefix("\"'"))
        #expect(line.hasSuffix(",\"a\"\"b\",\"a=b\"\r\n"))
        #expect(line.count { $0 == "\"" } % 2 == 0)
    }
}
