import Contract
import Domain
import JSON
import NagzAI
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Choice of the model that answers")
struct ModelChoiceTests {
    @Test("under byo_only with a key that provider words every plain call, and figures are refused")
    func ownProviderAlone() async throws {
        try await ModelScene.run { scene in
            let guardian = scene.ai.home.guardian
            try await scene.ai.prefer(#"{"ai_mode": "byo_only"}"#, guardian)
            var asked = 0
            for request in MediatedCall.allCases {
                let reply = try await request.send(scene.ai, as: guardian)
                if request == .patterns || request == .predictCompletion {
                    #expect(reply.status == 409 && reply.json?["error"]?["details"]?["error_code"] == "E-TASK-002")
                    continue
                }
                asked += 1
                let execution = reply.json?["execution"]
                #expect(execution?["provider"] == "byo" && execution?["model"] == "test-model", "\(request) \(reply)")
                #expect(execution?["used_fallback"] == false && execution?["task_type"] == "cloud_llm")
            }
            let questions = try await scene.questions()
            #expect(questions.count == asked && asked == 6)
            for question in questions {
                #expect(question["headers"]?["authorization"]?.stringValue == "Bearer \(TestServer.secret)")
            }
        }
    }

    @Test("under byo_only neither the rules nor the gateway answer, whatever a client says")
    func ownProviderWhateverIsSaid() async throws {
        try await ModelScene.run { scene in
            let guardian = scene.ai.home.guardian
            try await scene.ai.prefer(#"{"ai_mode": "byo_only"}"#, guardian)
            for task in [TaskType.heuristic, .localModel] {
                _ = try await scene.ai.expectRefusal(.taskUnavailable, 409) {
                    try await scene.ai.tone(ExecutionOptions(taskType: task), as: guardian)
                }
            }
            #expect(try await scene.questions().isEmpty)
            #expect(try await scene.ai.server.rows("SELECT 1 FROM ai_mediation_events").isEmpty)
        }
    }

    @Test(
        "under byo_only a failing provider gives its error code, and the rules never answer",
        arguments: [
            ("503", .cloudUnavailable, 503), ("401", .cloudKeyRefused, 409), ("429", .cloudLimited, 429),
            ("You are lazy.".said, .cloudOutputRefused, 502),
        ] as [(String, ExecutionCode, Int)])
    func ownProviderFails(_ word: String, _ code: ExecutionCode, _ status: Int) async throws {
        try await ModelScene.run(word) { scene in
            let guardian = scene.ai.home.guardian
            try await scene.ai.prefer(#"{"ai_mode": "byo_only"}"#, guardian)
            _ = try await scene.ai.expectRefusal(code, status) { try await scene.ai.tone(as: guardian) }
            #expect(try await scene.ai.server.rows("SELECT 1 FROM ai_mediation_events").isEmpty)
        }
    }

    @Test("a third party that failed several times gives E-NET-001, or the rules answer and say so")
    func degraded() async throws {
        try await ModelScene.run("503") { scene in
            let guardian = scene.ai.home.guardian
            for _ in 0..<3 { _ = try await scene.ai.tone(ModelScene.ownKey, as: guardian) }
            let asked = try await scene.questions().count
            var forced = ModelScene.ownKey
            forced.privacyLevel = .cloud
            let options = forced
            _ = try await scene.ai.expectRefusal(.networkUnavailable, 503) {
                try await scene.ai.tone(options, as: guardian)
            }
            let report = try #require(try await scene.ai.tone(ModelScene.ownKey, as: guardian).execution)
            #expect(report.rule == .networkUnavailable && report.provider == "heuristic" && report.usedFallback)
            #expect(report.fallbackReason == "unavailable")
            try await scene.ai.prefer(#"{"ai_mode": "byo_only"}"#, guardian)
            _ = try await scene.ai.expectRefusal(.networkUnavailable, 503) { try await scene.ai.tone(as: guardian) }
            let items = try await scene.ai.server.call(
                API.listModelProviders, FamilyQuery(familyID: scene.ai.home.id), as: guardian
            ).items
            #expect(items.last?.reason == "paused" && items.last?.isAvailable == false)
            #expect(try await scene.questions().count == asked, "it is left alone")
        }
    }

    @Test("byo_only without a key, or without the family's permission for third parties, is refused")
    func ownProviderMissing() async throws {
        try await ModelScene.run { scene in
            let (server, guardian) = (scene.ai.server, scene.ai.home.guardian)
            try await scene.ai.prefer(#"{"ai_mode": "byo_only"}"#, guardian)
            try await scene.allowThirdParties(false)
            _ = try await scene.ai.expectRefusal(.blocked, 403) { try await scene.ai.tone(as: guardian) }
            try await scene.allowThirdParties(true)
            _ = try await server.call(API.deleteAIKey, AIKeyPath(provider: .custom), as: guardian)
            for request in MediatedCall.allCases {
                let reply = try await request.send(scene.ai, as: guardian)
                #expect(reply.status == 409 && reply.json?["error"]?["details"]?["error_code"] == "E-CLOUD-001")
            }
            #expect(try await scene.questions().isEmpty)
        }
    }

    @Test("of two keys the preferred one is used, and without a preference none is, with a warning")
    func twoKeys() async throws {
        try await ModelScene.run { scene in
            let (server, guardian) = (scene.ai.server, scene.ai.home.guardian)
            try await server.insertKey(
                .anthropic, model: "other-model", endpoint: scene.service.url() + "/model/other", of: guardian)
            func tone(_ model: String? = nil) async throws -> ExecutionReport? {
                try await scene.ai.tone(ExecutionOptions(taskType: .cloudModel, model: model), as: guardian).execution
            }
            let undecided = try #require(try await tone())
            #expect(undecided.provider == "heuristic" && undecided.fallbackReason == "unavailable")
            #expect(undecided.warnings.first?.contains("anthropic/other-model, custom/test-model") == true)
            #expect(try await scene.questions().isEmpty)
            try await scene.ai.prefer(#"{"ai_mode": "byo_only"}"#, guardian)
            _ = try await scene.ai.expectRefusal(.cloudNotConfigured, 409) { try await scene.ai.tone(as: guardian) }

            try await scene.ai.prefer(#"{"ai_mode": "auto", "ai_model_cloud": "custom"}"#, guardian)
            #expect(try await tone()?.model == "test-model")
            #expect(try await tone("test-model")?.model == "test-model")
            #expect(try await tone("nobody's")?.warnings.first?.contains("nobody's") == true)
            #expect(try await scene.questions().count == 2)
            _ = try await server.call(API.deleteAIKey, AIKeyPath(provider: .custom), as: guardian)
            let removed = try #require(try await tone())
            #expect(removed.provider == "heuristic" && removed.warnings.first?.contains("no key any more") == true)
            #expect(try await scene.questions().count == 2, "another model is never asked in its place")
        }
    }

    @Test("a preferred model that the person does not have is 422 with the list, and a stored one is kept")
    func unknown() async throws {
        try await ModelScene.run { scene in
            let (server, home) = (scene.ai.server, scene.ai.home)
            func choose(_ name: String, _ value: JSONValue, as person: TestPerson) async throws -> Reply {
                try await server.call(
                    "PATCH", "/api/v1/preferences?family_id=\(home.id)", as: person,
                    body: ["prefs_json": .object([name: value])])
            }
            for (name, value, list) in [
                ("ai_model_cloud", "gpt", "must be the model of a stored key: custom/test-model."),
                ("ai_model_local", "llama", "must be one of foundation_models, local_model, test-model"),
            ] {
                let reply = try await choose(name, .string(value), as: home.guardian)
                let error = reply.json?["error"]
                #expect(reply.status == 422 && error?["details"]?["field"] == .string("prefs_json.\(name)"))
                #expect(error?["message"]?.stringValue?.contains(list) == true, "\(reply)")
            }
            for value in ["test-model", "custom", "custom/test-model"] {
                #expect(try await choose("ai_model_cloud", .string(value), as: home.guardian).status == 200)
            }
            for value in ["foundation_models", "local_model", "test-model"] {
                #expect(try await choose("ai_model_local", .string(value), as: home.child).status == 200)
            }
            #expect(try await choose("ai_model_cloud", "test-model", as: home.child).status == 422, "another's key")
            _ = try await server.call(API.deleteAIKey, AIKeyPath(provider: .custom), as: home.guardian)
            #expect(try await choose("ai_model_cloud", "custom/test-model", as: home.guardian).status == 200)
            #expect(try await choose("ai_model_cloud", "custom", as: home.guardian).status == 422)
            #expect(try await choose("ai_model_cloud", .null, as: home.guardian).status == 200)
        }
    }

    @Test("a chosen model that the gateway no longer has gives a warning, and no other is asked")
    func removedGatewayModel() async throws {
        try await ModelScene.run { scene in
            try await scene.ai.prefer(#"{"ai_mode": "auto", "ai_model_local": "older-model"}"#, scene.ai.home.child)
            let report = try #require(try await scene.ai.tone(ModelScene.gateway).execution)
            #expect(report.provider == "heuristic" && report.fallbackReason == "unavailable")
            #expect(report.warnings.first?.contains("older-model") == true)
            #expect(try await scene.questions().isEmpty)
            try await scene.ai.prefer(#"{"ai_mode": "auto", "ai_model_local": "local_model"}"#, scene.ai.home.child)
            #expect(try await scene.ai.tone(ModelScene.gateway).execution?.provider == "server_gateway")
        }
    }

    @Test("under byo_only a draft's words are read by the own provider")
    func draft() async throws {
        try await ModelScene.run("503") { scene in
            let guardian = scene.ai.home.guardian
            try await scene.ai.prefer(#"{"ai_mode": "byo_only"}"#, guardian)
            let order: JSONValue = [
                "family_id": .string(scene.ai.home.id.description), "kind": "suggested_nag",
                "text": "Tell Kid to do the dishes tomorrow",
            ]
            let reply = try await scene.ai.server.call("POST", "/api/v1/ai/drafts", as: guardian, body: order)
            #expect(reply.json?["error"]?["details"]?["error_code"] == "E-CLOUD-002", "\(reply)")
            #expect(try await scene.questions().count == 1)
        }
    }
}
