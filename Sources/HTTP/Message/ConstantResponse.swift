/// A 200 response that is the same for all clients, with its entity tag. It is compressed once, when it is created.
public struct ConstantResponse: Sendable {
    private let plain: Response
    /// The compressed response; nil if it would not be smaller or the media type is not worth compressing.
    private let compressed: Response?
    private let tag: EntityTag

    public init(_ mediaType: MediaType, fields: [HeaderField] = [], bytes: [UInt8]) {
        tag = EntityTag(over: bytes)
        var plain = Response(.ok, mediaType, fields: fields, bytes: bytes)
        var compressed: Response?
        if mediaType.isCompressible, let smaller = Deflater(level: 6).compress(bytes) {
            plain.vary.insert(.acceptEncoding)
            compressed = plain
            compressed?.fields.append(HeaderField("content-encoding", "gzip"))
            compressed?.body = .bytes(smaller)
        }
        (self.plain, self.compressed) = (plain, compressed)
    }

    /// Returns the response, or a 304 for a GET or HEAD whose If-None-Match contains its tag or `*`.
    public func response(to request: borrowing Request) -> Response {
        let response = request.headers.acceptsGzip ? compressed ?? plain : plain
        return response.taggedOrNotModified(tag, for: request)
    }
}
