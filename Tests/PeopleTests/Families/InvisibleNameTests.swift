import Contract
import Domain
import JSON
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Names with invisible characters")
struct InvisibleNameTests {
    private static func rename(_ server: TestServer, _ family: Household, _ name: String) async throws -> Reply {
        try await server.call(
            "PATCH", "/api/v1/families/\(family.id)", as: family.guardian, body: ["name": .string(name)])
    }

    @Test("a name with invisible characters is refused")
    func refused() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for name in [
                "An\u{200b}n", "Ann\u{200d}", "A\u{200d}nn", "An\u{200c}n", "\u{200e}Ann", "Ann\u{200f}", "\u{061c}Ann",
                "\u{202e}nnA", "Ann\u{2060}", "Ann\u{2066}", "\u{feff}Ann", "An\u{ad}n", "Ann\u{fe0f}", "Ann\u{e0041}",
                "Ann\u{e0100}", "Ann\u{3164}", "Ann\u{115f}", "Ann\u{fffa}", "\u{2800}", "👩\u{200d}", "👩\u{200d}A",
                "A\u{200d}👩",
            ] {
                let reply = try await Self.rename(server, family, name)
                let scalars = name.unicodeScalars.map { String($0.value, radix: 16) }
                #expect(reply.status == 422, "\(scalars)")
            }
        }
    }

    @Test(
        "a name with emoji sequences, flags, or scripts that join or select is accepted",
        arguments: [
            "👩‍👩‍👧‍👦 Team", "🏳️‍🌈", "👩🏽‍🚀", "❤️ Home", "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", "Zoë", "שרה",
            "محمد",
            "葛\u{e0100}城", "ശ്\u{200d}രീ", "क्\u{200c}ष",
        ])
    func kept(name: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let reply = try await Self.rename(server, family, name)
            #expect(reply.status == 200)
            #expect(reply.json?["name"]?.stringValue?.isEmpty == false)
        }
    }
}
