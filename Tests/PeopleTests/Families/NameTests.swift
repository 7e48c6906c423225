import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Names of people, families and sign-ins")
struct NameTests {
    private static let composed = "Zo\u{eb}"
    private static let decomposed = "Zoe\u{308}"

    @Test("names are stored trimmed and composed, on every way in")
    func kept() async throws {
        try await TestServer.run { server in
            let nell = try await server.account()
            let family = try await server.call(
                API.createFamily, FamilyCreate(name: " \(Self.decomposed)\u{a0}"), as: nell)
            #expect(family.name.unicodeScalars.elementsEqual(Self.composed.unicodeScalars))
            let member = try await server.call(
                API.createMember, FamilyPath(familyID: family.id),
                MemberCreateAndAdd(displayName: "Person ", role: .participant), as: nell)
            #expect(member.displayName == "Person")
            let signedUp = try await server.call(
                "POST", "/api/v1/auth/signup",
                body: [
                    "email": "zoe@example.org", "password": "correct horse",
                    "display_name": .string("  \(Self.decomposed)"),
                ])
            #expect(signedUp.status == 201)
            let names = try await server.rows("SELECT display_name FROM users WHERE email = 'zoe@example.org'")
            #expect(names[0]["display_name"]?.stringValue?.unicodeScalars.count == 3)
        }
    }

    @Test(
        "blank names and names with control characters are refused",
        arguments: ["", " ", "\u{a0}\t", "a\nb", "\u{202e}x", "\u{200b}"])
    func refused(text: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            let members = "/api/v1/families/\(family.id)/members"
            let name: JSONValue = .string(text)
            try await server.expectOnly {
                for (method, path, person, body, field) in [
                    ("POST", "/api/v1/families", nell, ["name": name], "name"),
                    (
                        "POST", "/api/v1/auth/signup", nil,
                        ["email": "x@example.org", "password": "correct horse", "display_name": name], "display_name"
                    ),
                    (
                        "POST", "\(members)/create", family.guardian, ["display_name": name, "role": "child"],
                        "display_name"
                    ),
                    (
                        "POST", "\(members)/create", family.guardian,
                        ["display_name": "F", "role": "child", "username": name, "pin": "1234"], "username"
                    ),
                    (
                        "PUT", "\(members)/\(family.child.id)/credentials", family.guardian,
                        ["username": name, "pin": "1234"], "username"
                    ),
                ] as [(String, String, TestPerson?, JSONValue, String)] {
                    let reply = try await server.call(method, path, as: person, body: body)
                    #expect(reply.status == 422, "\(path)")
                    #expect(reply.json?["error"]?["details"]?["field"]?.stringValue == field)
                }
            }
        }
    }

    @Test("a user name cannot be taken twice in any spelling, and signs in in any")
    func twins() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family, username: Self.composed)
            let other = try await server.member("Cora", .child, of: family)
            let path = "/api/v1/families/\(family.id)/members/\(other.id)/credentials"
            for twin in [Self.decomposed, Self.decomposed.uppercased(), " ZO\u{cb} "] {
                let reply = try await server.expectOnly {
                    try await server.call(
                        "PUT", path, as: family.guardian, body: ["username": .string(twin), "pin": "2222"])
                }
                #expect(reply.status == 409)
            }
            for name in [Self.composed, Self.decomposed, Self.decomposed.uppercased()] {
                let session = try await server.childLogIn(family.childCode, name, "4711")
                #expect(session.user.id == family.child.id)
            }
        }
    }
}
