import Contract
import Domain
import JSON
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Codes and reasons of refusals")
struct ErrorCodeTests {
    @Test("refusals at sign-in and in a family have a public code, and the finer reason in details")
    func codes() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let pending = try await server.account("Wendy", status: "pending_guardian_consent")
            let path = "/api/v1/families/\(family.id)"
            func expect(
                _ status: Int, _ code: String, _ reason: String?, _ reply: Reply,
                sourceLocation: SourceLocation = #_sourceLocation
            ) {
                #expect(reply.status == status, sourceLocation: sourceLocation)
                #expect(reply.errorCode == code, sourceLocation: sourceLocation)
                #expect(reply.errorReason == reason, sourceLocation: sourceLocation)
            }
            expect(401, "AUTHN_FAILED", "token_missing", try await server.call("GET", path))
            expect(401, "AUTHN_FAILED", nil, try await server.call("GET", path, token: "garbage"))
            expect(403, "AUTHZ_DENIED", "account_pending", try await server.call("GET", path, as: pending))
            expect(403, "AUTHZ_DENIED", "not_a_member", try await server.call("GET", path, as: family.stranger))
            expect(
                403, "AUTHZ_DENIED", "guardian_only",
                try await server.call(
                    "POST", path + "/members/create", as: family.participant,
                    body: ["display_name": "Kim", "role": "child"]))
            expect(
                404, "NOT_FOUND", nil, try await server.call("GET", "/api/v1/nags/\(family.id)", as: family.guardian))
            expect(
                422, "VALIDATION_ERROR", nil,
                try await server.call("POST", "/api/v1/families", as: family.guardian, body: ["name": 1]))
            expect(
                403, "POLICY_FORBIDDEN", "child_may_not_nag",
                try await server.call(
                    "POST", "/api/v1/nags", as: family.child,
                    body: [
                        "family_id": .string(family.id.description), "category": "chores",
                        "recipient_id": .string(family.child.id.description), "done_definition": "ack_only",
                        "due_at": .string((server.clock.now() + .hours(2)).rfc3339),
                    ]))
            // The last of all: a guardian who leaves ends the sessions of children.
            expect(
                412, "PRECONDITION_FAILED", "last_guardian",
                try await {
                    _ = try await server.call("POST", path + "/leave", as: family.secondGuardian)
                    return try await server.call("POST", path + "/leave", as: family.guardian)
                }())
        }
    }
}
