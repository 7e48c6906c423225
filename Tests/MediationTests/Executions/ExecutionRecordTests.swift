import Audit
import Contract
import Domain
import JSON
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The record of a question")
struct ExecutionRecordTests {
    @Test(
        "a rule that cannot have sent the question to the server is refused and not recorded",
        arguments: [
            RoutingRule.policyBlock, .networkUnavailable, .privacyLocal, .policyForceLocal, .autoLocal, .privacyCloud,
        ])
    func implausible(_ claimed: RoutingRule) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let refused = try await refusal { try await scene.tone(ExecutionOptions(rule: claimed)) }
            #expect(refused.status == 422 && refused.field == "rule_id")
            #expect(refused.execution?.code == "E-QUESTION-002" && refused.execution?.isRecoverable == false)
            let record = try #require(try await scene.history().first)
            #expect(record.execution.rule == .autoCloud && record.execution.claimedRule == claimed)
            #expect(record.errorCode == "E-QUESTION-002" && record.execution.route == .cloud)
            #expect(try await server.audit(scene.home.id).last?.details["claimed_rule_id"] == claimed.rawValue)
        }
    }

    @Test("a plausible rule of the client is recorded beside the router's own rule")
    func claimed() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let claims: [(RoutingRule, PrivacyLevel?, RoutingRule)] = [
                (.autoCloud, nil, .autoCloud), (.policyForceCloud, nil, .autoCloud),
                (.privacyCloud, .cloud, .privacyCloud),
                (.localFailureFallback, nil, .autoCloud),
            ]
            for (claim, level, rule) in claims {
                let options = ExecutionOptions(privacyLevel: level, rule: claim)
                let report = try #require(try await scene.tone(options).execution)
                #expect(report.rule == rule && report.claimedRule == claim && !report.isFallbackAllowed)
            }
        }
    }

    @Test("a client's claim of a fallback is accepted only where its first decision allowed one")
    func fallbackClaims() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let claim = ExecutionOptions(rule: .localFailureFallback)
            func expectImplausible(_ options: ExecutionOptions = claim) async throws {
                _ = try await scene.expectRefusal(.claimImplausible, 422) { try await scene.tone(options) }
            }
            try await expectImplausible(ExecutionOptions(privacyLevel: .cloud, rule: .localFailureFallback))
            for action in [ConstraintAction.forceLocal, .forceCloud] {
                let id = try await scene.constrain(action)
                try await expectImplausible()
                try await server.call(API.deleteConstraint, ConstraintPath(constraintID: id), as: scene.home.guardian)
            }
            // Longer than what the person lets the device answer.
            try await scene.prefer(#"{"ai_token_threshold": 256}"#, scene.home.child)
            let long = String(repeating: "bus ", count: 300)
            _ = try await scene.expectRefusal(.claimImplausible, 422) { try await scene.summarize(long, claim) }
            _ = try await scene.expectRefusal(.fallbackNeedsConfirmation, 409) {
                try await scene.summarize("bus", claim)
            }
        }
    }

    @Test("a question id with another content or setting is refused with the reason, and the same one is not")
    func reused() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let id = QuestionID(high: 5, low: 5)
            let options = ExecutionOptions(questionID: id, taskType: .heuristic)
            _ = try await scene.summarize("the bus", options)
            _ = try await scene.summarize("the bus", options)
            var others = [options, options, options]
            others[0].privacyLevel = .cloud
            others[1].intent = .analytical
            others[2].taskType = .localModel
            for other in others {
                _ = try await scene.expectRefusal(.questionReused, 409) { try await scene.summarize("the bus", other) }
            }
            let refused = try await refusal { try await scene.summarize("a bus", options) }
            #expect(refused.reason == "question_id_reused" && refused.field == "question_id")
            _ = try await scene.expectRefusal(.questionReused, 409) { try await scene.tone(options) }
            // The first question stays the id's own.
            _ = try await scene.summarize("the bus", options)
            // Somebody else's ids are their own.
            _ = try await scene.summarize("a bus", options, as: scene.home.guardian)
            let codes = try await scene.history(as: scene.home.child).map(\.errorCode)
            #expect(codes.count { $0 == "E-QUESTION-001" } == 5 && codes.count { $0 == nil } == 3)
        }
    }

    @Test("of fifty questions at once under one id only those with the same words are answered")
    func reusedAtOnce() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let options = ExecutionOptions(questionID: QuestionID(high: 5, low: 6))
            let answered = try await together(50) { number -> Int? in
                do {
                    _ = try await scene.summarize("bus \(number % 5)", options)
                    return number % 5
                } catch let refusal as APIError {
                    #expect(refusal.execution?.code == "E-QUESTION-001")
                    return nil
                }
            }
            #expect(Set(answered.compactMap(\.self)).count == 1 && answered.count { $0 != nil } == 10)
        }
    }

    @Test("a declined question is in history and audit log with its id, operation and kind of confirmation")
    func declined() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            _ = try await scene.constrain(.requireConfirmation(prompt: "Really?"))
            let (trace, question) = (TraceID(high: 3, low: 1), QuestionID(high: 3, low: 2))
            for (rule, declined, fallback, constraint) in [
                (nil, "constraint", ConfirmationStatus.none, ConfirmationStatus.no),
                (.localFailureFallback, "constraint,fallback", .no, .no),
            ] as [(RoutingRule?, String, ConfirmationStatus, ConfirmationStatus)] {
                server.clock.advance(by: .seconds(1))
                let options = ExecutionOptions(traceID: trace, questionID: question, rule: rule)
                let refused = try await refusal { try await scene.summarize("I forgot", options) }
                let token = try #require(refused.execution?.confirmation)
                server.clock.advance(by: .seconds(1))
                _ = try await server.call(
                    API.declineConfirmation, ConfirmationReply(confirmation: token), as: scene.home.child)
                let entry = try #require(try await server.audit(scene.home.id).last)
                #expect(entry.kind == "ai_execution.declined" && entry.details["declined"] == declined)
                #expect(
                    entry.details["trace"] == trace.description && entry.details["question"] == question.description)
                #expect(entry.details["operation"] == "summarize_excuse")
                #expect(entry.details["fallback_confirmed"] == fallback.rawValue)
                let record = try #require(try await scene.history(as: scene.home.child).first)
                #expect(record.errorCode == "E-CANCEL-001" && record.traceID == trace && record.questionID == question)
                #expect(record.execution.fallbackConfirmed == fallback)
                #expect(record.execution.constraintConfirmed == constraint)
                #expect(record.execution.stages.last == StageTime(.failed, at: server.clock.now()))
                #expect(rule == nil || record.execution.reason?.hasSuffix("did not agree to the server") == true)
            }
            #expect(
                try await server.call(
                    API.getExecution, ExecutionPath(traceID: trace), as: scene.home.child
                ).attempts.count == 4)
        }
    }

    @Test("a record has the keyed hash and length of the question's words, and its stages in order")
    func wordsAndStages() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let words = "The bus is late — sorry"
            _ = try await scene.summarize(words)
            _ = try await scene.tone()
            _ = try await scene.constrain(.block(reason: "no"), [("content", "contains", "bus")])
            _ = try await scene.expectRefusal(.blocked, 403) { try await scene.summarize(words) }
            let key = try #require(TestServer.auditKeyring).masterKeys[0].derivedKey(label: "content")
            let hash = hexadecimal(hmacSHA256(Array(words.utf8), key: key))
            let records = try await scene.history(as: scene.home.child)
            for record in records {
                let hasWords = record.operation == .operation(.summarizeExcuse)
                #expect(record.execution.questionHash == (hasWords ? hash : nil))
                #expect(record.execution.questionLength == (hasWords ? words.utf8.count : 0))
                let stages: [ExecutionStage] =
                    record.errorCode == nil ? [.created, .routed, .executed, .completed] : [.created, .failed]
                #expect(record.execution.stages.map(\.stage) == stages)
                let times = record.execution.stages.map(\.at)
                #expect(times == times.sorted() && times.first == record.createdAt.flooredToMillisecond)
            }
            #expect(records.count == 3)
            let entries = try await server.audit(scene.home.id).filter { $0.details["question_hash"] == hash }
            #expect(entries.map(\.kind) == ["ai.summarize_excuse", "ai_execution.refused"])
            #expect(entries.allSatisfy { $0.details["question_length"] == "\(words.utf8.count)" })
        }
    }

    @Test("every refusal has a code, the client's trace, and whether something can be done")
    func refusals() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let trace = TraceID(high: 0x1111_2222_3333_4444, low: 0x5555_6666_7777_8888)
            func expect(
                _ status: Int, _ code: String, _ method: String, _ path: String, _ body: JSONObject? = nil,
                as person: TestPerson? = nil, sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let reply = try await server.call(
                    method, path, as: person ?? scene.home.child, body: body.map { .object($0) })
                #expect(reply.status == status, "\(reply.text)", sourceLocation: sourceLocation)
                let details = reply.json?["error"]?["details"]
                #expect(details?["error_code"] == .string(code), "\(reply.text)", sourceLocation: sourceLocation)
                #expect(details?["trace_id"] == .string(trace.description), sourceLocation: sourceLocation)
                #expect(details?["recoverable"] == false, sourceLocation: sourceLocation)
                #expect(reply.header("x-trace-id") == trace.description, sourceLocation: sourceLocation)
            }
            let named: JSONObject = ["trace_id": .string(trace.description)]
            func body(_ members: JSONObject) -> JSONObject {
                var body = named
                for member in members.members { body[member.key] = member.value }
                return body
            }
            let nowhere = NagID(high: 9, low: 9).description
            try await expect(404, "NOT_FOUND", "POST", "/api/v1/ai/coaching", body(["nag_id": .string(nowhere)]))
            try await expect(422, "VALIDATION_ERROR", "POST", "/api/v1/ai/coaching", body(["nag_id": "no"]))
            try await expect(422, "VALIDATION_ERROR", "POST", "/api/v1/ai/coaching", named)
            try await expect(
                422, "E-TASK-001", "POST", "/api/v1/ai/coaching",
                body(["nag_id": .string(scene.nag.description), "task_type": "magic"]))
            try await expect(
                422, "VALIDATION_ERROR", "GET", "/api/v1/ai/digest?trace_id=\(trace.description)&family_id=no")
            try await scene.revokeConsent()
            try await expect(
                403, "AUTHZ_DENIED", "POST", "/api/v1/ai/coaching",
                body(["nag_id": .string(scene.nag.description)]))
        }
    }
}

