import Contract
import Domain
import JSON
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Executions")
struct ExecutionTests {
    private static let words = ("content", "contains", "bus")

    @Test("a call without options gets an answer without a report, and is in the history")
    func plain() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let answer = try await scene.tone()
            #expect(answer.execution == nil)
            let record = try #require(try await scene.history().first)
            #expect(
                record.userID == scene.home.child.id && record.operation == .operation(.selectTone)
                    && record.errorCode == nil)
            #expect(record.nagID == scene.nag && record.familyID == scene.home.id)
            #expect(record.execution.rule == .autoCloud && record.execution.provider == "heuristic")
            #expect(record.execution.reason == "The rules were asked for")
            #expect(record.execution.claimedRule == nil && !record.execution.isFallbackAllowed)
            #expect(record.execution.taskType == .heuristic && record.execution.confidence == 0.7)
            #expect(!record.execution.usedFallback && record.execution.fallbackReason == "none")
        }
    }

    @Test("the client's trace, or else the request's, is in header, answer, history and audit log")
    func traces() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let trace = TraceID(high: 0x1111_2222_3333_4444, low: 0x5555_6666_7777_8888)
            let reply = try await server.call(
                "POST", "/api/v1/ai/select-tone", as: scene.home.child,
                body: ["nag_id": .string(scene.nag.description), "trace_id": .string(trace.description)],
                headers: ["traceparent": "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01"])
            #expect(reply.status == 201 && reply.header("x-trace-id") == trace.description)
            #expect(try await scene.history().map(\.traceID) == [trace])
            let entries = try await server.rows("SELECT 1 FROM audit_entry WHERE trace = \(trace)")
            #expect(entries.count == 1)
            let continued = try await server.call(
                "POST", "/api/v1/ai/select-tone", as: scene.home.child,
                body: ["nag_id": .string(scene.nag.description)],
                headers: ["traceparent": "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-01"])
            #expect(continued.header("x-trace-id") == "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa")
            let refused = try await server.call(
                "POST", "/api/v1/ai/select-tone", as: scene.home.child,
                body: [
                    "nag_id": .string(scene.nag.description), "trace_id": .string(trace.description),
                    "privacy_level": "local",
                ])
            #expect(refused.status == 422 && refused.header("x-trace-id") == trace.description)
            let details = refused.json?["error"]?["details"]
            #expect(details?["error_code"] == "E-PRIVACY-001" && details?["trace_id"] == .string(trace.description))
            let attempts = try await server.call(
                API.getExecution, ExecutionPath(traceID: trace), as: scene.home.guardian
            ).attempts
            #expect(attempts.map(\.errorCode) == [nil, "E-PRIVACY-001"])
        }
    }

    /// A question of 4,000 characters, as many as the coach takes.
    private static let longestQuestion = "What is due? " + String(repeating: "x", count: 3_987)

    @Test("executing an operation by its name gives its endpoint's answer", arguments: AIOperationID.allCases)
    func operations(_ operation: AIOperationID) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let question = QuestionID(high: 7, low: 7)
            let answer = try await scene.execute(
                operation,
                text: operation == .summarizeExcuse
                    ? "The bus was late" : operation == .askCoach ? Self.longestQuestion : nil,
                ExecutionOptions(questionID: question, taskType: .heuristic, intent: .analytical))
            #expect(answer.questionID == question && answer.response.model == "heuristic")
            #expect(!answer.result.isEmpty && answer.result["execution"] == nil)
            #expect(answer.response.content.isEmpty == (operation == .patterns || operation == .predictCompletion))
            #expect(answer.execution.intent == .analytical)
            #expect(
                answer.execution.confidence
                    == (operation == .summarizeExcuse || operation == .askCoach
                        ? answer.result["confidence"]?.doubleValue : 0.7))
            let records = try await scene.history(
                ExecutionFilter(familyID: scene.home.id, questionID: question, operation: .operation(operation)))
            #expect(records.map(\.execution) == [answer.execution] && records.first?.traceID == answer.traceID)
        }
    }

    @Test("an execution without its parameters, or about another family, is refused")
    func invalid() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let fault = try await scene.expectRefusal(.taskUnknown, 422) {
                try await scene.execute(.selectTone, ExecutionOptions())
            }
            #expect(fault.confirmation == nil)
            for (operation, field) in [
                (AIOperationID.summarizeExcuse, "text"), (.askCoach, "text"), (.patterns, "user_id"),
                (.coaching, "nag_id"),
            ] {
                let refused = try await refusal {
                    try await server.call(
                        API.execute, NoParameters(),
                        AIEnvelope(
                            ExecutionRequest(familyID: scene.home.id, operation: operation),
                            ExecutionOptions(taskType: .heuristic)), as: scene.home.guardian)
                }
                #expect(refused.code == .validationFailed && refused.field == field)
            }
            // A question to the coach may be longer than an excuse.
            let long = String(repeating: "x", count: 4_000)
            for (operation, text, limit) in [
                (AIOperationID.summarizeExcuse, String(long.prefix(2_001)), 2_000), (.askCoach, long + "x", 4_000),
            ] {
                let refused = try await refusal {
                    try await scene.execute(operation, text: text, ExecutionOptions(taskType: .heuristic))
                }
                #expect(refused.code == .validationFailed && refused.field == "text", "\(limit)")
            }
            let foreign = try await refusal {
                try await server.call(
                    API.execute, NoParameters(),
                    AIEnvelope(
                        ExecutionRequest(familyID: FamilyID(high: 9, low: 9), operation: .coaching, nagID: scene.nag),
                        ExecutionOptions(taskType: .heuristic)), as: scene.home.guardian)
            }
            #expect(foreign.code == .notFound)
            let record = try #require(try await scene.history().first)
            #expect(try await scene.history().count == 1)
            #expect(record.errorCode == "E-TASK-001" && record.operation == .operation(.selectTone))
            #expect(record.execution.route == nil && record.execution.rule == nil)
        }
    }

    @Test("a block refuses the words it names for everybody until it is deleted")
    func blocks() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let id = try await scene.constrain(.block(reason: "No buses"), [Self.words])
            let fault = try await scene.expectRefusal(.blocked, 403) { try await scene.summarize("The BUS was late") }
            #expect(fault.constraintID == id)
            let mediations = try await server.rows("SELECT 1 FROM ai_mediation_events")
            #expect(mediations.isEmpty)
            let record = try #require(try await scene.history(as: scene.home.child).first)
            #expect(record.errorCode == "E-POLICY-001" && record.execution.violationReason == "No buses")
            #expect(record.execution.rule == .policyBlock && record.execution.applied == [id])
            #expect(record.execution.route == nil && !record.execution.isFallbackAllowed)
            #expect(record.execution.evaluated == [id] && record.execution.confidence == nil)
            let entry = try #require(try await server.audit(scene.home.id).last)
            #expect(entry.kind == "ai_execution.refused" && entry.details["error_code"] == "E-POLICY-001")
            #expect(entry.details["constraint"] == id.description)
            _ = try await scene.summarize("I forgot")
            _ = try await scene.tone()
            try await server.call(API.deleteConstraint, ConstraintPath(constraintID: id), as: scene.home.guardian)
            _ = try await scene.summarize("The bus was late")
        }
    }

    @Test("an own constraint is its owner's alone, a disabled one nobody's, and a changed one holds at once")
    func whose() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let id = try await scene.constrain(.block(reason: "mine"), [Self.words], .own, as: scene.home.child)
            _ = try await scene.expectRefusal(.blocked, 403) { try await scene.summarize("bus") }
            _ = try await scene.summarize("bus", as: scene.home.guardian)
            try await server.change(id, ConstraintUpdate(isEnabled: false), as: scene.home.child)
            _ = try await scene.summarize("bus")
            try await server.change(id, ConstraintUpdate(isEnabled: true), as: scene.home.child)
            _ = try await scene.expectRefusal(.blocked, 403) { try await scene.summarize("bus") }
        }
    }

    @Test("a constraint made on one instance holds on another that has the family's constraints in memory")
    func instances() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let first = try await scene.constrain(.warn(message: "careful"))
            try await server.withPeers(1) { peers in
                let peer = try #require(peers.first)
                func ask() async throws -> ExecutionReport? {
                    try await peer.call(
                        API.summarizeExcuse, NoParameters(),
                        AIEnvelope(
                            ExcuseSummaryRequest(text: "bus", nagID: scene.nag), ExecutionOptions(taskType: .heuristic)),
                        as: scene.home.child
                    ).execution
                }
                #expect(try await ask()?.warnings == ["careful"])
                try await server.change(
                    first, ConstraintUpdate(action: .block(reason: "no")), as: scene.home.guardian)
                _ = try await scene.expectRefusal(.blocked, 403) { try await ask() }
                try await server.call(
                    API.deleteConstraint, ConstraintPath(constraintID: first), as: scene.home.guardian)
                #expect(try await ask()?.evaluated == [])
            }
        }
    }

    @Test("force_local keeps words on the device, but not questions about records")
    func forceLocal() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let id = try await scene.constrain(.forceLocal, [("privacy_level", "equals", "auto")])
            let warning = try await server.constraint(
                .about("Later", .family, 2, .warn(message: "Mind"), [("privacy_level", "equals", "auto")]),
                in: scene.home
            ).constraint.id
            let fault = try await scene.expectRefusal(.blocked, 403) { try await scene.summarize() }
            #expect(fault.constraintID == id)
            let tone = try await scene.tone(ExecutionOptions(taskType: .heuristic))
            #expect(tone.execution?.rule == .policyForceLocal && tone.execution?.applied == [id, warning])
            #expect(
                tone.execution?.reason
                    == "A constraint keeps the question from other companies: only the server's own records may answer it"
            )
        }
    }

    @Test(
        "in modes without the server an execution is refused",
        arguments: [
            ("off", nil as ExecutionCode?, 403), ("on_device_only", .localUnavailable, 503),
            ("apple_only", .localUnavailable, 503), ("local_only", .localUnavailable, 503),
            ("byo_only", .cloudNotConfigured, 409),
        ])
    func modes(_ mode: String, _ code: ExecutionCode?, _ status: Int) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await scene.prefer(#"{"ai_mode": "\#(mode)"}"#, scene.home.child)
            let refused = try await refusal { try await scene.summarize() }
            #expect(refused.status == status && refused.execution?.code == code?.rawValue ?? "AUTHZ_DENIED")
            #expect(code != nil || refused.reason == ErrorReason.switchedOff)
            _ = try await scene.summarize(as: scene.home.guardian)
        }
    }

    @Test("a task that no provider of the server can do is refused")
    func tasks() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            for task in [TaskType.retrieval, .hybridRetrieval] {
                _ = try await scene.expectRefusal(.taskUnavailable, 409) {
                    try await scene.execute(.digest, ExecutionOptions(taskType: task))
                }
            }
            for operation in [AIOperationID.patterns, .predictCompletion] {
                _ = try await scene.expectRefusal(.taskUnavailable, 409) {
                    try await scene.execute(operation, ExecutionOptions(taskType: .localModel))
                }
            }
            _ = try await scene.expectRefusal(.blocked, 403) {
                try await scene.execute(.digest, ExecutionOptions(taskType: .cloudModel))
            }
            _ = try await scene.expectRefusal(.localUnavailable, 503) {
                try await scene.execute(.digest, ExecutionOptions(taskType: .localModel, privacyLevel: .cloud))
            }
            for (mode, reason) in [("heuristic", "mode"), ("auto", "unavailable")] {
                try await scene.prefer(#"{"ai_mode": "\#(mode)"}"#, scene.home.guardian)
                let fallback = try await scene.execute(.digest, ExecutionOptions(taskType: .localModel)).execution
                #expect(fallback.usedFallback && fallback.fallbackReason == reason && fallback.confidence == 0.5)
                #expect(fallback.provider == "heuristic" && fallback.taskType == .localModel)
            }
            #expect(try await scene.history(ExecutionFilter(familyID: scene.home.id, result: .error)).count == 6)
        }
    }

    @Test("the preferred privacy level holds for questions without one")
    func privacy() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await scene.prefer(#"{"ai_privacy_level": "local"}"#, scene.home.child)
            _ = try await scene.expectRefusal(.localQuestion, 422) { try await scene.summarize() }
            let answer = try await scene.summarize("I forgot", ExecutionOptions(privacyLevel: .cloud))
            #expect(answer.execution?.privacyLevel == .cloud && answer.execution?.rule == .privacyCloud)
        }
    }
}

