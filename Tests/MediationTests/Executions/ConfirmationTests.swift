import Audit
import Contract
import Domain
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Confirmations and AI sessions")
struct ConfirmationTests {
    @Test("a confirmation is required once, and answers the same question once")
    func confirmed() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            _ = try await scene.constrain(.requireConfirmation(prompt: "Really?"))
            let refused = try await refusal { try await scene.summarize() }
            #expect(refused.status == 409 && refused.message == "Really?")
            let token = try #require(refused.execution?.confirmation)
            let options = ExecutionOptions(confirmation: token)
            // Another question, another person, another way of answering.
            _ = try await scene.expectRefusal(.confirmationInvalid, 409) { try await scene.summarize("I did", options) }
            _ = try await scene.expectRefusal(.confirmationInvalid, 409) {
                try await scene.summarize("I forgot", options, as: scene.home.guardian)
            }
            _ = try await scene.expectRefusal(.confirmationInvalid, 409) {
                try await scene.summarize("I forgot", ExecutionOptions(privacyLevel: .cloud, confirmation: token))
            }
            _ = try await scene.summarize("I forgot", options)
            _ = try await scene.expectRefusal(.confirmationInvalid, 409) {
                try await scene.summarize("I forgot", options)
            }
            let codes = try await scene.history(as: scene.home.child).map { $0.errorCode ?? "answer" }
            #expect(
                codes.sorted() == ["E-POLICY-002", "E-POLICY-003", "E-POLICY-003", "E-POLICY-003", "answer"])
        }
    }

    @Test("of fifty answers to one confirmation at once, one is given")
    func once() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            _ = try await scene.constrain(.requireConfirmation(prompt: "Really?"))
            let fault = try await scene.expectRefusal(.confirmationNeeded, 409) { try await scene.summarize() }
            let token: Secret = try #require(fault.confirmation)
            let options = ExecutionOptions(confirmation: token)
            let statuses = try await together(50) { _ in
                do {
                    _ = try await scene.summarize("I forgot", options)
                    return 201
                } catch let refusal as APIError {
                    return refusal.status
                }
            }
            #expect(statuses.count { $0 == 201 } == 1 && statuses.count { $0 == 409 } == 49)
            #expect(try await server.rows("SELECT 1 FROM ai_mediation_events").count == 1)
        }
    }

    @Test("a confirmation is valid for 300 seconds, to the microsecond", arguments: [(0, true), (1, false)])
    func lifetime(_ late: Int64, _ isValid: Bool) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            _ = try await scene.constrain(.requireConfirmation(prompt: "Really?"))
            let fault = try await scene.expectRefusal(.confirmationNeeded, 409) { try await scene.summarize() }
            let token: Secret = try #require(fault.confirmation)
            let options = ExecutionOptions(confirmation: token)
            server.clock.advance(by: Timestamp.Span(microseconds: 300_000_000 + late))
            if isValid {
                _ = try await scene.summarize("I forgot", options)
            } else {
                _ = try await scene.expectRefusal(.confirmationInvalid, 409) {
                    try await scene.summarize("I forgot", options)
                }
            }
        }
    }

    @Test("another prompt needs another confirmation")
    func changedPrompt() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let id = try await scene.constrain(.requireConfirmation(prompt: "Really?"))
            let fault = try await scene.expectRefusal(.confirmationNeeded, 409) { try await scene.summarize() }
            try await server.change(
                id, ConstraintUpdate(action: .requireConfirmation(prompt: "To the whole world?")),
                as: scene.home.guardian)
            let token: Secret = try #require(fault.confirmation)
            let options = ExecutionOptions(confirmation: token)
            _ = try await scene.expectRefusal(.confirmationInvalid, 409) {
                try await scene.summarize("I forgot", options)
            }
        }
    }

    @Test("a declined confirmation is void, and is in the audit log")
    func declined() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            _ = try await scene.constrain(.requireConfirmation(prompt: "Really?"))
            let fault = try await scene.expectRefusal(.confirmationNeeded, 409) { try await scene.summarize() }
            let token = try #require(fault.confirmation)
            let accepted = try await refusal {
                try await server.call(
                    API.declineConfirmation, ConfirmationReply(confirmation: token, isAccepted: true),
                    as: scene.home.child)
            }
            #expect(accepted.field == "accept")
            let foreign = try await refusal {
                try await server.call(
                    API.declineConfirmation, ConfirmationReply(confirmation: token), as: scene.home.guardian)
            }
            #expect(foreign.code == .notFound)
            try await server.expectOnly(audit: ["ai_execution.declined"]) {
                _ = try await server.call(
                    API.declineConfirmation, ConfirmationReply(confirmation: token), as: scene.home.child)
            }
            _ = try await scene.expectRefusal(.confirmationInvalid, 409) {
                try await scene.summarize("I forgot", ExecutionOptions(confirmation: token))
            }
        }
    }

    @Test("a person who is in no family can decline a confirmation")
    func declinedWithoutFamily() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            let nag = try await scene.nag(from: scene.friend, to: scene.parent)
            _ = try await server.grant(.aiMediation, in: scene.family.id, as: scene.parent)
            let fault = try await refusal {
                _ = try await server.call(
                    API.summarizeExcuse, NoParameters(),
                    AIEnvelope(
                        ExcuseSummaryRequest(text: "I forgot", nagID: nag.id),
                        ExecutionOptions(rule: .localFailureFallback)), as: scene.friend)
            }
            let token: Secret = try #require(fault.execution?.confirmation)
            try await server.expectOnly(audit: ["ai_execution.declined"]) {
                _ = try await server.call(
                    API.declineConfirmation, ConfirmationReply(confirmation: token), as: scene.friend)
            }
            let again = try await refusal {
                try await server.call(
                    API.declineConfirmation, ConfirmationReply(confirmation: token), as: scene.friend)
            }
            #expect(again.status == 404)
            #expect(try await server.reconcile(.outside).findings.map(\.description) == [])
        }
    }

    @Test("a session lasts 45 minutes after its last use, for its person alone, and can be ended at once")
    func sessions() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let session = try await server.call(
                API.beginAISession, AISessionCreate(familyID: scene.home.id), as: scene.home.child)
            #expect(session.expiresAt == server.clock.now() + .minutes(45))
            let options = ExecutionOptions(sessionID: session.sessionID)
            for _ in 0..<2 {
                server.clock.advance(by: Timestamp.Span(microseconds: 45 * 60_000_000 - 1))
                _ = try await scene.summarize("I forgot", options)
            }
            _ = try await scene.expectRefusal(.sessionEnded, 409) {
                try await scene.summarize("I forgot", options, as: scene.home.guardian)
            }
            server.clock.advance(by: .minutes(45))
            _ = try await scene.expectRefusal(.sessionEnded, 409) { try await scene.summarize("I forgot", options) }
            let next = try await server.call(
                API.beginAISession, AISessionCreate(familyID: scene.home.id), as: scene.home.child)
            try await server.call(
                API.endAISession, AISessionName(sessionID: next.sessionID), as: scene.home.child)
            _ = try await scene.expectRefusal(.sessionEnded, 409) {
                try await scene.summarize("I forgot", ExecutionOptions(sessionID: next.sessionID))
            }
            let stored = try await server.rows("SELECT encode(session_digest, 'hex') AS digest FROM ai_executions")
            #expect(!stored.description.contains(session.sessionID.wireText))
        }
    }
}
