import Contract
import Domain
import JSON
import Testing

@testable import Seeds
@testable import Server
@testable import ServerTestKit

@Suite("The personas of the mobile client's development build")
struct PersonaSeedTests {
    private static func seed(_ server: TestServer) async throws -> Bool {
        try await PersonaSeed.run(databaseURL: server.database.url, clock: server.clock, cost: .testing)
    }

    private static func token(_ letter: Character) -> String {
        let id = [8, 4, 4, 4, 12].map { String(repeating: letter, count: $0) }.joined(separator: "-")
        return "dev:\(id)"
    }

    @Test("the persona seed makes five fixed people of one family with working tokens, once")
    func people() async throws {
        try await TestServer.run(
            configure: { $0.acceptsDevelopmentTokens = true },
            { server in
                #expect(try await Self.seed(server))
                let isNewAgain = try await server.expectOnly { try await Self.seed(server) }
                #expect(!isNewAgain)

                let path = "/api/v1/families/93803dda-64e6-491c-b460-02ab3b72c465"
                let list = try await server.call("GET", path + "/members", token: Self.token("c"))
                let members = try #require(list.json?["items"]?.arrayValue)
                let described = members.map { member in
                    "\(member["display_name"]?.stringValue ?? "") \(member["role"]?.stringValue ?? "")"
                }
                #expect(
                    described.sorted() == [
                        "Andrew guardian", "George child", "Katherine guardian", "Teddy child", "Will child",
                    ])
                for letter in "abcde" {
                    for read in [path, "/api/v1/gamification/summary?family_id=\(PersonaSeed.family)"] {
                        #expect(
                            try await server.call("GET", read, token: Self.token(letter)).status == 200, "\(letter)")
                    }
                }
                for guardian in "ab" {
                    let nag = try await server.call(
                        "POST", "/api/v1/nags", token: Self.token(guardian),
                        body: [
                            "recipient_id": "dddddddd-dddd-dddd-dddd-dddddddddddd", "category": "chores",
                            "done_definition": "binary_check",
                            "due_at": .string((server.clock.now() + .hours(1)).rfc3339),
                        ])
                    #expect(nag.status == 201)
                    let id = nag.json?["id"]?.stringValue ?? ""
                    let done = try await server.call(
                        "POST", "/api/v1/nags/\(id)/status", token: Self.token("d"), body: ["status": "completed"])
                    #expect(done.status == 200)
                }
            })
    }

    @Test("the persona seed refuses a database with real people and accepts the demo's")
    func realData() async throws {
        try await TestServer.run { server in
            _ = try await server.signUp("ada@example.org")
            try await server.expectOnly {
                _ = await #expect(throws: SeedFault.realData) { try await Self.seed(server) }
            }
        }
        try await TestServer.run { server in
            let home = try await server.family()
            try await server.expectOnly {
                _ = await #expect(throws: SeedFault.realData) { try await Self.seed(server) }
            }
            #expect(try await server.call(API.getFamily, FamilyPath(familyID: home.id), as: home.child).id == home.id)
        }
        try await TestServer.run { server in
            try await DemoSeed.run(
                databaseURL: server.database.url, clock: server.clock, cost: .testing, skipsNonEmpty: false
            ) { _ in
            } announce: { _ in
            }
            #expect(try await Self.seed(server))
        }
    }
}
