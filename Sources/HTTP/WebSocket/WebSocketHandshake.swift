import CCrypto

/// The server's part of the opening handshake (RFC 6455 §4.2).
public struct WebSocketHandshake: Sendable {
    /// Why a request does not open a WebSocket.
    public struct Refusal: Error, Sendable {
        public let status: Status
        public let reason: String
        /// What the client should send instead.
        public let fields: [HeaderField]

        fileprivate static let notAnUpgrade = Refusal(
            status: .upgradeRequired, reason: "This path is a WebSocket: ask for an upgrade.",
            fields: [HeaderField("upgrade", "websocket")])
        fileprivate static let otherVersion = Refusal(
            status: .upgradeRequired, reason: "Use version 13 of the WebSocket protocol.",
            fields: [HeaderField("upgrade", "websocket"), HeaderField("sec-websocket-version", "13")])
        fileprivate static let badKey = Refusal(
            status: .badRequest, reason: "Sec-WebSocket-Key must be 16 bytes in base64.", fields: [])
    }

    /// The fields of the 101 besides `Upgrade` and `Connection`.
    public let fields: [HeaderField]

    /// Checks a request. Protocols and extensions that it offers are not taken.
    public init(_ request: Request) throws(Refusal) {
        guard request.method == .get, request.head.isHTTP11, !request.head.announcesContent,
            request.headers.lists("upgrade", "websocket"), request.headers.lists("connection", "upgrade")
        else { throw .notAnUpgrade }
        guard Self.single("sec-websocket-version", request) == "13" else { throw .otherVersion }
        guard let key = Self.single("sec-websocket-key", request), Self.isKey(key) else { throw .badKey }
        fields = [HeaderField("sec-websocket-accept", Self.accept(key))]
    }

    private static func single(_ name: String, _ request: Request) -> String? {
        do { return try request.headers.single(name) } catch { return nil }
    }

    /// Whether a text is sixteen bytes in base64.
    private static func isKey(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 24, bytes[22...].elementsEqual("==".utf8) else { return false }
        return bytes[..<22].allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
                true
            default: false
            }
        }
    }

    /// The proof that the server read the key: SHA-1 of the key and a fixed text, in base64. The hash protects nothing.
    static func accept(_ key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        var encoded = [UInt8](repeating: 0, count: 29)
        let isDone = unsafe EVP_Digest(text, text.count, &digest, nil, EVP_sha1(), nil)
        precondition(isDone == 1, "libcrypto lacks SHA-1")
        let count = unsafe EVP_EncodeBlock(&encoded, digest, 20)
        return String(decoding: encoded.prefix(Int(count)), as: UTF8.self)
    }
}

extension Headers {
    /// Whether a comma-separated field has that element, in any case.
    fileprivate func lists(_ name: String, _ element: StaticString) -> Bool {
        var isListed = false
        forEachListElement(of: name) { if $0.equalsIgnoringCase(element) { isListed = true } }
        return isListed
    }
}
