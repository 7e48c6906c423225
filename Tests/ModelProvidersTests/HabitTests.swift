import HTTPClient
import JSON
import NagzAI
import Reactor
import TestHTTPServer
import Testing

@testable import ModelProviders

@Suite("What providers learn of their models")
struct HabitTests {
    /// The fields of the questions that came, without the prompts.
    private static func fields(_ harness: ModelHarness) async throws -> [Set<String>] {
        try await harness.requests().filter { $0["method"] == "POST" }.map { request in
            Set(request["body"]?.objectValue?.members.map(\.key) ?? []).subtracting([
                "model", "messages", "stream", "system",
            ])
        }
    }

    private static let plain: Set<String> = ["temperature", "max_tokens"]

    @Test("a refused temperature is left out once more, and from then on", arguments: [true, false])
    func temperature(isAnthropic: Bool) async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { server in
            let harness = ModelHarness(server: server)
            try await ModelHarness.onLoop { poller in
                let provider = try harness.thirdParty(poller, "refuses-temperature", isAnthropic: isAnthropic)
                for _ in 0..<2 { #expect(await outcome(provider) == "Start with one small step.") }
            }
            #expect(try await Self.fields(harness) == [Self.plain, ["max_tokens"], ["max_tokens"]])
        }
    }

    @Test(
        "a model that wants another field for tokens gets it, with room to think; a second refusal serves the next question"
    )
    func reasoning() async throws {
        try await TestHTTPServer.with { server in
            let harness = ModelHarness(server: server)
            try await ModelHarness.onLoop { poller in
                let provider = try harness.gateway(poller, "refuses-max_tokens-temperature")
                #expect(await outcome(provider) == "\(ModelFault.failed(status: 400))")
                #expect(await outcome(provider) == "Start with one small step.")
            }
            let completion = "max_completion_tokens"
            #expect(try await Self.fields(harness) == [Self.plain, ["temperature", completion], [completion]])
            let last = try #require(try await harness.requests().last { $0["method"] == "POST" })
            #expect(last["body"]?[completion] == 2_208)
        }
    }

    @Test("a model whose tokens went into thinking gets more for the next question; this one is not repeated")
    func thinking() async throws {
        for isAnthropic in [true, false] {
            try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { server in
                let harness = ModelHarness(server: server)
                try await ModelHarness.onLoop { poller in
                    let provider = try harness.thirdParty(poller, "thinks", isAnthropic: isAnthropic)
                    #expect(await outcome(provider) == "tooLong")
                    #expect(await outcome(provider) == "Start with one small step.")
                }
                #expect(try await Self.fields(harness).count == 2)
            }
        }
    }

    @Test(
        "runtimes differ in how they say that an answer is complete",
        arguments: [
            ("reason-null", "half a sent"), ("reason-", "half a sent"), ("reason-eos", "half a sent"),
            ("reason-STOP", "half a sent"), ("parts", "Start with one small step."), ("declines", "refused"),
            ("reason-LENGTH", "tooLong"),
        ])
    func reasons(word: String, expected: String) async throws {
        try await TestHTTPServer.with { server in
            let harness = ModelHarness(server: server)
            let result = try await ModelHarness.onLoop { await outcome(try harness.gateway($0, word)) }
            #expect(result == expected)
        }
    }

    @Test(
        "a provider that asks to wait is left alone until then, and the wait is told",
        arguments: ["429", "529", "date"])
    func waiting(word: String) async throws {
        try await TestHTTPServer.with { server in
            let harness = ModelHarness(server: server)
            let seconds = word == "date" ? 40 : 17
            try await ModelHarness.onLoop { poller in
                let provider = try harness.gateway(poller, word)
                #expect(await outcome(provider) == "\(ModelFault.limited(seconds: seconds))")
                harness.clock.advance(.milliseconds(1_500))
                #expect(await outcome(provider) == "\(ModelFault.limited(seconds: seconds - 1))", "rounded up")
                #expect(await provider.availability() == .unavailable(.limited))
                harness.clock.advance(.milliseconds(seconds * 1_000 - 1_501))
                #expect(await provider.availability() == .unavailable(.limited))
                harness.clock.advance(.milliseconds(1))
                #expect(await outcome(provider) == "\(ModelFault.limited(seconds: seconds))")
            }
            #expect(try await harness.counts().first == 2)
        }
    }
}
