import HTTPClient
import LoopbackClient
import NagzAI
import Reactor
import TestHTTPServer
import Testing

@testable import ModelProviders

@Suite("Availability of model providers")
struct AvailabilityTests {
    @Test("a provider's list of models is requested once in ten seconds")
    func list() async throws {
        try await TestHTTPServer.with { server in
            let harness = ModelHarness(server: server)
            try await ModelHarness.onLoop { poller in
                let provider = try harness.gateway(poller, "good")
                for _ in 0..<3 { #expect(await provider.availability() == .available) }
                #expect(await outcome(provider) == "Start with one small step.")
                harness.clock.advance(.milliseconds(9_999))
                #expect(await provider.availability() == .available)
            }
            #expect(try await harness.counts() == [1, 1])
            try await ModelHarness.onLoop { poller in
                let provider = try harness.gateway(poller, "good")
                _ = await provider.availability()
                harness.clock.advance(.seconds(10))
                _ = await provider.availability()
            }
            #expect(try await harness.counts() == [1, 3])
        }
    }

    @Test("a model that the service does not list is not asked")
    func unknownModel() async throws {
        try await TestHTTPServer.with { server in
            let harness = ModelHarness(server: server)
            let result = try await ModelHarness.onLoop { poller in
                await outcome(try harness.gateway(poller, "good", model: "test-model-2"))
            }
            #expect(result == "\(ModelFault.unavailable(.unknownModel))")
            #expect(try await harness.counts() == [0, 1])
        }
    }

    @Test(
        "after three faults in a minute a provider is not asked for 30 seconds",
        arguments: [("500", .failed(status: 500)), ("503", .failed(status: 503)), ("cut", .unreadable)]
            as [(String, ModelFault)])
    func paused(word: String, fault: ModelFault) async throws {
        try await TestHTTPServer.with { server in
            let harness = ModelHarness(server: server)
            try await ModelHarness.onLoop { poller in
                let provider = try harness.gateway(poller, word)
                for _ in 0..<3 { #expect(await outcome(provider) == "\(fault)") }
                for _ in 0..<3 { #expect(await outcome(provider) == "\(ModelFault.unavailable(.paused))") }
                harness.clock.advance(.milliseconds(29_999))
                #expect(await provider.availability() == .unavailable(.paused))
                harness.clock.advance(.milliseconds(1))
                #expect(await provider.availability() == .available)
            }
            #expect(try await harness.counts() == [3, 2])
        }
    }

    @Test(
        "refusals and rejected output do not count as faults of a provider",
        arguments: ["401", "404", "context", "reason-length", "garbage"])
    func refusals(word: String) async throws {
        try await TestHTTPServer.with { server in
            let harness = ModelHarness(server: server)
            try await ModelHarness.onLoop { poller in
                let provider = try harness.gateway(poller, word)
                for _ in 0..<5 { _ = await outcome(provider) }
                #expect(await provider.availability() == .available)
            }
            #expect(try await harness.counts() == [5, 1])
        }
    }

    @Test("a provider without a server is unreachable three times, and then not asked for a while")
    func unreachable() async throws {
        try await ModelHarness.onLoop { poller in
            let clock = TestClock()
            let url = try #require(LoopbackURL("http://127.0.0.1:1"))
            let provider = HTTPModelProvider.openAICompatible(
                .localGateway, .device, .localLite, at: .loopback(LoopbackClient(poller), url), model: "m",
                now: { clock.now() })
            provider.limits = .generous
            for reason in [UnavailabilityReason.unreachable, .unreachable, .unreachable, .paused] {
                #expect(await outcome(provider) == "\(ModelFault.unavailable(reason))")
                // The list of models is asked for again.
                clock.advance(.seconds(10))
            }
        }
    }

    @Test("the circuit breaker opens after three faults within a minute, for 30 seconds")
    func breaker() {
        let start = ContinuousClock.now
        var breaker = CircuitBreaker()
        for second in [0, 30, 60, 90, 120] {
            breaker.recordFault(at: start + .seconds(second))
            #expect(!breaker.isPaused(at: start + .seconds(second)), "never three within a minute")
        }
        breaker.recordFault(at: start + .seconds(149))
        #expect(breaker.isPaused(at: start + .seconds(149)))
        #expect(breaker.isPaused(at: start + .milliseconds(178_999)) && !breaker.isPaused(at: start + .seconds(179)))
        breaker.recordFault(at: start + .seconds(180))
        breaker.recordFault(at: start + .seconds(181))
        #expect(!breaker.isPaused(at: start + .seconds(181)), "what led to a pause does not count again")
    }

    @Test(
        "a third party is never called in the own network, whatever its URL says",
        arguments: [
            "127.0.0.1", "localhost", "[::1]", "10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "100.64.0.1",
            "[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::ffff:a9fe:a9fe]", "[fe80::1]", "[fd00::1]", "0.0.0.0", "0",
            "2130706433", "0x7f.1", "127.1",
        ])
    func ownNetwork(host: String) async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { server in
            let harness = ModelHarness(server: server)
            try await ModelHarness.onLoop { poller in
                let url = try #require(ThirdPartyURL(server.url(host: host) + "/model/good"))
                let client = HTTPClient(poller, networks: NetworkGuard(), authoritiesPath: server.authority)
                let provider = HTTPModelProvider.openAICompatible(
                    .ownProvider, .thirdParty, .thirdParty, at: .thirdParty(client, url), model: ModelHarness.model,
                    key: ModelKey("secret"))
                provider.limits = .generous
                #expect(await outcome(provider) == "\(ModelFault.unavailable(.unreachable))")
                _ = await #expect(throws: HTTPClientError.forbiddenAddress) {
                    _ = try await client.send(HTTPClientRequest("GET", url.text))
                }
            }
            #expect(try await harness.requests().isEmpty)
        }
    }

    @Test("a third party's URL is https with a host, without user, query or fragment")
    func urls() {
        #expect(ThirdPartyURL("https://api.example.com/v1/")?.text == "https://api.example.com/v1")
        #expect(ThirdPartyURL("https://api.example.com:8443")?.text == "https://api.example.com:8443")
        for text in [
            "", "https://", "https:///v1", "https://:80", "http://api.example.com", "HTTPS://api.example.com",
            "https://user@api.example.com", "https://api.example.com/?a", "https://api.example.com/#a",
            "https://api.example.com/a b", "https://api.example.com\\@x", "https://é.example", "file:///etc/passwd",
            "https://" + String(repeating: "a", count: 500),
        ] {
            #expect(ThirdPartyURL(text) == nil, "\(text)")
        }
    }
}
