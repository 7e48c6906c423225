/// A response: status, header fields and content. The connection adds Date, the request ID, Content-Length and
/// Connection.
///
/// `Cache-Control: no-store` is added unless the response has a Cache-Control field, or is a 101.
public struct Response: Sendable {
    /// The content.
    public enum Body: Sendable {
        case empty
        case bytes([UInt8])
        /// Content that the closure writes in pieces. It is sent in the chunked coding, or to an HTTP/1.0 client until
        /// the connection closes. The closure may suspend. If it throws, the connection is aborted. It is not called
        /// for a HEAD request, nor with a status that forbids content.
        case stream(@Sendable (BodyWriter) async throws -> Void)
        /// A 101: after the head is sent, the closure owns the socket.
        case upgrade(@Sendable (consuming UpgradedSocket) -> Void)
    }

    /// Request fields that the connection's changes to the response depend on (RFC 9110 §12.5.5).
    struct Vary: OptionSet, Sendable {
        let rawValue: UInt8

        static let origin = Vary(rawValue: 1)
        static let acceptEncoding = Vary(rawValue: 2)
    }

    public var status: Status
    public var mediaType: MediaType?
    public var fields: [HeaderField]
    var vary: Vary = []
    public var body: Body

    public init(
        _ status: Status, _ mediaType: MediaType? = nil, fields: [HeaderField] = [], body: Body = .empty
    ) {
        self.status = status
        self.mediaType = mediaType
        self.fields = fields
        self.body = body
    }

    public init(
        _ status: Status = .ok, _ mediaType: MediaType, fields: [HeaderField] = [], bytes: [UInt8]
    ) {
        self.init(status, mediaType, fields: fields, body: .bytes(bytes))
    }

    public static func text(_ status: Status = .ok, _ text: String) -> Response {
        Response(status, .text, bytes: [UInt8](text.utf8))
    }

    public static let noContent = Response(.noContent)

    /// Returns a response that switches the connection to another protocol (RFC 9110 §7.8).
    public static func upgrade(
        to name: String, fields: [HeaderField] = [], _ takeOver: @escaping @Sendable (consuming UpgradedSocket) -> Void
    ) -> Response {
        Response(.switchingProtocols, fields: [HeaderField("upgrade", name)] + fields, body: .upgrade(takeOver))
    }

    /// Returns the value of the first of `fields` with that name in any case; nil if there is none.
    /// - Parameter name: the name in lower case.
    public func field(_ name: StaticString) -> String? {
        for field in fields where field.name.equalsIgnoringCase(name) { return field.value }
        return nil
    }

    /// The number of bytes of the content; 0 for a stream, whose length is not known.
    var contentByteCount: Int {
        if case .bytes(let bytes) = body { bytes.count } else { 0 }
    }
}
