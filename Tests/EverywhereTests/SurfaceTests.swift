import Contract
import OpenAPICheck
import Testing

@testable import ServerTestKit

@Suite("The running server and the OpenAPI document")
struct SurfaceTests {
    @Test("every route is documented, and every documented operation has its route")
    func sameOperations() async throws {
        try await TestServer.run { server in
            let documented = Set(TestServer.document.operations.map { "\($0.method) \($0.path)" })
            // Pages are no part of the API, and a WebSocket is no operation: the document's introduction describes it.
            let answered = server.routes.filter { route in
                !["GET /console", "GET /docs", "GET /reset-password"].contains { route.hasPrefix($0) }
                    && !["GET /", "GET /openapi.json", "GET /api/v1/ws"].contains(route)
            }
            #expect(answered.subtracting(documented).isEmpty)
            let missing = documented.subtracting(server.routes).sorted()
            #expect(missing.isEmpty)
        }
    }

    @Test(
        "every operation with a JSON body refuses another media type and an encoded body, and takes JSON's own suffix")
    func mediaTypes() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for operation in TestServer.document.operations where operation.bodySchema != nil {
                let path = operation.path.replacing(/\{[a-z_]+\}/, with: "00000000-0000-4000-8000-000000000001")
                func status(_ headers: [String: String]) async throws -> Reply {
                    try await server.send(
                        operation.method, path, token: server.token(family.guardian), content: Array("[".utf8), headers)
                }
                let isForm = operation.id == "createAttachment"
                for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "json"]
                where !isForm {
                    let reply = try await status(["Content-Type": type])
                    #expect(reply.status == 415 && reply.errorCode == "UNSUPPORTED_MEDIA_TYPE", "\(path) \(type)")
                }
                #expect(try await status(["Content-Encoding": "gzip"]).status == 415, "\(path)")
                for type in ["application/json; charset=utf-8", "Application/JSON", "application/merge-patch+json"] {
                    #expect(try await status(["Content-Type": type]).status != 415, "\(path) \(type)")
                }
                #expect(try await status(["Content-Encoding": "identity"]).status != 415, "\(path)")
            }
        }
    }

    @Test("every documented operation answers with a status it describes, also when asked nonsense")
    func answers() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for operation in TestServer.document.operations
            where server.routes.contains("\(operation.method) \(operation.path)") {
                for filling in ["00000000-0000-4000-8000-000000000001", "nonsense"] {
                    let path = operation.path.replacing(/\{[a-z_]+\}/, with: filling)
                    for body in [nil, "[]", "{"] {
                        guard body == nil || operation.bodySchema != nil else { continue }
                        let reply = try await server.send(
                            operation.method, path, token: server.token(family.guardian),
                            content: body.map { Array($0.utf8) } ?? [])
                        #expect(reply.status != 405 && reply.status != 500)
                        let isUnknownPath = reply.text.contains("There is nothing at this path")
                        #expect(!isUnknownPath, "\(operation.method) \(path)")
                    }
                }
            }
        }
    }
}
