import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Traces and error codes of drafts")
struct DraftTraceTests {
    private static let parent = "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01"
    private static let trace = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa"

    /// Every call of drafts, with a body that it takes.
    private static func calls(_ family: FamilyID, _ draft: DraftID) -> [(String, String, JSONValue?)] {
        let path = "/api/v1/ai/drafts"
        let version: JSONValue = ["version": 1]
        return [
            ("POST", path, ["family_id": .string("\(family)"), "kind": "suggested_nag", "text": "the dishes"]),
            ("GET", "\(path)?family_id=\(family)", nil), ("GET", "\(path)/\(draft)", nil),
            ("PATCH", "\(path)/\(draft)", ["body": [:]]),
            (
                "POST", "\(path)/\(draft)/approve",
                ["version": 1, "acknowledged_side_effects": ["create_nag", "notify_recipient"]]
            ),
            ("POST", "\(path)/\(draft)/confirm", version), ("POST", "\(path)/\(draft)/execute", version),
            ("POST", "\(path)/\(draft)/reject", version),
        ]
    }

    @Test("every answer and error about a draft has its trace, which leads to the draft's audit entry")
    func traces() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft(in: family, as: family.guardian)
            for (method, path, body) in Self.calls(family.id, draft.id) {
                for person in [family.guardian, family.stranger] {
                    let reply = try await server.call(
                        method, path, as: person, body: body, headers: ["traceparent": Self.parent])
                    #expect(reply.header("x-trace-id") == Self.trace, "\(method) \(path) \(reply.status)")
                }
            }
            let stored = try await server.rows(
                "SELECT 1 FROM drafts d JOIN audit_entry e ON e.trace = d.trace_id AND e.resource = d.id")
            #expect(stored.count == 2)
        }
    }

    @Test("an unknown task type is E-TASK-001 with its field, for drafts and for all AI operations")
    func taskTypes() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let (family, nag) = (JSONValue.string("\(scene.home.id)"), JSONValue.string("\(scene.nag)"))
            let asked: [(String, String, JSONValue?)] = [
                (
                    "POST", "/api/v1/ai/drafts",
                    ["family_id": family, "kind": "suggested_nag", "text": "t", "task_type": "oracle"]
                ),
                (
                    "POST", "/api/v1/ai/executions",
                    ["family_id": family, "operation": "select_tone", "nag_id": nag, "task_type": "oracle"]
                ),
                ("POST", "/api/v1/ai/select-tone", ["nag_id": nag, "task_type": 5]),
                ("POST", "/api/v1/ai/push-back", ["nag_id": nag, "task_type": "oracle"]),
                ("GET", "/api/v1/ai/digest?family_id=\(scene.home.id)&task_type=oracle", nil),
            ]
            try await server.expectOnly(audit: Array(repeating: "ai_execution.refused", count: 4)) {
                for (method, path, body) in asked {
                    let reply = try await server.call(
                        method, path, as: scene.home.guardian, body: body, headers: ["traceparent": Self.parent])
                    let details = reply.json?["error"]?["details"]
                    #expect(reply.status == 422 && reply.errorCode == "VALIDATION_ERROR", "\(path) \(reply.text)")
                    #expect(details?["error_code"] == "E-TASK-001" && details?["field"] == "task_type", "\(path)")
                    #expect(details?["trace_id"] == .string(Self.trace) && details?["recoverable"] == false)
                }
                let codes = try await scene.history().map(\.errorCode)
                #expect(codes == Array(repeating: "E-TASK-001", count: 4), "a draft is no question")
                let other = try await server.call(
                    "POST", "/api/v1/ai/select-tone", as: scene.home.guardian, body: ["nag_id": nag, "intent": "x"])
                #expect(
                    other.status == 422 && other.json?["error"]?["details"]?["error_code"] == "VALIDATION_ERROR")
            }
        }
    }
}
