import HTTPClient
import JSON
import LoopbackClient
import NagzAI
import Reactor
import TestHTTPServer
import Testing

@testable import ModelProviders

@Suite("Model providers")
struct ProviderTests {
    /// What the words of the service become, with the questions that it got.
    private static let faults: [(String, ModelFault?, Int)] = [
        ("good", nil, 1), ("401", .keyRefused, 1), ("403", .keyRefused, 1), ("429", .limited(seconds: 17), 1),
        ("context", .tooLong, 1), ("413", .tooLong, 1), ("400", .failed(status: 400), 1),
        ("404", .failed(status: 404), 1),
        ("500", .failed(status: 500), 1), ("503", .failed(status: 503), 1), ("529", .limited(seconds: 17), 1),
        ("redirect", .failed(status: 307), 1),
        ("cut", .unreadable, 1), ("garbage", .unreadable, 1), ("huge", .unreadable, 1), ("empty", .unreadable, 1),
        ("nothing", .unreadable, 1), ("reason-odd", .unreadable, 1), ("list-latest", nil, 1),
        ("list-404", nil, 1), ("list-405", nil, 1), ("list-501", nil, 1), ("date", .limited(seconds: 40), 1),
        // Sent once more without what was refused.
        ("refuses-temperature", nil, 2),
        ("list-without", .unavailable(.unknownModel), 0), ("list-401", .unavailable(.keyRefused), 0),
        ("list-429", .unavailable(.limited), 0), ("list-500", .unavailable(.failed), 0),
        ("list-garbage", .unavailable(.failed), 0), ("list-cut", .unavailable(.failed), 0),
        ("list-redirect", .unavailable(.failed), 0), ("list-huge", .unavailable(.failed), 0),
    ]

    private static let reasons: [(openAI: String, anthropic: String, fault: ModelFault)] = [
        ("reason-length", "reason-max_tokens", .tooLong), ("reason-content_filter", "reason-refusal", .refused),
    ]

    @Test("each answer of a gateway gives its text or fault, and a question is sent at most once")
    func gateway() async throws {
        for (word, fault, questions) in Self.faults + Self.reasons.map({ ($0.openAI, $0.fault, 1) }) {
            try await TestHTTPServer.with { server in
                let harness = ModelHarness(server: server)
                let result = try await ModelHarness.onLoop { await outcome(try harness.gateway($0, word)) }
                #expect(result == fault.map { "\($0)" } ?? "Start with one small step.", "\(word)")
                #expect(try await harness.counts() == [questions, 1], "\(word)")
            }
        }
    }

