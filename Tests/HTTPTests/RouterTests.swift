import Testing

@testable import HTTP

private func head(_ method: String, _ target: String) throws -> RequestHead {
    var parser = RequestParser()
    var position = 0
    let wire = bytes("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\r\n")
    guard case .head(let head) = try parser.advance(wire.span, at: &position) else { throw HTTPRequestError.truncated }
    return head
}

private func routes(_ list: [(Method, String)]) -> [Route] {
    list.map { .immediate($0.0, $0.1) { _ in .noContent } }
}

@Suite("The router")
struct RouterTests {
    private static let table: [(Method, String)] = [
        (.get, "/"), (.get, "/nags"), (.post, "/nags"), (.get, "/nags/{id}"), (.patch, "/nags/{id}"),
        (.get, "/nags/stats"), (.post, "/nags/{id}/complete"), (.get, "/families/{family_id}/members/{user_id}"),
        (.head, "/probe"), (.get, "/a/b"), (.get, "/{x}/c"),
    ]

    @Test(
        "the router finds the route of a path",
        arguments: [
            ("GET", "/", "GET /"), ("GET", "/nags", "GET /nags"), ("POST", "/nags", "POST /nags"),
            ("GET", "/nags/17", "GET /nags/{id}"), ("GET", "/nags/stats", "GET /nags/stats"),
            ("GET", "/nags/", "GET /nags"), ("GET", "//nags//17/", "GET /nags/{id}"),
            ("GET", "/nags/a%2Fb", "GET /nags/{id}"), ("GET", "/n%61gs/17?x=/y", "GET /nags/{id}"),
            // The path is the literal branch's, which has no PATCH; the parameter branch has, for other paths.
            ("PATCH", "/nags/stats", "GET, HEAD"),
            ("POST", "/nags/stats/complete", "POST /nags/{id}/complete"),
            ("GET", "/families/1/members/2", "GET /families/{family_id}/members/{user_id}"),
            ("HEAD", "/nags", "GET /nags"), ("HEAD", "/probe", "HEAD /probe"),
            ("GET", "/a/b", "GET /a/b"), ("GET", "/a/c", "GET /{x}/c"), ("GET", "/nags/c", "GET /nags/{id}"),
            ("GET", "/nag", "none"), ("GET", "/nags/1/2", "none"), ("GET", "/NAGS", "none"),
            ("GET", "/families", "none"),
            ("DELETE", "/nags/1", "GET, HEAD, PATCH"), ("PUT", "/nags", "GET, HEAD, POST"), ("GET", "/probe", "HEAD"),
            ("DELETE", "/nags/stats", "GET, HEAD"),
        ])
    func match(_ method: String, _ target: String, _ expected: String) throws {
        let router = try Router(routes(Self.table))
        switch router.match(try head(method, target)) {
        case .route(let route): #expect("\(route.method) \(route.template)" == expected)
        case .notFound: #expect(expected == "none")
        case .otherMethods(let methods): #expect(methods.description == expected)
        }
    }

    @Test("the router names the parameters of a path")
    func parameters() throws {
        let router = try Router(routes(Self.table))
        let head = try head("GET", "/families/%C3%A4%2F/members/2")
        guard case .route(let route) = router.match(head) else { throw HTTPRequestError.truncated }
        var identifiers = IdentifierSource(seed: 1, stream: 1)
        let request = Request(
            head: head, body: [], clientAddress: .loopback, id: identifiers.makeRequestID(),
            trace: identifiers.makeTraceContext(continuing: nil, at: 0), route: route)
        #expect(request.parameter("family_id") == "ä/")
        #expect(request.parameter("user_id") == "2")
        #expect(request.parameter("nag_id") == nil)
    }

    @Test("the router refuses routes that are ambiguous or malformed")
    func faults() {
        #expect(throws: Router.RouteError.repeated(.get, "/nags/{other}")) {
            try Router(routes([(.get, "/nags/{id}"), (.get, "/nags/{other}")]))
        }
        for template in ["nags", "/nags/{id", "/nags/{}", "/nags/x{id}", "/{id}/{id}", "/nags?x"] {
            #expect(throws: Router.RouteError.malformed(template)) { try Router(routes([(.get, template)])) }
        }
    }
}
