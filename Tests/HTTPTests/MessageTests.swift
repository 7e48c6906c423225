import CZlib
import SeededNumbers
import Testing

@testable import HTTP

private func request(_ wire: String, body: [UInt8] = []) throws -> Request {
    var parser = RequestParser()
    var position = 0
    guard case .head(let head) = try parser.advance(bytes(wire).span, at: &position) else {
        throw HTTPRequestError.truncated
    }
    var identifiers = IdentifierSource(seed: 1, stream: 1)
    return Request(
        head: head, body: body, clientAddress: .loopback, id: identifiers.makeRequestID(),
        trace: identifiers.makeTraceContext(continuing: nil, at: 0), route: nil)
}

private func get(_ fields: String, _ target: String = "/") throws -> Request {
    try request("GET \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n")
}

@Suite("Requests")
struct RequestTests {
    @Test("a header line ends at its first control byte, wherever it lies")
    func controls() {
        for byte in UInt8.min...UInt8.max {
            for place in 0..<20 {
                var line = [UInt8](repeating: UInt8(ascii: "x"), count: 20)
                line[place] = byte
                #expect(line.span.firstControlIndex(from: 0, to: 20) == (byte.isControl ? place : 20))
                #expect(line.span.firstControlIndex(from: 1, to: place) == max(1, place))
            }
        }
    }

    @Test("header fields are found without regard to case, trimmed, in order")
    func fields() throws {
        let request = try get("X-One:  a b \t\r\nx-two: 1\r\nX-TWO: 2\r\n")
        #expect(request.headers["x-one"] == "a b")
        #expect(request.headers.values(of: "x-two") == ["1", "2"])
        #expect(request.headers["x-three"] == nil)
        #expect(request.headers.map(\.name) == ["host", "x-one", "x-two", "x-two"])
        #expect(throws: HTTPRequestError.fieldRepeated) { try request.headers.single("x-two") }
    }

    @Test(
        "a query is decoded",
        arguments: [
            ("/?a=1&b=2", "a=1|b=2"), ("/?a=x+y%20z", "a=x y z"), ("/?a", "a="), ("/?=v", "=v"), ("/?", ""),
            ("/?a=b=c", "a=b=c"), ("/?&&a=1&", "a=1"), ("/?%C3%A4=%F0%9F%91%8D", "ä=👍"), ("/?a=%26%3D", "a=&="),
            ("/?a=1&a=2", "a=1|a=2"), ("http://a?b=1", "b=1"),
        ])
    func query(_ target: String, _ expected: String) throws {
        #expect(try get("", target).query.map { "\($0.name)=\($0.value)" }.joined(separator: "|") == expected)
    }

    @Test(
        "a bearer token is read in any case of the scheme, and of no other scheme",
        arguments: [
            ("Authorization: Bearer abc\r\n", "abc"), ("authorization: bearer  abc\r\n", "abc"),
            ("Authorization: Basic abc\r\n", nil), ("Authorization: Bearer\r\n", nil), ("", nil),
        ])
    func bearer(_ fields: String, _ expected: String?) throws {
        #expect(try get(fields).bearerToken() == expected)
    }

    @Test(
        "a valid trace context is continued, and an invalid one is not",
        arguments: [
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", true),
            ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", true),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", false),
            ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
            ("00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
            ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
            ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
            ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331", false), ("", false),
        ])
    func trace(_ value: String, _ isValid: Bool) {
        let parent = TraceContext(traceparent: value)
        #expect((parent != nil) == isValid)
        guard let parent else { return }
        var identifiers = IdentifierSource(seed: 1, stream: 1)
        let own = identifiers.makeTraceContext(continuing: parent, at: 0)
        #expect(own.traceID == "0af7651916cd43dd8448eb211c80319c" && own.parentSpan == 0xb7ad_6b71_6920_3331)
        #expect(own.span != parent.span && own.traceparent.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-"))
    }

    @Test("ids of new traces begin with the time, and no two are the same")
    func newTraces() {
        var (first, second) = (IdentifierSource(seed: 1, stream: 1), IdentifierSource(seed: 1, stream: 3))
        let early = (0..<1_000).map { _ in first.makeTraceContext(continuing: nil, at: 1_790_000_000_000).traceID }
        let late = (0..<1_000).map { _ in second.makeTraceContext(continuing: nil, at: 1_790_000_000_001).traceID }
        #expect(early.allSatisfy { $0.hasPrefix("01a0c4506c00") } && late.allSatisfy { $0.hasPrefix("01a0c4506c01") })
        #expect(Set((early + late).map { $0.suffix(20) }).count == 2_000)
    }

