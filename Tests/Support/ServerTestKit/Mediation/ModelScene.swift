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

/// A family whose questions a model may word: the server's gateway, and the guardian's own key. Both are a service that
/// the test owns. Everybody's mode is `auto`, and the family allows third parties.
struct ModelScene: Sendable {
    let ai: AIScene
    let service: TestHTTPServer

    /// How the service's texts end, unless it is told otherwise: it says the rules' text, and thanks.
    static let ending = " Thank you."
    /// What it says of an excuse.
    static func summary(_ words: String) -> String { "The child says \(words)." }
    static let model = "test-model"
    static let gateway = ExecutionOptions(taskType: .localModel)
    static let ownKey = ExecutionOptions(taskType: .cloudModel)

    /// - Parameter word: how the service answers, as `models.py` says.
    static func run(
        _ word: String = "good",
        limits: ModelLimits = ModelLimits(connecting: .seconds(300), whole: .seconds(600), list: .seconds(300)),
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
                // An endpoint has at most 500 characters; what takes a longer word is the gateway's matter.
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

    /// The questions that came to the service; what it lists is not asked with anybody's words.
    func questions() async throws -> [JSONValue] {
        let body = try await get("/requests")
        let requests = try #require(try JSONValue(parsing: body)["requests"]?.arrayValue)
        return requests.filter { $0["method"] == .string("POST") }
    }

    /// Waits until a question is there that the service holds.
    func waitForQuestion(_ name: String) async throws { _ = try await get("/model/arrived-\(name)/") }

    /// Lets the service answer what it holds.
    func release(_ name: String) async throws { _ = try await get("/model/release-\(name)/") }

    private func get(_ path: String) async throws -> [UInt8] {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        let (address, authority) = (service.url(), service.authority)
        return try await loop.task { poller in
            let client = LoopbackClient(poller, authorities: authority)
            defer { client.close() }
            var limits = HTTPClientRequest.Limits()
            (limits.body, limits.totalTimeout, limits.stallTimeout) = (64 << 20, .seconds(600), .seconds(600))
            return try await client.send("GET", try #require(LoopbackURL(address)), path, limits: limits).body
        }
    }

    /// Asks while the service holds the question, and does something before it is answered.
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
    /// The word by which the service says this.
    var said: String { "say-" + Data(utf8).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_") }
}
