import Contract
import Domain
import JSON
import ModelProviders
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Answers that a model words")
struct ModelAnswerTests {
    @Test("the model's words are in answer, history, feed and audit log, with who wrote them")
    func gateway() async throws {
        try await ModelScene.run { scene in
            let trace = TraceID(high: 7, low: 7)
            var options = ModelScene.gateway
            options.traceID = trace
            let answer = try await scene.ai.server.expectOnly(audit: ["ai.select_tone"], mediations: ["select_tone"]) {
                try await scene.ai.tone(options)
            }
            #expect(answer.response.reason.hasSuffix(ModelScene.ending))
            let report = try #require(answer.execution)
            #expect(report.provider == "server_gateway" && report.model == ModelScene.model && report.route == .cloud)
            #expect(!report.usedFallback && report.fallbackReason == "none" && report.confidence == 0.8)
            let record = try #require(try await scene.ai.history().first)
            #expect(record.execution == report && record.traceID == trace)
            let entry = try #require(try await scene.ai.server.audit(scene.ai.home.id).last)
            #expect(entry.details["provider"] == "server_gateway" && entry.details["model"] == ModelScene.model)
            #expect(entry.details["asked_reach"] == "server" && entry.details["asked_model"] == ModelScene.model)
            #expect(entry.details["content_length"] == "\(answer.response.reason.utf8.count)")
            let rows = try await scene.ai.server.rows("SELECT summary FROM ai_mediation_events")
            #expect(rows.count == 1 && rows[0]["summary"]?.stringValue == answer.response.reason)
            let questions = try await scene.questions()
            #expect(questions.count == 1)
            let header = questions.first?["headers"]?["traceparent"]?.stringValue ?? ""
            #expect(header.hasPrefix("00-00000000000000070000000000000007-") && header.hasSuffix("-01"))
        }
    }

    @Test("gateway and own key word every operation with a text, and operations of figures are refused")
    func operations() async throws {
        try await ModelScene.run { scene in
            var expected = 0
            for options in [ModelScene.gateway, ModelScene.ownKey] {
                for operation in AIOperationID.allCases {
                    let text =
                        operation == .summarizeExcuse
                        ? "the bus was late" : operation == .askCoach ? "what is due" : nil
                    func ask() async throws -> ExecutionAnswer {
                        try await scene.ai.execute(operation, text: text, options)
                    }
                    if operation == .patterns || operation == .predictCompletion {
                        _ = try await scene.ai.expectRefusal(.taskUnavailable, 409, ask)
                        continue
                    }
                    scene.ai.server.clock.advance(by: .hours(2))
                    let answer = try await ask()
                    let isExcuse = operation == .summarizeExcuse
                    let ending = isExcuse ? ModelScene.summary("the bus was late") : ModelScene.ending
                    #expect(answer.response.content.hasSuffix(ending) && answer.response.model == ModelScene.model)
                    let provider = options.taskType == .cloudModel ? "byo" : "server_gateway"
                    #expect(answer.execution.provider == provider && !answer.execution.usedFallback)
                    expected += 1
                }
            }
            #expect(try await scene.questions().count == expected && expected == 12)
            let used = try await scene.ai.server.keys(of: scene.ai.home.guardian).first?.lastUsedAt
            #expect(used != nil)
        }
    }