    @Test("remote addresses are printed, parsed, and grouped by network")
    func addresses() {
        #expect(RemoteAddress.loopback.description == "127.0.0.1:0")
        let six = RemoteAddress(high: 0x2001_0db8_0000_0000, low: 1, port: 80)
        #expect(six.description == "[2001:db8:0:0:0:0:0:1]:80")
        #expect(six.network == RemoteAddress(high: 0x2001_0db8_0000_0000, low: 2, port: 81).network)
        #expect(six.network.description == "2001:db8:0:0:0:0:0:0")
        #expect(RemoteAddress(host: "127.0.0.1") == .loopback && RemoteAddress(host: "2001:db8::1")?.low == 1)
        for text in ["", "127.1", "127.0.0.1 ", "1.2.3.4.5", "::1%lo", "localhost", "2001:db8"] {
            #expect(RemoteAddress(host: text) == nil, "\(text)")
        }
    }

    @Test(
        "behind a proxy the client is the last address that is no proxy, and otherwise the field is ignored",
        arguments: [
            // Proxies, X-Forwarded-For, the client that follows.
            ("", "192.0.2.7", "127.0.0.1"), ("127.0.0.1", "", "127.0.0.1"), ("127.0.0.1", "192.0.2.7", "192.0.2.7"),
            ("127.0.0.1", "6.6.6.6, 192.0.2.7", "192.0.2.7"), ("127.0.0.0/8", "192.0.2.7:4711", "192.0.2.7"),
            ("127.0.0.1,10.0.0.0/8", "6.6.6.6, 192.0.2.7, 10.1.2.3", "192.0.2.7"),
            ("127.0.0.1,10.0.0.0/8", "10.9.9.9, 10.1.2.3", "10.9.9.9"), ("10.0.0.0/8", "192.0.2.7", "127.0.0.1"),
            ("127.0.0.1", "192.0.2.7, unknown", "127.0.0.1"), ("127.0.0.1,10.0.0.1", "nonsense, 10.0.0.1", "10.0.0.1"),
            ("127.0.0.1", "2001:db8::7", "2001:db8:0:0:0:0:0:7"), ("::/0", "[2001:db8::7]:80", "2001:db8:0:0:0:0:0:7"),
            ("0.0.0.0/0,2001:db8::/33", "2001:db8:8000::1, 2001:db8:7fff::1", "2001:db8:8000:0:0:0:0:1"),
            ("127.0.0.1", String(repeating: "1", count: 4_000), "127.0.0.1"),
        ])
    func forwarded(_ proxies: String, _ field: String, _ client: String) throws {
        let proxies = try TrustedProxies(proxies.split(separator: ",").map(String.init))
        let headers = try get(field.isEmpty ? "" : "X-Forwarded-For: \(field)\r\n").headers
        #expect(proxies.client(of: .loopback, headers).host == client)
        // Several fields are one list.
        let lines = try get(field.split(separator: ",").map { "X-Forwarded-For:\($0)\r\n" }.joined()).headers
        #expect(proxies.client(of: .loopback, lines).host == client)
    }

    @Test(
        "a malformed proxy name is refused",
        arguments: ["", "10.0.0.0/33", "10.0.0.0/", "a/8", "::/129", "::1/-1", "10.0.0.0/+8", "10.0.0.0/08"])
    func malformedProxies(_ name: String) {
        #expect(throws: TrustedProxies.MalformedAddress.self) { try TrustedProxies([name]) }
    }
}

