import Contract
import Domain
import Foundation
import HTTPClient
import JSON
import LoopbackClient
import ModelProviders
import NagzAI
import Reactor
import TestHTTPServer
import Testing

@testable import Server

/// A family whose answers a model may write: the server's gateway, or the provider of the guardian's own key. Both are
/// one service of the test. The mode of the guardian and of the child is `auto`, and the family allows third parties.
struct ModelScene: Sendable {
    let ai: AIScene
    let service: TestHTTPServer

    /// The end of the service's texts. By default the service returns the text of the rules with this end.
    static let ending = " Thank you."
    /// Returns the service's summary of an excuse.
    static func summary(_ words: String) -> String { "The child says \(words)." }
    static let model = "test-model"
    static let gateway = ExecutionOptions(taskType: .localModel)
    static let ownKey = ExecutionOptions(taskType: .cloudModel)

    /// - Parameter word: the behaviour of the service, one of those in `models.py`.
    static func run(
        _ word: String = "good",
        limits: ModelLimits = ModelLimits(
            connectTimeout: .seconds(300), questionTimeout: .seconds(600), listTimeout: .seconds(300)),
        _ body: @Sendable (ModelScene) async throws -> Void
    ) async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { service in
            let url = try #require(LoopbackURL(service.url() + "/model/\(word)"))
            try await TestServer.run(configure: { configuration in
                configuration.models.gateway = .init(url: url, model: model)
                configuration.models.limits = limits
                configuration.callThirdParties(service)
            }) { server in
                let scene = ModelScene(ai: try await AIScene(server), service: service)
                let home = scene.ai.home
                for person in [home.guardian, home.child] { try await scene.ai.prefer(#"{"ai_mode": "auto"}"#, person) }
                try await scene.allowThirdParties(true)
                try await server.setPasswords()
                // An endpoint has at most 500 characters. With a longer word only the gateway is used.
                let endpoint = service.url() + "/model/\(word)"
                if endpoint.count <= 500 { try await server.setKey(.custom, endpoint: endpoint, as: home.guardian) }
                try await body(scene)
            }
        }
    }

    func allowThirdParties(_ isOn: Bool) async throws {
        let policies = try await ai.server.call(
            API.listPolicies, PolicyListQuery(familyID: ai.home.id), as: ai.home.guardian)
        let policy = try #require(policies.items.first)
        try await ai.server.change(policy.id, ["third_party_models": .bool(isOn)], as: ai.home.guardian)
    }

    /// Returns the questions that the service received, without the requests for its list of models.
    func questions() async throws -> [JSONValue] {
        let body = try await get("/requests")
        let requests = try #require(try JSONValue(parsing: body)["requests"]?.arrayValue)
        return requests.filter { $0["method"] == .string("POST") }
    }

    /// Waits until the service holds a question of this name.
    func waitForQuestion(_ name: String) async throws { _ = try await get("/model/arrived-\(name)/") }

    /// Lets the service answer the question of this name.
    func release(_ name: String) async throws { _ = try await get("/model/release-\(name)/") }

    private func get(_ path: String) async throws -> [UInt8] {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        let (address, authority) = (service.url(), service.authority)
        return try await loop.runTask { poller in
            let client = LoopbackClient(poller, authoritiesPath: authority)
            defer { client.close() }
            var limits = HTTPClientRequest.Limits()
            (limits.maxResponseBodyBytes, limits.totalTimeout, limits.stallTimeout) = (
                64 << 20, .seconds(600), .seconds(600)
            )
            return try await client.send("GET", try #require(LoopbackURL(address)), path, limits: limits).body
        }
    }

    /// Asks a question that the service holds, runs `body`, then lets the service answer, and returns the result of the
    /// question.
    func whileHeld<Answer: Sendable>(
        _ name: String, _ ask: @Sendable @escaping () async throws -> Answer, _ body: () async throws -> Void
    ) async throws -> Result<Answer, any Error> {
        async let answer: Result<Answer, any Error> = {
            do { return .success(try await ask()) } catch { return .failure(error) }
        }()
        try await waitForQuestion(name)
        do {
            try await body()
        } catch {
            try await release(name)
            throw error
        }
        try await release(name)
        return await answer
    }
}

extension String {
    /// The word that makes the service return this text.
    var said: String { "say-" + Data(utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_") }
}
