import Audit
import Contract
import JSON
import OpenAPICheck
import Testing

@testable import Server

/// `MatrixTests` asks for what needs an access token.
@Suite("The answers that the page about the API shows")
struct ExampleTests {
    @Test("every operation that answers JSON has one, and no other")
    func complete() {
        let document = TestServer.document
        let answering = document.operations.filter { operation in
            operation.successStatus.flatMap { document.responseSchema(operation, status: $0) } != nil
        }
        #expect(Set(Examples.recorded.members.map(\.key)) == Set(answering.map(\.id)))
    }

    @Test("what is asked without an access token")
    func open() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            try await server.write([.demoSeeded], by: family.guardian, in: family.id)
            try await server.write([.demoSeeded], by: family.guardian, in: family.id)
            try await server.sequenced()
            server.clock.set(to: SystemClock().now())  // a server whose clock is not the database's is not ready
            for operation in TestServer.document.operations
            where operation.method == "GET" && operation.security != .bearer && !operation.path.contains("{") {
                let isProof = operation.path.hasSuffix("/consistency")
                try await server.checkExample("GET", operation.path + (isProof ? "?old=1&new=2" : ""))
            }
            let login: JSONValue = ["email": "nell@example.org", "password": "correct horse"]
            try await server.checkExample("POST", "/api/v1/auth/signup", login)
            let session = try await server.checkExample("POST", "/api/v1/auth/login", login).json
            try await server.checkExample(
                "POST", "/api/v1/auth/refresh", ["refresh_token": try #require(session?["refresh_token"])])
            try await server.checkExample("POST", "/api/v1/auth/password-resets", ["email": "nell@example.org"])
            try await server.checkExample(
                "POST", "/api/v1/auth/child-login",
                ["family_code": .string(family.childCode), "username": "cleo", "pin": "4711"])
        }
    }

    @Test("what people ask who are in no family, or have a PIN")
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
        _ method: String, _ target: String, _ body: JSONValue? = nil, as person: Person? = nil, token: String? = nil
    ) async throws -> Reply {
        let reply = try await call(method, target, as: person, token: token, body: body)
        let operation = try #require(Self.document.operation(method, target))
        try #require(reply.status == operation.successStatus)
        try Examples.check(operation.id, reply)
        return reply
    }
}