@Suite("Responses")
struct ResponseTests {
    @Test(
        "a date is written in the format of HTTP",
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
            (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
        ])
    func dates(_ seconds: Int, _ expected: String) { #expect(DateLine.fixdate(seconds) == expected) }

    @Test("a line break in a header value does not end its line")
    func splitting() {
        var wire: [UInt8] = []
        wire.append(HeaderField("location", "/a\r\nset-cookie: x=1"))
        #expect(String(decoding: wire, as: UTF8.self) == "location: /a  set-cookie: x=1\r\n")
    }

    @Test("every answer has the security header fields and a date")
    func guards() throws {
        let connection = try ScriptedConnection(sampleApplication())
        connection.receive(bytes("GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        let answer = try #require(answers(in: connection.output).first)
        #expect(answer["cache-control"] == "no-store" && answer["x-content-type-options"] == "nosniff")
        #expect(answer["content-security-policy"] == "default-src 'none'" && answer["date"] != nil)
        #expect(answer["x-request-id"]?.count == 32 && answer["server"] == nil)
    }

    @Test("HEAD has the head of GET and no content")
    func head() throws {
        let connection = try ScriptedConnection(sampleApplication())
        connection.receive(bytes("HEAD / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"))
        let both = answers(in: connection.output, heads: [0])
        #expect(both.map(\.status) == [200, 200] && both.map(\.text) == ["", "root"])
        #expect(both[0]["content-length"] == "4")
    }

    @Test("405 and OPTIONS name the methods of a path")
    func allow() throws {
        let connection = try ScriptedConnection(sampleApplication())
        connection.receive(
            bytes("DELETE /nags/1 HTTP/1.1\r\nHost: a\r\n\r\nOPTIONS /nags/1 HTTP/1.1\r\nHost: a\r\n\r\n"))
        let both = answers(in: connection.output)
        #expect(both.map(\.status) == [405, 204])
        #expect(both.map { $0["allow"] } == ["GET, HEAD, PUT, OPTIONS", "GET, HEAD, PUT, OPTIONS"])
        #expect(both[1]["content-length"] == nil)
    }

    @Test(
        "an answer whose ETag is in If-None-Match is 304",
        arguments: [
            ("W/\"v1\"", 304), ("\"v1\"", 304), ("\"v0\", W/\"v1\"", 304), ("*", 304), ("\"v2\"", 200), ("v1", 200),
            ("", 200),
        ])
    func conditional(_ value: String, _ status: Int) throws {
        let connection = try ScriptedConnection(sampleApplication())
        connection.receive(bytes("GET /tagged HTTP/1.1\r\nHost: a\r\nIf-None-Match: \(value)\r\n\r\n"))
        let answer = try #require(answers(in: connection.output).first)
        #expect(
            answer.status == status && answer["etag"] == "W/\"v1\"" && answer.text == (status == 200 ? "tagged" : ""))
    }
}

@Suite("Compression")
struct CompressionTests {
    @Test(
        "an answer is compressed with gzip when that is accepted",
        arguments: [
            ("gzip", true), ("GZIP", true), ("deflate, gzip;q=0.5", true), ("*", true), ("gzip;q=0", false),
            ("gzip; q=0.000", false), ("*;q=0", false), ("gzip;q=0, *", false), ("identity", false), ("", false),
            ("br", false),
        ])
    func negotiation(_ value: String, _ isCompressed: Bool) throws {
        let connection = try ScriptedConnection(sampleApplication())
        connection.receive(bytes("GET /page HTTP/1.1\r\nHost: a\r\nAccept-Encoding: \(value)\r\n\r\n"))
        let answer = try #require(answers(in: connection.output).first)
        #expect((answer["content-encoding"] == "gzip") == isCompressed && answer["vary"] == "Accept-Encoding")
        let plain = isCompressed ? inflate(answer.body) : answer.body
        #expect(plain == bytes(String(repeating: "nag ", count: 1000)))
    }

    @Test("small content is not compressed")
    func small() throws {
        let connection = try ScriptedConnection(sampleApplication())
        connection.receive(bytes("GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\n\r\n"))
        let answer = try #require(answers(in: connection.output).first)
        #expect(answer["content-encoding"] == nil && answer["vary"] == nil)
    }

    @Test("one compressor serves many bodies, and gives up on incompressible ones")
    func reuse() {
        let deflater = Deflater()
        for size in [1024, 5000, 100_000] {
            let body = (0..<size).map { UInt8($0 % 7) }
            #expect(deflater.compress(body).map(inflate) == body)
        }
        var random = SeededNumbers(seed: 4096)
        #expect(deflater.compress((0..<4096).map { _ in UInt8.random(in: 0...255, using: &random) }) == nil)
    }
}

private func inflate(_ compressed: [UInt8]) -> [UInt8] {
    var stream = z_stream()
    inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { inflateEnd(&stream) }
    var input = compressed
    var output = [UInt8](repeating: 0, count: 1 << 20)
    input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            _ = CZlib.inflate(&stream, Z_FINISH)
        }
    }
    return Array(output.prefix(Int(stream.total_out)))
}

@Suite("Cross-origin requests")
struct CORSTests {
    private static let policy = CORSPolicy.sample("https://app.example")

    private func answer(_ wire: String, _ policy: CORSPolicy = policy) throws -> Answer {
        let connection = try ScriptedConnection(sampleApplication(cors: policy))
        connection.receive(bytes(wire))
        return try #require(answers(in: connection.output).first)
    }

    private func preflight(_ origin: String, _ path: String = "/nags/1") -> String {
        "OPTIONS \(path) HTTP/1.1\r\nHost: a\r\nOrigin: \(origin)\r\nAccess-Control-Request-Method: PUT\r\n\r\n"
    }