    @Test("each answer of a third party over TLS gives its text or fault, in both protocols", arguments: [true, false])
    func thirdParty(isAnthropic: Bool) async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { server in
            let harness = ModelHarness(server: server)
            let reasons = Self.reasons.map { (isAnthropic ? $0.anthropic : $0.openAI, $0.fault as ModelFault?, 1) }
            var questions = 0
            for (word, fault, count) in Self.faults + reasons {
                let result = try await ModelHarness.onLoop {
                    await outcome(try harness.thirdParty($0, word, isAnthropic: isAnthropic))
                }
                #expect(result == fault.map { "\($0)" } ?? "Start with one small step.", "\(word)")
                questions += count
                #expect(try await harness.counts().first == questions, "\(word)")
            }
        }
    }

    @Test("a request has model, prompts, limits, key and trace, and nothing else")
    func wire() async throws {
        try await TestHTTPServer.with { server in
            let harness = ModelHarness(server: server)
            let result = try await ModelHarness.onLoop { poller in
                try await harness.gateway(poller, "good", key: "gateway key", tokens: .maxCompletionTokens)
                    .generate(ModelHarness.request)
            }
            #expect(result.provider == .serverGateway && result.model == ModelHarness.model && result.tokenCount == 42)
            let request = try #require(try await harness.requests().first { $0["method"] == "POST" })
            #expect(request["path"] == "/model/good/chat/completions")
            #expect(
                request["body"] == [
                    "model": "test-model", "temperature": 0.5, "max_completion_tokens": 160, "stream": false,
                    "messages": [
                        ["role": "system", "content": "Be kind."], ["role": "user", "content": "A tip: \"start\""],
                    ],
                ])
            let headers = try #require(request["headers"]?.objectValue)
            #expect(
                Set(headers.members.map(\.key)) == [
                    "host", "accept", "authorization", "content-type", "content-length", "traceparent",
                ])
            #expect(headers["authorization"] == "Bearer gateway key" && headers["content-type"] == "application/json")
            #expect(headers["traceparent"] == JSONValue.string(ModelHarness.trace))
        }
    }

    @Test("a request to Anthropic has its path, body and header fields")
    func anthropicWire() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { server in
            let harness = ModelHarness(server: server)
            let result = try await ModelHarness.onLoop { poller in
                try await harness.thirdParty(poller, "good", isAnthropic: true).generate(ModelHarness.request)
            }
            #expect(result.provider == .ownProvider && result.tokenCount == 42 && result.structuredFields == nil)
            let request = try #require(try await harness.requests().first { $0["method"] == "POST" })
            #expect(request["path"] == "/model/good/v1/messages")
            #expect(
                request["body"] == [
                    "model": "test-model", "max_tokens": 160, "system": "Be kind.", "temperature": 0.5,
                    "messages": [["role": "user", "content": "A tip: \"start\""]],
                ])
            let headers = try #require(request["headers"]?.objectValue)
            #expect(headers["x-api-key"] == "secret" && headers["anthropic-version"] == "2023-06-01")
            #expect(headers["authorization"] == nil && headers["traceparent"] == JSONValue.string(ModelHarness.trace))
        }
    }

    @Test("a structured answer has the schema's fields, or is refused")
    func structured() async throws {
        let schema = OutputSchema(
            name: "nag",
            fields: [.init("recipient", choices: ["the child"]), .init("category"), .init("description")])
        let written: JSONValue = [
            "type": "object", "required": ["recipient", "category", "description"], "additionalProperties": false,
            "properties": [
                "recipient": ["type": "string", "enum": ["the child"]], "category": ["type": "string"],
                "description": ["type": "string"],
            ],
        ]
        let formats: [SchemaStyle: JSONValue?] = [
            .jsonObject: ["type": "json_object", "schema": written], .none: nil,
            .jsonSchema: ["type": "json_schema", "json_schema": ["name": "nag", "strict": true, "schema": written]],
        ]
        let asked = ModelRequest(task: .intent, systemPrompt: "s", userPrompt: "u", schema: schema)
        try await TestHTTPServer.with { server in
            let harness = ModelHarness(server: server)
            for style in SchemaStyle.allCases {
                let result = try await ModelHarness.onLoop { poller in
                    try await harness.gateway(poller, "fields", style: style).generate(asked)
                }
                #expect(
                    result.structuredFields == ["recipient": "the child", "category": "chores", "description": "Bins"])
                let request = try #require(try await harness.requests().last { $0["method"] == "POST" })
                #expect(request["body"]?["response_format"] == formats[style] ?? nil, "\(style)")
            }
            for word in ["fields-role", "fields-number", "fields-choice", "fields-array", "good"] {
                let result = try await ModelHarness.onLoop { await outcome(try harness.gateway($0, word), asked) }
                #expect(result == "unreadable", "\(word)")
            }
        }
    }

    @Test("a request of more than 64 KB is not sent, and impossible token counts are ignored")
    func limits() async throws {
        try await TestHTTPServer.with { server in
            let harness = ModelHarness(server: server)
            var long = ModelHarness.request
            long.userPrompt = String(repeating: "a", count: 64 << 10)
            let asked = long
            let tooLong = try await ModelHarness.onLoop { await outcome(try harness.gateway($0, "good"), asked) }
            #expect(tooLong == "tooLong")
            let key = try await ModelHarness.onLoop { await outcome(try harness.gateway($0, "good", key: "a\r\nX: b")) }
            #expect(key == "\(ModelFault.unavailable(.notConfigured))", "a key with another header in it")
            #expect(try await harness.counts() == [0, 0])
            let stalled = ModelLimits.thirdParty.requestLimits(totalTimeout: .seconds(20)).stallTimeout
            #expect(stalled > .seconds(20), "a model is silent while it writes")
            let result = try await ModelHarness.onLoop { poller in
                try await harness.gateway(poller, "usage").generate(ModelHarness.request)
            }
            #expect(result.tokenCount == nil)
        }
    }

    @Test("a slow call ends at its limit and is not repeated, nor is one whose caller has gone")
    func slow() async throws {
        let (loopback, thirdParty) = (ModelLimits.loopback, ModelLimits.thirdParty)
        #expect(loopback.connectTimeout == .seconds(1) && loopback.questionTimeout == .seconds(8))
        #expect(thirdParty.connectTimeout == .seconds(3) && thirdParty.questionTimeout == .seconds(20))
        try await TestHTTPServer.with { server in
            let harness = ModelHarness(server: server)
            for word in ["slow", "list-slow"] {
                let result = try await ModelHarness.onLoop { poller in
                    let provider = try harness.gateway(poller, word)
                    if word == "slow" { _ = await provider.availability() }
                    provider.limits = ModelLimits(
                        connectTimeout: .seconds(300), questionTimeout: .milliseconds(300),
                        listTimeout: .milliseconds(300))
                    return await outcome(provider)
                }
                let late = word == "slow" ? ModelFault.timedOut : .unavailable(.timedOut)
                #expect(result == "\(late)")
            }
            #expect(try await harness.counts() == [1, 2])
            let cancelled = try await ModelHarness.onLoop { poller in
                let provider = LoopBound(value: try harness.gateway(poller, "slow"))
                let task = Task.immediate { await outcome(provider.value) }
                task.cancel()
                let result = await task.value
                return (result, await provider.value.availability())
            }
            #expect(cancelled.0 == "cancelled")
            #expect(cancelled.1 == .available, "the caller that went away says nothing of the provider")
        }
    }

    @Test("the system model is unavailable on other systems than Apple's")
    func foundationModels() async {
        #if !canImport(FoundationModels)
        let provider = FoundationModelsProvider()
        #expect(await provider.availability() == .unavailable(.unsupported))
        #expect(await outcome(provider) == "\(ModelFault.unavailable(.unsupported))")
        #expect(provider.name == .foundationModels && provider.reach == .device)
        #endif
    }

    @Test("an API key is not printed")
    func key() {
        var text = ""
        dump(ModelKey("sk-secret"), to: &text)
        #expect(!text.contains("secret") && !"\(ModelKey("sk-secret"))".contains("secret"))
    }
}
