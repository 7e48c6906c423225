import Contract
import Domain
import LoopbackClient
import NagzAI
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The list of providers")
struct ProviderListTests {
    private static func providers(_ person: TestPerson, _ family: Household, _ server: TestServer) async throws
        -> [ModelProviderItem]
    {
        try await server.call(API.listModelProviders, FamilyQuery(familyID: family.id), as: person).items
    }

    @Test("without models the rules are active for everybody, third parties are off, and children may have none")
    func withoutModels() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPasswords()
            try await server.setKey(.anthropic, as: family.guardian)
            try await server.expectOnly {
                for (person, reasons) in [
                    (family.guardian, ["not_configured", "third_party_models_off", "not_configured"]),
                    (family.participant, ["not_configured", "not_configured", "not_configured"]),
                    (family.child, ["adults_only", "adults_only", "adults_only"]),
                ] {
                    let items = try await Self.providers(person, family, server)
                    #expect(items.map(\.name) == ["heuristic", "server_gateway", "openai", "anthropic", "custom"])
                    #expect(items.map(\.isActive) == [true, false, false, false, false])
                    #expect(items.map(\.isAvailable) == [true, false, false, false, false])
                    #expect(items.map(\.reason) == [nil, "not_configured"] + reasons)
                    #expect(items.map(\.reach) == [.device, .server, .thirdParty, .thirdParty, .thirdParty])
                    #expect(items.map(\.worksOffline) == [true, true, false, false, false])
                    #expect(items.map(\.contextTokens) == [nil, 4_096, 100_000, 100_000, 100_000])
                    // What no operation asks is not promised.
                    #expect(items.allSatisfy { $0.tasks == [.intentToAction, .rewrite, .summarize] })
                    #expect(items.map(\.checkAgeSeconds) == [nil, nil, nil, nil, nil])
                    #expect(items.map(\.supportsTools) == [false, false, true, true, true])
                    #expect(items.map(\.latencyMilliseconds) == [1, 1_500, 2_000, 2_000, 2_000])
                    #expect(items.allSatisfy { $0.supportsSchemas && !$0.isLatencyMeasured })
                }
            }
        }
    }

    @Test("no engine is active while the server's AI is off, or without the consent")
    func switchedOff() async throws {
        try await ModelScene.run { scene in
            let home = scene.ai.home
            for (preferences, isActive) in [
                (#"{"ai_server_enabled": false}"#, false), (#"{"ai_server_enabled": true, "ai_mode": "off"}"#, false),
                (#"{"ai_mode": "auto"}"#, true),
            ] {
                try await scene.ai.prefer(preferences, home.guardian)
                let items = try await Self.providers(home.guardian, home, scene.ai.server)
                #expect(items.contains { $0.isActive } == isActive, "\(preferences)")
                #expect(items[0].isAvailable && items[1].isAvailable)
            }
            try await scene.ai.server.sql("UPDATE consents SET revoked_at = now() WHERE consent_type = 'ai_mediation'")
            let items = try await Self.providers(home.guardian, home, scene.ai.server)
            #expect(!items.contains { $0.isActive })
        }
    }

    @Test("a key is available if the family allows third parties, and active in the modes that use it")
    func thirdParties() async throws {
        try await ModelScene.run { scene in
            let home = scene.ai.home
            for (mode, isActive) in [
                ("auto", [true, true, true]), ("byo_only", [false, false, true]), ("heuristic", [true, false, false]),
                ("on_device_only", [false, false, false]), ("local_only", [true, false, false]),
            ] {
                try await scene.ai.prefer(#"{"ai_mode": "\#(mode)"}"#, home.guardian)
                let items = try await Self.providers(home.guardian, home, scene.ai.server)
                #expect(items.map(\.reason) == [nil, nil, "not_configured", "not_configured", "not_checked"])
                #expect(items.map(\.isAvailable) == [true, true, false, false, false])
                #expect(items.map(\.model) == [nil, "test-model", nil, nil, "test-model"])
                #expect([items[0], items[1], items[4]].map(\.isActive) == isActive)
            }
            #expect(try await scene.ai.server.check(.custom, as: home.guardian).isAvailable)
            try await scene.ai.prefer(#"{"ai_mode": "auto"}"#, home.guardian)
            _ = try await scene.ai.tone(ModelScene.ownKey, as: home.guardian)
            let checked = try await Self.providers(home.guardian, home, scene.ai.server)[4]
            #expect(checked.isAvailable && checked.reason == nil && checked.isLatencyMeasured)
            #expect(checked.checkAgeSeconds.map { $0 < 600 } == true)
            try await scene.allowThirdParties(false)
            let items = try await Self.providers(home.guardian, home, scene.ai.server)
            #expect(items[4].reason == "third_party_models_off" && !items[4].isActive)
            let own = try await Self.providers(home.child, home, scene.ai.server)
            #expect(own.map(\.isActive) == [true, true, false, false, false])
        }
    }

    @Test(
        "the server's gateway is available while it lists the model",
        arguments: [("good", nil), ("list-without", "unknown_model"), ("list-401", "key_refused")]
            as [(String, String?)])
    func gateway(word: String, reason: String?) async throws {
        try await TestHTTPServer.with { models in
            let url = try #require(LoopbackURL(models.url() + "/model/\(word)"))
            try await TestServer.run(configure: { $0.models.gateway = .init(url: url, model: "test-model") }) {
                server in
                let family = try await server.family()
                for person in [family.guardian, family.child] {
                    let gateway = try await Self.providers(person, family, server)[1]
                    #expect(gateway.isAvailable == (reason == nil) && gateway.reason == reason && !gateway.isActive)
                }
            }
        }
    }
}
