/// An answer: status, header fields and content. The connection adds Date, the request's id, Content-Length and Connection.
///
/// Every answer is sent with `Cache-Control: no-store` unless it names a Cache-Control of its own.
public struct Response: Sendable {
    /// Where the content comes from.
    public enum Body: Sendable {
        case empty
        case bytes([UInt8])
        /// Content written piece by piece, sent in the chunked coding; the closure may wait for whatever it sends.
        case stream(@Sendable (BodyWriter) async throws -> Void)
        /// 101: once the head is on the wire the socket belongs to the closure, and HTTP is done with it.
        case upgrade(@Sendable (consuming UpgradedSocket) -> Void)
    }

    /// Fields of the request that the connection made the answer depend on (RFC 9110 §12.5.5).
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

    /// Hands the socket over to another protocol (RFC 9110 §7.8).
    public static func upgrade(
        to name: String, fields: [HeaderField] = [], _ takeOver: @escaping @Sendable (consuming UpgradedSocket) -> Void
    ) -> Response {
        Response(.switchingProtocols, fields: [HeaderField("upgrade", name)] + fields, body: .upgrade(takeOver))
    }

    /// The first field of that name, letters without regard to case.
    public func field(_ name: StaticString) -> String? {
        for field in fields where field.name.equalsIgnoringCase(name) { return field.value }
        return nil
    }

    var byteCount: Int {
        if case .bytes(let bytes) = body { bytes.count } else { 0 }
    }
}
