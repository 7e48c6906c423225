import Contract
import OpenAPICheck
import Testing

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
