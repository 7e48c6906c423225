import Glibc
import Testing

@testable import HTTP

/// A request of a pipeline and what its answer holds.
private struct Asked: Sendable {
    let wire: String
    var path = ""
    var status = 0
    var body: [UInt8] = []

    init(wire: String) { self.wire = wire }

    init(path: String, status: Int, body: [UInt8]) {
        self.init(wire: "GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
        (self.path, self.status, self.body) = (path, status, body)
    }
}

@Suite("Pipelines", .timeLimit(.minutes(10)))
struct PipelineTests {
    /// On both sides of the size from which a body is sent from where it lies, and of that up to which answers are gathered.
    private static let sizes = [15, 16, 20, 31, 33].map { $0 << 10 }

    private static let bodies = sizes.map { size in
        (size: size, bytes: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ size >> 10) })
    }

    private static let asked: [Asked] =
        bodies.flatMap { size, body in
            [Asked(path: "/now/\(size)", status: 200, body: body)]
                + [Asked(path: "/later/\(size)", status: 200, body: body)]
        } + [
            Asked(path: "/short", status: 200, body: bytes("short")),
            Asked(path: "/nothing", status: 404, body: bytes("There is nothing at this path.\n")),
        ]

    private static func application() throws -> Application {
        let routes = bodies.flatMap { size, body in
            [
                Route.immediate(.get, "/now/\(size)") { _ in Response(.ok, .text, bytes: body) },
                Route(.get, "/later/\(size)") { _ in
                    await Task.yield()
                    return Response(.ok, .text, bytes: body)
                },
            ]
        }
        let short = Route.immediate(.get, "/short") { _ in .text(.ok, "short") }
        return Application(router: try Router(routes + [short]), requestIDField: "X-Request-Id")
    }

    @Test("a pipeline's answers of all sizes and kinds leave in order, byte for byte", arguments: asked.indices)
    func order(_ first: Int) async throws {
        try await withServer(try Self.application()) { _, port in
            var alone: [[UInt8]] = []
            for asked in Self.asked {
                let wire = await exchange([asked], port)
                let answer = try #require(answers(in: wire).first)
                #expect(answer.status == asked.status && answer.body == asked.body)
                alone.append(wire)
            }
            for second in alone.indices {
                let row = [first, second, first]
                let wire = await exchange(row.map { Self.asked[$0] }, port)
                #expect(wire == row.flatMap { alone[$0] }, "\(row.map { Self.asked[$0].path })")
            }
        }
    }

    @Test("the answer to a faulty request comes after the answers before it, of any size", arguments: asked.indices)
    func fault(_ first: Int) async throws {
        try await withServer(try Self.application()) { _, port in
            let asked = Self.asked[first]
            let all = answers(in: await exchange([asked, Asked(wire: "oops\r\n\r\n"), asked], port))
            #expect(all.map(\.status) == [asked.status, 400] && all.first?.body == asked.body)
        }
    }

    @Test("a pipeline is answered to its end, whichever sends find the socket full", arguments: 0..<256)
    func fullSocket(_ script: Int) async throws {
        let large = Self.asked.filter { $0.path.hasSuffix("/\(20 << 10)") }
        let short = Self.asked.filter { $0.path == "/short" }
        let row = large + short + large + short + short
        let worker = try LoneWorker(try Self.application()) {
            var calls = SocketCalls()
            var rest = script
            calls.send = { writeBuffer, descriptor in
                defer { rest >>= 1 }
                // The peer reads between this call and the next.
                return rest & 1 == 1 ? -Int(EAGAIN) : writeBuffer.send(to: descriptor)
            }
            return calls
        }
        defer { worker.end() }
        let client = await worker.connect()
        client.send(row.map(\.wire).joined())
        let first = await client.receive(until: "HTTP/1.1 200 OK")
        client.send("GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        let all = answers(in: first + (await client.receiveAll()))
        #expect(all.map(\.status) == row.map(\.status) + [404] && all.dropLast().map(\.body) == row.map(\.body))
    }

    /// All answers to a pipeline sent at once, without what differs from one answer to the next.
    private func exchange(_ row: [Asked], _ port: UInt16) async -> [UInt8] {
        let client = Client(port: port)
        client.send(row.map(\.wire).joined())
        client.endSending()
        var wire = await client.receiveAll()
        for (name, count) in [("\r\nDate: ", 29), ("\r\nX-Request-Id: ", 32)] {
            for place in wire.places(of: name) {
                let value = place + name.utf8.count
                for index in value..<min(wire.count, value + count) { wire[index] = 0x2D }
            }
        }
        return wire
    }
}