    @Test(
        "a preflight of a configured origin is 204 on every path, known or not",
        arguments: ["/nags/1", "/nothing", "/", "/nags/1/2/3", "/%41"])
    func preflightAnywhere(_ path: String) throws {
        let answer = try answer(preflight("https://app.example", path))
        #expect(answer.status == 204 && answer["access-control-allow-origin"] == "https://app.example")
        #expect(answer["access-control-allow-methods"] != nil)
    }

    @Test(
        "a page of a configured origin can read every refusal",
        arguments: [
            ("GET /nothing HTTP/1.1\r\nHost: a\r\n<origin>\r\n", 404),
            ("DELETE / HTTP/1.1\r\nHost: a\r\n<origin>\r\n", 405),
            ("POST /small HTTP/1.1\r\nHost: a\r\n<origin>Content-Length: 5\r\n\r\n", 413),
            ("POST / HTTP/1.1\r\nHost: a\r\n<origin>Content-Length: 9999999\r\n\r\n", 413),
            ("GET /" + String(repeating: "a", count: 9_000) + " HTTP/1.1\r\nHost: a\r\n<origin>\r\n", 414),
            ("GET / HTTP/1.1\r\nHost: a\r\n<origin>X: " + String(repeating: "a", count: 17_000) + "\r\n\r\n", 431),
            ("GET / HTTP/1.1\r\nHost: a\r\nX: " + String(repeating: "a", count: 17_000) + "\r\n<origin>\r\n", 431),
            ("GET / HTTP/1.1\r\n" + String(repeating: "X: y\r\n", count: 101) + "<origin>\r\n", 431),
            ("GET / HTTP/1.1\r\nX : y\r\n<origin>\r\n", 400),
            ("BREW / HTTP/1.1\r\nHost: a\r\n<origin>\r\n", 501),
            ("GET / HTTP/1.1\r\nHost: a\r\n<origin>Expect: gold\r\n\r\n", 417),
        ])
    func refusals(_ wire: String, _ status: Int) throws {
        let policies = [["https://app.example"], ["https://app.example", "https://other.example"], ["*"]]
        for origins in policies {
            let policy = CORSPolicy.sample(origins)
            let own = try answer(wire.replacing("<origin>", with: "oRiGin: https://app.example\r\n"), policy)
            #expect(own.status == status)
            #expect(own["access-control-allow-origin"] == (origins == ["*"] ? "*" : "https://app.example"))
            #expect(own["access-control-expose-headers"] != nil)
            guard origins.count == 2 else { continue }
            let foreign = try answer(wire.replacing("<origin>", with: "Origin: https://evil.example\r\n"), policy)
            #expect(foreign["access-control-allow-origin"] == nil && foreign["vary"]?.contains("Origin") == true)
        }
    }

    @Test("a preflight of a configured origin is granted")
    func granted() throws {
        let answer = try answer(preflight("https://app.example"))
        #expect(answer.status == 204 && answer["access-control-allow-origin"] == "https://app.example")
        #expect(answer["access-control-allow-methods"] == "GET, POST, PUT, PATCH, DELETE")
        let headers = "authorization, content-type, idempotency-key, if-match, traceparent, x-request-id"
        #expect(answer["access-control-allow-headers"] == headers)
        #expect(answer["access-control-max-age"] == "600" && answer["access-control-allow-credentials"] == nil)
        #expect(answer.all("vary").contains { $0.contains("Origin") })
    }

    @Test(
        "a page of another origin is granted neither a preflight nor an answer",
        arguments: ["https://evil.example", "null", "https://app.example.evil", "*"])
    func refused(_ origin: String) throws {
        let preflight = try answer(preflight(origin))
        #expect(preflight["access-control-allow-origin"] == nil && preflight["access-control-allow-methods"] == nil)
        let get = try answer("GET / HTTP/1.1\r\nHost: a\r\nOrigin: \(origin)\r\n\r\n")
        #expect(get.status == 200 && get["access-control-allow-origin"] == nil && get["vary"] == "Origin")
    }

    @Test("a page of a configured origin can read answers and errors", arguments: [("/", 200), ("/nothing", 404)])
    func readable(_ path: String, _ status: Int) throws {
        let answer = try answer("GET \(path) HTTP/1.1\r\nHost: a\r\nOrigin: https://app.example\r\n\r\n")
        #expect(answer.status == status && answer["access-control-allow-origin"] == "https://app.example")
        #expect(answer["access-control-expose-headers"]?.contains("x-request-id") == true)
    }
}
