import Domain
import Foundation
import HTTPClient
import LoopbackClient
import NagzAI
import Reactor
import Testing

@testable import ModelProviders

private func variable(_ name: String) -> String? { ProcessInfo.processInfo.environment["NAGZ_TEST_MODEL_\(name)"] }

/// With llama.cpp, and with litellm in front of it. Its models say one sentence each, see Tests/System/models.
@Suite(
    "Model providers with a real runtime",
    .enabled(if: variable("URL") != nil, "Tests/System/models starts the runtimes"))
struct RealRuntimeTests {
    /// The rules' tip of `facts` with a courtesy: what the check of a model's text lets through.
    private static let sentence = "What is the first thing to do for your chore? Please begin with that."

    /// llama.cpp as a gateway, over plain HTTP or over TLS with a key.
    private static func gateway(
        _ poller: Poller, _ model: String, key: String? = nil, isSecure: Bool = false, style: SchemaStyle = .jsonObject
    ) throws -> HTTPModelProvider {
        let url = try #require(variable(isSecure ? "TLS_URL" : "URL").flatMap(LoopbackURL.init))
        let authority: String = try #require(variable("AUTHORITY"))
        let client = LoopbackClient(poller, authoritiesPath: authority)
        let provider = HTTPModelProvider.openAICompatible(
            .serverGateway, .server, .localStandard, at: .loopback(client, url), model: model,
            key: key.map(ModelKey.init), schemaStyle: style)
        provider.limits = .generous
        return provider
    }

