import Foundation
import JSON
import OpenAPICheck
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Web pages and documents")
struct WebPageTests {
    @Test("the front page leads to pages that answer, and each page to files that it may load")
    func links() async throws {
        try await TestServer.run { server in
            for page in ["/", "/docs", "/console"] {
                let reply = try await server.call("GET", page, isDocumented: false)
                #expect(reply.status == 200 && reply.header("content-type") == "text/html; charset=utf-8")
                let policy = try #require(reply.header("content-security-policy"))
                #expect(policy.contains("default-src 'none'") && !policy.contains("unsafe"))
                let links = reply.text.matches(of: /(?:href|src)="([^"]+)"/).map { String($0.output.1) }
                #expect(links.count > 5)
                for link in links {
                    let linked = try await server.call("GET", link, isDocumented: false)
                    // Whether the server is ready is not asked here.
                    #expect(linked.status == 200 || link == "/health/ready", "\(page) has \(link)")
                }
            }
        }
    }

    @Test("every module that a page's modules import is served as a script")
    func modules() async throws {
        try await TestServer.run { server in
            let scripts = server.routes.filter { $0.hasSuffix(".js") }.map { String($0.dropFirst("GET ".count)) }
            #expect(scripts.count > 40)
            for script in scripts {
                let reply = try await server.call("GET", script, isDocumented: false)
                #expect(reply.header("content-type") == "text/javascript; charset=utf-8")
                for imported in reply.text.matches(of: /from "([^"]+)"/) {
                    #expect(scripts.contains(String(imported.output.1)), "\(script) imports \(imported.output.1)")
                }
            }
        }
    }

    @Test(
        "the API documents are those of this build, and are sent again only when they have changed",
        arguments: [
            ("/openapi.json", APIDocument.bytes, "application/json", 4),
            ("/docs/guide.md", try Array(Data(contentsOf: guide)), "text/markdown; charset=utf-8", 2),
        ])
    func documents(path: String, written: [UInt8], type: String, shrinking: Int) async throws {
        try await TestServer.run { server in
            let reply = try await server.call("GET", path, isDocumented: false)
            #expect(reply.status == 200 && reply.header("content-type") == type)
            #expect(reply.body == written)
            let tag = try #require(reply.header("etag"))
            let again = try await server.call("GET", path, headers: ["If-None-Match": tag], isDocumented: false)
            #expect(again.status == 304 && again.body.isEmpty)
            let smaller = try await server.call("GET", path, headers: ["Accept-Encoding": "gzip"], isDocumented: false)
            #expect(smaller.header("content-encoding") == "gzip" && smaller.header("vary")?.contains("ccept-") == true)
            #expect(smaller.body.starts(with: [0x1F, 0x8B]) && smaller.body.count * shrinking < written.count)
        }
    }

    private static let guide = repository.appending(path: "openapi/README.md")

    @Test("the API document is the repository's, with a recorded request and response of each operation")
    func examples() throws {
        let served = try JSONValue(parsing: APIDocument.bytes)
        for (path, methods) in try #require(served["paths"]?.objectValue).members.map({ ($0.key, $0.value) }) {
            for (method, described) in try #require(methods.objectValue).members.map({ ($0.key, $0.value) }) {
                let operation = try #require(TestServer.document.operation(method.uppercased(), path))
                let example = Examples.recorded[operation.id]
                let response = described["responses"]?["\(try #require(operation.successStatus))"]
                #expect(described["requestBody"]?.example == example?["request"], "\(operation.id)")
                #expect(response?.example == example?["response"], "\(operation.id)")
            }
        }
        let written = try JSONValue(
            parsing: Array(Data(contentsOf: repository.appending(path: "openapi/openapi.json"))))
        #expect(served.withoutExamples == written.withoutExamples)
    }

    @Test("an operator configures where the path / leads", arguments: ["/console", "https://nagz.example/welcome"])
    func home(address: String) async throws {
        try await TestServer.run(configure: { _ = $0.setHomeRedirect(address) }) { server in
            let reply = try await server.call("GET", "/", isDocumented: false)
            #expect(reply.status == 302 && reply.header("location") == address)
        }
    }

    @Test(
        "the path / leads only to another path or a web address",
        arguments: [
            "", "/", "//evil.example", "javascript:alert(1)", "console", "https://", "/a b", "/a\r\nb: c", "/ä",
        ])
    func noHome(address: String) {
        var configuration = Configuration(databaseURL: "", tokenKeys: [], loops: 1)
        let isTaken = configuration.setHomeRedirect(address)
        #expect(!isTaken && configuration.homeRedirect == nil)
    }
}

extension JSONValue {
    fileprivate var example: JSONValue? { self["content"]?["application/json"]?["example"] }

    /// The value without the members `example` of its objects.
    fileprivate var withoutExamples: JSONValue {
        switch self {
        case .array(let elements): .array(elements.map(\.withoutExamples))
        case .object(let object):
            .object(
                object.members.filter { $0.key != "example" }
                    .reduce(into: [:]) { _ = $0.insert($1.value.withoutExamples, for: $1.key) })
        default: self
        }
    }
}