/// Who may do what in the group `executions`.
extension MatrixRow {
    static let executions: [MatrixRow] = [
        MatrixRow(API.execute, "about a nag", allowed: .readers) {
            (
                NoParameters(),
                AIEnvelope(
                    ExecutionRequest(familyID: $0.family.id, operation: .coaching, nagID: $0.nag),
                    ExecutionOptions(taskType: .heuristic))
            )
        },
        MatrixRow(API.execute, "about a member", allowed: .guardians.union([.child])) {
            (
                NoParameters(),
                AIEnvelope(
                    ExecutionRequest(
                        familyID: $0.family.id, operation: .patterns, userID: $0.family.child.id),
                    ExecutionOptions(taskType: .heuristic))
            )
        },
        MatrixRow(API.listExecutions, allowed: .members) {
            (ExecutionListQuery(ExecutionFilter(familyID: $0.family.id)), NoBody())
        },
        MatrixRow(API.listExecutions, "of a child", allowed: .guardians.union([.child])) {
            (ExecutionListQuery(ExecutionFilter(familyID: $0.family.id, userID: $0.family.child.id)), NoBody())
        },
        MatrixRow(API.exportExecutions, "of a child", allowed: .guardians.union([.child])) {
            (ExecutionFilter(familyID: $0.family.id, userID: $0.family.child.id), NoBody())
        },
        MatrixRow(API.getExecution, allowed: .guardians.union([.creator])) {
            (ExecutionPath(traceID: $0.trace), NoBody())
        },
        MatrixRow(API.deleteExecution, allowed: [.creator]) { (ExecutionPath(traceID: $0.trace), NoBody()) },
        MatrixRow(API.deleteExecutions, allowed: .members) {
            (
                ExecutionDeletionQuery(familyID: $0.family.id, before: ManualClock.start + .days(1)), NoBody()
            )
        },
        MatrixRow(API.beginAISession, allowed: .members) { (NoParameters(), AISessionCreate(familyID: $0.family.id)) },
        MatrixRow(API.endAISession, allowed: [.guardian]) { (NoParameters(), AISessionName(sessionID: $0.session)) },
        MatrixRow(API.declineConfirmation, allowed: [.guardian]) {
            (NoParameters(), ConfirmationReply(confirmation: $0.confirmation))
        },
    ]
}