/// What a model was asked stays in the audit log, whatever comes after it.
@Suite("Audit entries of models that were asked", .timeLimit(.minutes(5)))
struct AskedModelTests {
    @Test("a third party that was asked is in the audit log, also when the person has deleted their history")
    func deleted() async throws {
        try await ModelScene.run { scene in
            let (server, guardian) = (scene.ai.server, scene.ai.home.guardian)
            let report = try #require(
                try await scene.ai.summarize("the bus was late", ModelScene.ownKey, as: guardian).execution)
            let asked = try #require(report.asked)
            #expect(asked.provider == .ownProvider && asked.reach == .thirdParty && report.provider == "byo")
            #expect(report.rule == .autoCloud && report.reason == "A model of the person's own key was asked for")
            server.clock.advance(by: .seconds(1))
            let query = ExecutionDeletionQuery(familyID: scene.ai.home.id, before: server.clock.now())
            #expect(try await server.call(API.deleteExecutions, query, as: guardian).deleted == 1)
            let entry = try #require(
                try await server.audit(scene.ai.home.id).last { $0.details["asked_reach"] == "third_party" })
            #expect(entry.details["asked_model"] == asked.name && entry.details["asked_provider"] == "byo")
            #expect(entry.details["task_type"] == "cloud_llm" && entry.details["question_length"] == "16")
        }
    }

    @Test("a model that was asked for somebody who has left the family meanwhile is in the audit log")
    func left() async throws {
        try await ModelScene.run("hold-left") { scene in
            let (server, home) = (scene.ai.server, scene.ai.home)
            let answer = try await scene.whileHeld("left", { try await scene.ai.tone(ModelScene.gateway) }) {
                try await server.call(
                    API.removeMember, MemberPath(familyID: home.id, userID: home.child.id), as: home.guardian)
            }
            #expect(throws: APIError.self) { try answer.get() }
            let entry = try #require(try await server.audit(home.id).last { $0.kind == "ai_execution.refused" })
            #expect(entry.details["asked_provider"] == "server_gateway" && entry.details["asked_reach"] == "server")
        }
    }

    @Test("a model that was asked for a client who has gone is in the audit log")
    func gone() async throws {
        try await ModelScene.run("hold-gone") { scene in
            let asking = Task { try? await scene.ai.tone(ModelScene.gateway) }
            try await scene.waitForQuestion("gone")
            asking.cancel()
            try await scene.release("gone")
            _ = await asking.value
            let entries = try await scene.ai.server.audit(scene.ai.home.id)
            #expect(entries.contains { $0.details["asked_provider"] == "server_gateway" })
        }
    }
}
