import Audit
import Contract
import JSON
import OpenAPICheck
import Testing

@testable import Server
@testable import ServerTestKit

/// `MatrixTests` asks for what needs an access token.
@Suite("The examples of the OpenAPI document")
struct ExampleTests {
    @Test("every operation has a request if it takes JSON, and a response if it answers JSON, and both fit its schemas")
    func complete() throws {
        let document = TestServer.document
        for operation in document.operations {
            let (example, status) = (Examples.recorded[operation.id], try #require(operation.successStatus))
            #expect((example?["request"] != nil) == (operation.bodySchema != nil), "\(operation.id)")
            if let request = example?["request"], let schema = operation.bodySchema {
                #expect(document.check(request, against: schema, .schema) == [], "\(operation.id)")
            }
            let faults = document.checkResponse(
                operation.method, operation.path, status: status, body: example?["response"])
            #expect(faults == [], "\(operation.id)")
        }
        #expect(Set(Examples.recorded.members.map(\.key)).isSubset(of: document.operations.map(\.id)))
    }

    @Test("operations without an access token answer as their examples")
    func open() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            try await server.write([.demoSeeded], by: family.guardian, in: family.id)
            try await server.write([.demoSeeded], by: family.guardian, in: family.id)
            try await server.waitUntilSequenced()
            server.clock.set(to: SystemClock().now())  // a server whose clock is not the database's is not ready
            for operation in TestServer.document.operations
            where operation.method == "GET" && operation.security != .bearer && !operation.path.contains("{") {
                let isProof = operation.path.hasSuffix("/consistency")
                try await server.checkExample("GET", operation.path + (isProof ? "?old=1&new=2" : ""))
            }
            let login: JSONValue = ["email": "nell@example.org", "password": "correct horse"]
            try await server.checkExample("POST", "/api/v1/auth/signup", login)
            let session = try await server.checkExample("POST", "/api/v1/auth/login", login).json
            let newer = try await server.checkExample(
                "POST", "/api/v1/auth/refresh", ["refresh_token": try #require(session?["refresh_token"])]
            ).json
            try await server.checkExample(
                "POST", "/api/v1/auth/logout", ["refresh_token": try #require(newer?["refresh_token"])])
            let code = try await Admins.makePasswordCode(
                databaseURL: server.database.url, keys: try #require(TestServer.auditKeyring),
                forAnyAccount: "nell@example.org", clock: server.clock)
            try await server.checkExample(
                "POST", "/api/v1/auth/password-reset", ["code": .string(code), "new_password": "battery staple"])
            try await server.checkExample("POST", "/api/v1/auth/password-resets", ["email": "nell@example.org"])
            try await server.checkExample(
                "POST", "/api/v1/auth/child-login",
                ["family_code": .string(family.childCode), "username": "cleo", "pin": "4711"])
        }
    }

    @Test("operations of people without a family, or with a PIN, answer as their examples")
    func newcomers() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let code: JSONValue = ["invite_code": .string(family.inviteCode)]
            try await server.checkExample(
                "POST", "/api/v1/families", ["name": "The Nells"], as: try await server.account("Nell"))
            try await server.checkExample(
                "POST", "/api/v1/families/join", code, as: try await server.account("Otto"))
            try await server.checkExample(
                "POST", "/api/v1/families/\(family.id)/join", code, as: try await server.account("Pia"))
            let child = try await server.childLogIn(family.childCode, "Cleo", "4711")
            try await server.checkExample(
                "PATCH", "/api/v1/families/\(family.id)/members/\(family.child.id)/pin",
                ["current_pin": "4711", "new_pin": "0815"], token: child.accessToken.wireText)
        }
    }
}

extension TestServer {
    /// Asks for what its operation's example shows.
    @discardableResult
    fileprivate func checkExample(
        _ method: String, _ target: String, _ body: JSONValue? = nil, as person: TestPerson? = nil, token: String? = nil
    ) async throws -> Reply {
        let content = body?.bytes ?? []
        let reply = try await send(method, target, token: token ?? person.map(self.token), content: content)
        let operation = try #require(Self.document.operation(method, target))
        try #require(reply.status == operation.successStatus)
        try Examples.check(operation.id, request: content, reply)
        return reply
    }
}