    /// litellm as a third party, in either protocol.
    private static func proxy(_ poller: Poller, path: String = "") throws -> (ModelEndpoint, ModelKey) {
        let networks = NetworkGuard(allowing: [try #require(NetworkBlock("127.0.0.1"))])
        let authority: String = try #require(variable("AUTHORITY"))
        let client = HTTPClient(poller, networks: networks, authoritiesPath: authority)
        let url = try #require(variable("PROXY_URL").flatMap { ThirdPartyURL($0 + path) })
        return (.thirdParty(client, url), ModelKey(try #require(variable("KEY"))))
    }

    private static func anthropic(_ poller: Poller, _ model: String) throws -> HTTPModelProvider {
        let (endpoint, key) = try proxy(poller)
        let provider = HTTPModelProvider.anthropic(at: endpoint, model: model, key: key)
        provider.limits = .generous
        return provider
    }

    private static func openAI(
        _ poller: Poller, _ model: String, _ health: ProviderHealth = ProviderHealth()
    ) throws -> HTTPModelProvider {
        let (endpoint, key) = try proxy(poller, path: "/v1")
        let provider = HTTPModelProvider.openAICompatible(
            .ownProvider, .thirdParty, .thirdParty, at: endpoint, model: model, key: key, schemaStyle: .none,
            health: health)
        provider.limits = .generous
        return provider
    }

    /// A tip about chores, three hours before they are due.
    private static func facts() throws -> PromptFacts {
        let now = Timestamp.epoch + .days(20_000)
        let nag = NagSnapshot(
            id: NagID(high: 1, low: 2), familyID: nil, recipientID: UserID(high: 3, low: 4), category: .chores,
            status: .open, dueAt: now + .hours(3), createdAt: now - .days(1))
        let snapshot = Snapshot(NagFacts(nag: nag), now: now, zone: UniversalTime())
        return .coaching(snapshot, Heuristics(phrasebook: try .english()), memberNames: ["Ben"])
    }

    /// The prompt for the tip.
    private static func request() throws -> ModelRequest {
        try PromptBook.english().request(for: facts(), contextTokens: 4_096, traceparent: ModelHarness.trace)
    }

    @Test("a real runtime answers in plain text")
    func plain() async throws {
        let request = try Self.request()
        let result = try await ModelHarness.onLoop { try await Self.gateway($0, "kind").generate(request) }
        #expect(result.text == Self.sentence && result.structuredFields == nil && result.provider == .serverGateway)
        #expect(try #require(result.tokenCount) > 10)
    }

    @Test("a real runtime answers over TLS with its key, and a wrong key is refused")
    func secure() async throws {
        let request = try Self.request()
        let text = try await ModelHarness.onLoop {
            await outcome(try Self.gateway($0, "kind", key: variable("KEY"), isSecure: true), request)
        }
        #expect(text == Self.sentence)
        for key in ["another key", nil] {
            let refused = try await ModelHarness.onLoop {
                await outcome(try Self.gateway($0, "kind", key: key, isSecure: true), request)
            }
            #expect(refused == "\(ModelFault.unavailable(.keyRefused))")
        }
    }

    @Test("a real runtime answers in the form of a schema, forced by its grammar")
    func structured() async throws {
        let schema = OutputSchema(name: "tip", fields: [.init("kind", choices: ["tip"]), .init("text")])
        let request = ModelRequest(
            task: .intent, systemPrompt: "Be kind.", userPrompt: "A tip, please.", schema: schema)
        let result = try await ModelHarness.onLoop { try await Self.gateway($0, "kind").generate(request) }
        #expect(result.structuredFields?["kind"] == "tip")
        #expect(result.structuredFields?["text"].map(trimmed) == Self.sentence)
        // Without a grammar the model says its sentence, which is no object.
        let plain = try await ModelHarness.onLoop { await outcome(try Self.gateway($0, "kind", style: .none), request) }
        #expect(plain == "unreadable")
    }

    @Test("an answer that a real runtime cuts is not used")
    func length() async throws {
        let request = try Self.request()
        #expect(try await ModelHarness.onLoop { await outcome(try Self.gateway($0, "long"), request) } == "tooLong")
    }

    @Test("a prompt that is longer than a real runtime reads is reported as too long")
    func context() async throws {
        var long = try Self.request()
        long.userPrompt = String(repeating: "word ", count: 2_000)
        let request = long
        #expect(try await ModelHarness.onLoop { await outcome(try Self.gateway($0, "kind"), request) } == "tooLong")
    }

    @Test("a model that a real runtime does not list is not asked, although it would answer")
    func unknownModel() async throws {
        let request = try Self.request()
        let unknown = try await ModelHarness.onLoop { await outcome(try Self.gateway($0, "gpt-x"), request) }
        #expect(unknown == "\(ModelFault.unavailable(.unknownModel))")
        let answered = try await ModelHarness.onLoop { poller in
            let url = try #require(variable("URL").flatMap(LoopbackURL.init))
            let body = OpenAIProtocol(schemaStyle: .none, tokensField: .maxTokens).body(
                request, model: "gpt-x", ModelHabits())
            return try await LoopbackClient(poller).send(
                "POST", url, "/chat/completions", headers: [("Content-Type", "application/json")], body: body)
        }
        #expect(answered.status == 200)
    }

    @Test(
        "the check lets a kind sentence through, and neither an insult nor an invented number",
        arguments: [("kind", nil), ("lazy", .disrespect), ("number", .number)] as [(String, OutputCheck.Refusal?)])
    func checked(model: String, refusal: OutputCheck.Refusal?) async throws {
        let request = try Self.request()
        let result = try await ModelHarness.onLoop { try await Self.gateway($0, model).generate(request) }
        let check = OutputCheck(prompts: try .english(), phrasebook: try .english())
        #expect(check.refusal(of: result.text, for: try Self.facts()) == refusal, "\(result.text)")
    }

    @Test("with Anthropic's protocol an answer is used, a cut one is not, and an unknown model is reported")
    func messages() async throws {
        let request = try Self.request()
        let result = try await ModelHarness.onLoop { try await Self.anthropic($0, "kind").generate(request) }
        #expect(result.text == Self.sentence && result.provider == .ownProvider)
        #expect(try #require(result.tokenCount) > 10)
        func text(_ model: String) async throws -> String {
            try await ModelHarness.onLoop { await outcome(try Self.anthropic($0, model), request) }
        }
        #expect(try await text("long") == "tooLong")
        #expect(try await text("lazy") == "\(ModelFault.unavailable(.unknownModel))")
    }

    @Test("a model that refuses a temperature is asked again without one, and from then on without")
    func temperature() async throws {
        let (request, health) = (try Self.request(), ProviderHealth())
        #expect(health.habits(of: "reasoning").takesTemperature)
        // Only a refusal teaches otherwise.
        for _ in 0..<2 {
            let text = try await ModelHarness.onLoop {
                await outcome(try Self.openAI($0, "reasoning", health), request)
            }
            #expect(text == Self.sentence)
            #expect(!health.habits(of: "reasoning").takesTemperature)
        }
    }

    @Test("a model whose listed name has the tag latest is the one without a tag")
    func tagged() async throws {
        let request = try Self.request()
        for name in ["tagged", "tagged:latest"] {
            let text = try await ModelHarness.onLoop { await outcome(try Self.gateway($0, name), request) }
            #expect(text == Self.sentence, "\(name)")
        }
    }

    @Test("a real service's rate limit is reported as limited")
    func limited() async throws {
        let request = try Self.request()
        func text() async throws -> String {
            try await ModelHarness.onLoop { await outcome(try Self.openAI($0, "limited"), request) }
        }
        #expect(try await text() == Self.sentence)
        let refused = try await text()
        #expect(refused.hasPrefix("limited("), "\(refused)")
    }
}