    @Test("a model receives no name and no identifier, and only an excuse's words, which nothing else keeps")
    func words() async throws {
        try await ModelScene.run { scene in
            let (server, home) = (scene.ai.server, scene.ai.home)
            _ = try await scene.ai.summarize("zanzibar", ModelScene.gateway)
            _ = try await scene.ai.execute(.digest, ModelScene.ownKey)
            let questions = try await scene.questions()
            let bodies = questions.map { "\($0["body"] ?? .null)" }
            #expect(bodies.map { $0.contains("zanzibar") } == [true, false])
            for word in [home.id.description, home.child.id.description, scene.ai.nag.description] {
                #expect(!bodies.joined().contains(word))
            }
            for row in try await server.rows("SELECT display_name FROM users WHERE display_name IS NOT NULL") {
                let name = try #require(row["display_name"]?.stringValue)
                #expect(!bodies.joined().contains(name), "\(name)")
            }
            #expect(
                questions.map { $0["headers"]?["authorization"]?.stringValue } == [nil, "Bearer \(TestServer.secret)"])
            for table in ["ai_executions", "ai_mediation_events", "ai_confirmations", "audit_payload", "audit_entry"] {
                let found = try await server.rows(
                    """
                    SELECT 1 FROM \(SQL(unsafeSQL: table)) t WHERE t::text ILIKE '%zanzibar%' OR t::text LIKE '%sk-canary%'
                    """)
                #expect(found.isEmpty, "\(table)")
            }
        }
    }

    @Test(
        "when a model fails the rules answer with the reason, or it is refused if only the model may answer",
        arguments: [
            ("503", "error", .localFailed), ("401", "error", .localFailed), ("429", "error", .localFailed),
            ("garbage", "error", .localFailed), ("cut", "error", .localFailed), ("empty", "error", .localFailed),
            ("reason-length", "error", .localTooLong), ("reason-content_filter", "error", .localFailed),
            ("list-without", "unavailable", .localUnavailable), ("list-503", "unavailable", .localUnavailable),
            ("You are lazy.".said, "output_rejected:disrespect", .localFailed),
            ("You have 41 misses.".said, "output_rejected:number", .localFailed),
            ("Ask Zacharias now.".said, "output_rejected:name", .localFailed),
            (String(repeating: "word ", count: 58).said, "output_rejected:length", .localFailed),
        ] as [(String, String, ExecutionCode)])
    func failures(_ word: String, _ reason: String, _ code: ExecutionCode) async throws {
        try await ModelScene.run(word) { scene in
            let rules = try await scene.ai.tone()
            let answer = try await scene.ai.tone(ModelScene.gateway)
            #expect(answer.response == rules.response)
            let report = try #require(answer.execution)
            #expect(report.provider == "heuristic" && report.model == nil && report.confidence == 0.5)
            #expect(report.usedFallback && report.fallbackReason == reason && !report.isFallbackAllowed)
            let asked = try await scene.questions().count
            #expect(asked == (word.hasPrefix("list-") ? 0 : 1))
            // Whether it was asked or not: who it was, how far its words went, and why the rules answered.
            #expect(report.asked == (asked == 0 ? nil : AskedModel(.serverGateway, ModelScene.model, .server)))
            let entry = try #require(try await scene.ai.server.audit(scene.ai.home.id).last)
            #expect(entry.details["fallback_reason"] == reason && entry.details["task_type"] == "local_llm")
            #expect(entry.details["asked_model"] == (asked == 0 ? nil : ModelScene.model))
            #expect(entry.details["asked_provider"] == (asked == 0 ? nil : "server_gateway"))
            #expect(entry.details["asked_reach"] == (asked == 0 ? nil : "server"))
            var options = ModelScene.gateway
            options.privacyLevel = .cloud
            _ = try await scene.ai.expectRefusal(
                code, code == .localUnavailable ? 503 : code == .localTooLong ? 422 : 502
            ) {
                try await scene.ai.tone(options)
            }
            // A provider that asks to wait is not called again before.
            #expect(try await scene.questions().count == (word == "429" ? 1 : 2 * asked))
            let record = try #require(try await scene.ai.history().first { $0.errorCode != nil })
            #expect(record.errorCode == code.rawValue && record.execution.provider == "server_gateway")
        }
    }

    @Test("when a model takes too long, the rules answer")
    func slow() async throws {
        let limits = ModelLimits(
            connectTimeout: .seconds(300), questionTimeout: .milliseconds(300), listTimeout: .seconds(300))
        try await ModelScene.run("slow", limits: limits) { scene in
            let report = try #require(try await scene.ai.tone(ModelScene.gateway).execution)
            #expect(report.usedFallback && ["latency_budget", "unavailable"].contains(report.fallbackReason))
        }
    }

    @Test(
        "each failure of a third party has its error code",
        arguments: [
            ("401", .cloudKeyRefused, 409), ("429", .cloudLimited, 429), ("503", .cloudUnavailable, 503),
            ("reason-length", .cloudTooLong, 422), ("reason-content_filter", .cloudOutputRefused, 502),
        ] as [(String, ExecutionCode, Int)])
    func thirdParty(_ word: String, _ code: ExecutionCode, _ status: Int) async throws {
        try await ModelScene.run(word) { scene in
            var options = ModelScene.ownKey
            options.privacyLevel = .cloud
            _ = try await scene.ai.expectRefusal(code, status) {
                try await scene.ai.tone(options, as: scene.ai.home.guardian)
            }
            #expect(try await scene.questions().count == 1)
        }
    }

    @Test("after three faults in a minute a third party is not asked by further questions")
    func breaker() async throws {
        try await ModelScene.run("503") { scene in
            for number in 1...5 {
                let report = try await scene.ai.tone(ModelScene.ownKey, as: scene.ai.home.guardian).execution
                #expect(report?.usedFallback == true)
                #expect(try await scene.questions().count == min(number, 3))
            }
        }
    }

    @Test("a question that a model was asked is recorded also if its draft is over the daily limit")
    func draftOverLimit() async throws {
        try await ModelScene.run { scene in
            let (server, guardian) = (scene.ai.server, scene.ai.home.guardian)
            try await server.sql(
                """
                INSERT INTO daily_counts (user_id, act, day_started, count)
                VALUES (\(guardian.id), \(DailyLimit.draftSteps.rawValue), \(server.clock.now()),
                        \(DailyLimit.draftSteps.perDay))
                """)
            try await server.expectOnly(audit: ["ai_execution.refused"]) {
                try await expectRefusal(429) {
                    try await server.call(
                        API.evaluatePushBack, NoParameters(),
                        AIEnvelope(PushBackRequest(nagID: scene.ai.nag, wantsDraft: true), ModelScene.gateway),
                        as: guardian)
                }
            }
            #expect(try await scene.questions().count == 1)
            let record = try #require(try await scene.ai.history().first)
            #expect(record.errorCode == "RATE_LIMITED" && record.operation == .operation(.pushBack))
        }
    }

    @Test("a repeated execution names the trace under which the first one is recorded")
    func repeatedExecution() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            var answers: [ExecutionAnswer] = []
            for _ in 0..<2 {
                answers.append(
                    try await server.call(
                        API.execute, NoParameters(),
                        AIEnvelope(
                            ExecutionRequest(familyID: scene.home.id, operation: .selectTone, nagID: scene.nag),
                            ExecutionOptions(taskType: .heuristic)), as: scene.home.child,
                        headers: ["Idempotency-Key": "one"]))
            }
            #expect(answers[0] == answers[1])
            #expect(try await scene.history().map(\.traceID) == [answers[1].traceID])
        }
    }

    @Test("the same request twice asks a model once, and both get the first answer")
    func idempotent() async throws {
        try await ModelScene.run { scene in
            var answers: [AIAnswer<ToneSelectResponse>] = []
            for _ in 0..<2 {
                answers.append(
                    try await scene.ai.server.call(
                        API.selectTone, NoParameters(),
                        AIEnvelope(ToneSelectRequest(nagID: scene.ai.nag), ModelScene.gateway), as: scene.ai.home.child,
                        headers: ["Idempotency-Key": "one"]))
            }
            #expect(answers[0] == answers[1])
            #expect(try await scene.questions().count == 1)
        }
    }
}
