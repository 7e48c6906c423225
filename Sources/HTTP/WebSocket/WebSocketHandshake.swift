import WebSocketProtocol

/// The server's part of the opening handshake (RFC 6455 §4.2).
public struct WebSocketHandshake: Sendable {
    /// A reason why a request does not open a WebSocket.
    public struct Refusal: Error, Sendable {
        public let status: Status
        public let reason: String
        /// The fields of the response, which say what the client should send instead.
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

    /// Checks a request. Protocols and extensions that it offers are not accepted.
    public init(_ request: Request) throws(Refusal) {
        guard request.method == .get, request.head.isHTTP11, !request.head.announcesContent,
            request.headers.lists("upgrade", "websocket"), request.headers.lists("connection", "upgrade")
        else { throw .notAnUpgrade }
        guard Self.uniqueValue("sec-websocket-version", request) == "13" else { throw .otherVersion }
        guard let key = Self.uniqueValue("sec-websocket-key", request).flatMap({ WebSocketKey($0) }) else {
            throw .badKey
        }
        fields = [HeaderField("sec-websocket-accept", key.acceptValue)]
    }

    /// Returns the value of a field; nil if there is none, or more than one.
    private static func uniqueValue(_ name: String, _ request: Request) -> String? {
        do { return try request.headers.single(name) } catch { return nil }
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
