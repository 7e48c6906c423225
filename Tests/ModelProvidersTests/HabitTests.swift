import HTTPClient
import JSON
import NagzAI
import Reactor
import TestHTTPServer
import Testing

@testable import ModelProviders

@Suite("Providers' knowledge of their models' habits")
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

    @Test(
        "after a refused temperature the question is repeated without one, and later ones have none",
        arguments: [true, false])
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
        "a model that wants another token field gets it, with room to think; a second refusal serves the next question"
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

    @Test("after a model used its tokens for thinking, the next question has more, and this one is not repeated")
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
        "an answer is complete, cut or refused by each runtime's reason for ending",
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
        "a provider that asks to wait is not asked until then, and the wait is reported",
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
