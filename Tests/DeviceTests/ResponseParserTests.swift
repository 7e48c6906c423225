import Domain
import SeededNumbers
import Testing

@testable import Device

@Suite("HTTP responses")
struct ResponseParserTests {
    /// What comes of bytes that arrive in pieces of that size, and then the end.
    private func parse(_ text: String, pieces: Int) throws(TransportError) -> TransportResponse {
        try parse(Array(text.utf8), pieces: pieces)
    }

    private func parse(_ bytes: [UInt8], pieces: Int) throws(TransportError) -> TransportResponse {
        var parser = ResponseParser()
        for start in stride(from: 0, to: bytes.count, by: pieces) {
            if let response = try parser.take(bytes[start..<min(start + pieces, bytes.count)]) { return response }
        }
        return try parser.end()
    }

    @Test(
        "a body ends where its framing says, however the bytes arrive", arguments: [1, 2, 7, 10_000],
        [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\ncontent-length:  5\r\n\r\nhello",
            "HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n005\r\nhello\r\n0\r\nX: y\r\n\r\n",
            "HTTP/1.0 200 OK\r\n\r\nhello",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        ])
    func bodies(pieces: Int, text: String) throws {
        let response = try parse(text, pieces: pieces)
        #expect(response.status == 200 && response.body == Array("hello".utf8))
    }

    @Test("answers without a body have none")
    func empty() throws {
        #expect(try parse("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello", pieces: 100).body.isEmpty)
        #expect(try parse("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n", pieces: 3).status == 401)
    }

    @Test(
        "what is framed in two ways, or in none, is refused",
        arguments: [
            "", "H", "HTTP/1.1 200 OK\r\n", "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
            "HTTP/1.1 +20 OK\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
            "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello", "HTTP/1.1 200 OK\r\nContent-Length: 5 \r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n",
        ])
    func refused(text: String) {
        for pieces in [1, 5, 10_000] { #expect(throws: TransportError.garbled) { try parse(text, pieces: pieces) } }
    }

    @Test("what is too large is not waited for")
    func limits() {
        #expect(throws: TransportError.tooLarge) {
            try parse("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n", pieces: 100)
        }
        #expect(throws: TransportError.tooLarge) {
            try parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", pieces: 100)
        }
        let long = "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 70_000)
        #expect(throws: TransportError.garbled) { try parse(long, pieces: 10_000) }
    }

    @Test("any bytes at all end in an answer or an error, and in the same however they arrive")
    func anything() {
        var dice = SeededNumbers(seed: 2_000)
        func outcome(_ bytes: [UInt8], pieces: Int) -> String {
            do throws(TransportError) {
                let response = try parse(bytes, pieces: pieces)
                return "\(response.status) \(response.body)"
            } catch {
                return "\(error)"
            }
        }
        for _ in 0..<2_000 {
            var bytes = Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n".utf8)
            for _ in 0..<Int.random(in: 0..<6, using: &dice) {
                bytes[Int.random(in: 0..<bytes.count, using: &dice)] = .random(in: 0...255, using: &dice)
            }
            let whole = outcome(bytes, pieces: bytes.count)
            for pieces in [1, 3, 16] { #expect(outcome(bytes, pieces: pieces) == whole) }
        }
    }
}
