import Testing
import WebSocketProtocol

/// Builds frames as a client sends them.
enum ClientFrame {
    static let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]

    /// - Parameters:
    ///   - first: FIN, reserved bits and opcode.
    ///   - length: the length field without the mask bit; nil for the shortest form.
    static func bytes(_ first: UInt8, _ payload: [UInt8] = [], length: [UInt8]? = nil, isMasked: Bool = true)
        -> [UInt8]
    {
        var field = length ?? shortest(payload.count)
        if isMasked { field[0] |= 0x80 }
        let content = isMasked ? key + payload.enumerated().map { $1 ^ key[$0 % 4] } : payload
        return [first] + field + content
    }

    static func text(_ text: String) -> [UInt8] { bytes(0x81, Array(text.utf8)) }
    static func close(_ code: UInt16, _ reason: String = "") -> [UInt8] {
        bytes(0x88, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
    }

    private static func shortest(_ count: Int) -> [UInt8] {
        if count < 126 { return [UInt8(count)] }
        if count < 65_536 { return [126, UInt8(count >> 8), UInt8(count & 0xFF)] }
        return [127] + stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: count >> $0) }
    }
}

@Suite("WebSocket frames")
struct WebSocketParserTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let input: [UInt8]
        var events: [WebSocketParser.Event] = []
        var error: WebSocketError?
        var testDescription: String { name }
    }

    private static func text(_ text: String) -> WebSocketParser.Event {
        .message(WebSocketMessage(.text, Array(text.utf8)))
    }

    private static let frame = ClientFrame.self
    private static let limit = 70_000

    static let cases: [Case] =
        [
            // RFC 6455 §5.7.
            Case(
                name: "a masked text", input: [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58],
                events: [text("Hello")]),
            Case(name: "an unmasked text", input: [0x81, 0x05, 0x48, 0x65], error: .protocolViolation),
            Case(
                name: "a text in fragments",
                input: frame.bytes(0x01, Array("Hel".utf8)) + frame.bytes(0x80, Array("lo".utf8)),
                events: [.fragment, text("Hello")]),
            Case(
                name: "control frames between fragments",
                input: frame.bytes(0x01, Array("Hel".utf8)) + frame.bytes(0x89, Array("a".utf8)) + frame.bytes(0x8A)
                    + frame.bytes(0x00) + frame.bytes(0x80, Array("lo".utf8)),
                events: [.fragment, .ping(Array("a".utf8)), .pong, .fragment, text("Hello")]),
            Case(name: "an empty text", input: frame.bytes(0x81), events: [text("")]),
            Case(name: "an empty ping", input: frame.bytes(0x89), events: [.ping([])]),
            Case(
                name: "a binary message", input: frame.bytes(0x82, [0, 255, 128]),
                events: [.message(WebSocketMessage(.binary, [0, 255, 128]))]),
            // Lengths.
            Case(
                name: "125 bytes", input: frame.bytes(0x81, .init(repeating: 97, count: 125)),
                events: [text(String(repeating: "a", count: 125))]),
            Case(
                name: "126 bytes", input: frame.bytes(0x81, .init(repeating: 97, count: 126)),
                events: [text(String(repeating: "a", count: 126))]),
            Case(
                name: "65,535 bytes", input: frame.bytes(0x81, .init(repeating: 97, count: 65_535)),
                events: [text(String(repeating: "a", count: 65_535))]),
            Case(
                name: "65,536 bytes", input: frame.bytes(0x81, .init(repeating: 97, count: 65_536)),
                events: [text(String(repeating: "a", count: 65_536))]),
            Case(
                name: "125 in two bytes",
                input: frame.bytes(0x81, .init(repeating: 97, count: 125), length: [126, 0, 125]),
                error: .protocolViolation),
            Case(
                name: "65,535 in eight bytes", input: frame.bytes(0x82, [], length: [127, 0, 0, 0, 0, 0, 0, 255, 255]),
                error: .protocolViolation),
            Case(
                name: "a length with the sign bit",
                input: frame.bytes(0x82, [], length: [127, 128, 0, 0, 0, 0, 0, 0, 0]),
                error: .protocolViolation),
            Case(
                name: "the largest length",
                input: frame.bytes(0x82, [], length: [127, 127, 255, 255, 255, 255, 255, 255, 255]),
                error: .messageTooLarge),
            Case(
                name: "one byte too many", input: frame.bytes(0x82, [], length: [127, 0, 0, 0, 0, 0, 1, 0x11, 0x71]),
                error: .messageTooLarge),
            Case(
                name: "too many bytes in all",
                input: frame.bytes(0x02, .init(repeating: 0, count: 40_000))
                    + frame.bytes(0x80, [], length: [126, 0xFF, 0xFF]),
                events: [.fragment], error: .messageTooLarge),
            // Reserved bits and numbers.
            Case(name: "RSV1", input: frame.bytes(0xC1, [97]), error: .protocolViolation),
            Case(name: "RSV2", input: frame.bytes(0xA1, [97]), error: .protocolViolation),
            Case(name: "RSV3 on a ping", input: frame.bytes(0x99), error: .protocolViolation),
            Case(name: "opcode 3", input: frame.bytes(0x83), error: .protocolViolation),
            Case(name: "opcode 7", input: frame.bytes(0x87), error: .protocolViolation),
            Case(name: "opcode 11", input: frame.bytes(0x8B), error: .protocolViolation),
            Case(name: "opcode 15", input: frame.bytes(0x8F), error: .protocolViolation),
            // Fragments.
            Case(name: "a continuation of nothing", input: frame.bytes(0x80, [97]), error: .protocolViolation),
            Case(
                name: "a continuation after the end", input: frame.text("a") + frame.bytes(0x80, [97]),
                events: [text("a")], error: .protocolViolation),
            Case(
                name: "a text inside a text", input: frame.bytes(0x01, [97]) + frame.bytes(0x81, [97]),
                events: [.fragment], error: .protocolViolation),
            Case(
                name: "a binary inside a text", input: frame.bytes(0x01, [97]) + frame.bytes(0x02, [97]),
                events: [.fragment], error: .protocolViolation),
            // Control frames.
            Case(name: "a ping in fragments", input: frame.bytes(0x09), error: .protocolViolation),
            Case(name: "a close in fragments", input: frame.bytes(0x08), error: .protocolViolation),
            Case(
                name: "a ping of 125 bytes", input: frame.bytes(0x89, .init(repeating: 1, count: 125)),
                events: [.ping(.init(repeating: 1, count: 125))]),
            Case(
                name: "a ping of 126 bytes", input: frame.bytes(0x89, .init(repeating: 1, count: 126)),
                error: .protocolViolation),
            Case(
                name: "a pong of eight length bytes",
                input: frame.bytes(0x8A, [], length: [127, 0, 0, 0, 0, 0, 0, 0, 1]),
                error: .protocolViolation),
            // Text.
            Case(name: "a byte that is never UTF-8", input: frame.bytes(0x81, [97, 0xFF]), error: .invalidText),
            Case(name: "an overlong form", input: frame.bytes(0x81, [0xC0, 0xAF]), error: .invalidText),
            Case(name: "an overlong form of three", input: frame.bytes(0x81, [0xE0, 0x80, 0xAF]), error: .invalidText),
            Case(name: "a surrogate", input: frame.bytes(0x81, [0xED, 0xA0, 0x80]), error: .invalidText),
            Case(name: "above U+10FFFF", input: frame.bytes(0x81, [0xF4, 0x90, 0x80, 0x80]), error: .invalidText),
            Case(name: "a lead byte of five", input: frame.bytes(0x81, [0xF8]), error: .invalidText),
            Case(name: "half a character", input: frame.bytes(0x81, [0xE2, 0x82]), error: .invalidText),
            Case(
                name: "characters cut by fragments",
                input: frame.bytes(0x01, [0xF0, 0x9F]) + frame.bytes(0x89) + frame.bytes(0x00, [0x98])
                    + frame.bytes(0x80, [0x80]),
                events: [.fragment, .ping([]), .fragment, text("😀")]),
            Case(
                name: "a wrong byte in a later fragment", input: frame.bytes(0x01, [0xE2]) + frame.bytes(0x00, [0x28]),
                events: [.fragment], error: .invalidText),
            Case(
                name: "wrong before the end of a long text",
                input: frame.bytes(0x81, [0xC3, 0x28], length: [126, 0x0F, 0xFF]), error: .invalidText),
            // Close.
            Case(name: "a close without a code", input: frame.bytes(0x88), events: [.close(nil)]),
            Case(name: "a close with a code", input: frame.close(1000, "bye"), events: [.close(1000)]),
            Case(name: "a close with a code of applications", input: frame.close(4999), events: [.close(4999)]),
            Case(name: "a close of one byte", input: frame.bytes(0x88, [3]), error: .protocolViolation),
            Case(
                name: "a reason that is not UTF-8", input: frame.bytes(0x88, [3, 0xE8, 0xC3, 0x28]), error: .invalidText
            ),
            Case(name: "half a character as reason", input: frame.bytes(0x88, [3, 0xE8, 0xC3]), error: .invalidText),
        ]
        + [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535].map {
            Case(name: "close code \($0)", input: frame.close($0), error: .protocolViolation)
        }

    @Test("WebSocket frames are parsed as RFC 6455 says, in one piece and byte by byte", arguments: cases)
    func table(_ example: Case) {
        for size in [example.input.count, 1, 3] {
            let (events, error) = Self.read(example.input, in: size)
            #expect(events == example.events && error == example.error, "in pieces of \(size)")
        }
    }

    private static func read(_ input: [UInt8], in size: Int) -> ([WebSocketParser.Event], WebSocketError?) {
        var parser = WebSocketParser(from: .client, messageLimit: limit)
        var events: [WebSocketParser.Event] = []
        for start in stride(from: 0, to: input.count, by: size) {
            let piece = Array(input[start..<min(start + size, input.count)])
            var position = 0
            while position < piece.count {
                do throws(WebSocketError) {
                    let event = try parser.advance(piece.span, at: &position)
                    if event != .needsMoreData { events.append(event) }
                } catch {
                    return (events, error)
                }
            }
        }
        return (events, nil)
    }

    @Test("a WebSocket frame with a refused length reserves no memory")
    func boundedAllocation() throws {
        var parser = WebSocketParser(from: .client, messageLimit: 1_000)
        let head: [UInt8] = [0x82, 0x80 | 126, 0x03, 0xE9]
        var position = 0
        #expect(throws: WebSocketError.messageTooLarge) { try parser.advance(head.span, at: &position) }
        #expect(position <= head.count && parser.heldBytes == 0)
    }

    @Test(
        "a server's WebSocket frames are not masked and have the shortest length",
        arguments: [
            (0, [0x81, 0]), (125, [0x81, 125]), (126, [0x81, 126, 0, 126]), (65_535, [0x81, 126, 255, 255]),
            (65_536, [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
        ] as [(Int, [UInt8])])
    func writing(count: Int, head: [UInt8]) {
        let payload = [UInt8](repeating: 97, count: count)
        #expect(WebSocketWriter.frame(.text, payload) == head + payload)
    }

    @Test("a WebSocket key has the proof of the RFC's example, a malformed one is refused, and new ones differ")
    func keys() {
        #expect(WebSocketKey("dGhlIHNhbXBsZSBub25jZQ==")?.acceptValue == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        #expect(WebSocketKey("dGhlIHNhbXBsZSBub25jZQ=A") == nil && WebSocketKey("short") == nil)
        var random = SystemRandomNumberGenerator()
        let key = WebSocketKey(using: &random)
        #expect(WebSocketKey(key.text) == key && key != WebSocketKey(using: &random))
    }

    @Test("a client's frame is parsed as a client's and refused as a server's, and the other way round")
    func masks() throws {
        for (frame, sender) in [
            (WebSocketWriter.frame(.text, Array("Hello".utf8), mask: 0x37FA_213D), WebSocketParser.Sender.client),
            (WebSocketWriter.frame(.text, Array("Hello".utf8)), .server),
        ] {
            var (parser, position) = (WebSocketParser(from: sender, messageLimit: 100), 0)
            let event = try parser.advance(frame.span, at: &position)
            #expect(event == .message(WebSocketMessage(.text, Array("Hello".utf8))))
            var other = WebSocketParser(from: sender == .client ? .server : .client, messageLimit: 100)
            position = 0
            #expect(throws: WebSocketError.protocolViolation) { _ = try other.advance(frame.span, at: &position) }
        }
    }
}
