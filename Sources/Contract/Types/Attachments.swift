import Domain
import JSON

/// A picture that was uploaded.
public struct AttachmentResponse: Hashable, WireObject {
    public var id: AttachmentID
    public var url: AttachmentURL
    public var filename: String
    /// The media type by the picture's content, whatever the client called it.
    public var contentType: String
    /// Bytes that are kept, without the metadata that was removed.
    public var size: Int

    public init(id: AttachmentID, filename: String, contentType: String, size: Int) {
        self.id = id
        url = AttachmentURL(id)
        self.filename = filename
        self.contentType = contentType
        self.size = size
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        url = try fields.required("url")
        filename = try fields.required("filename")
        contentType = try fields.required("content_type")
        size = try fields.required("size")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("url", url)
            json.field("filename", filename)
            json.field("content_type", contentType)
            json.field("size", size)
        }
    }
}

/// The path of a picture, relative to `/api/v1`: `/attachments/{id}`.
public struct AttachmentURL: WireText, Hashable {
    public let id: AttachmentID

    public init(_ id: AttachmentID) { self.id = id }

    public init(wireText: String) throws(InvalidInput) {
        guard wireText.hasPrefix(Self.start) else { throw InvalidInput("must be the path of an attachment") }
        id = try AttachmentID(wireText: String(wireText.dropFirst(Self.start.count)))
    }

    public var wireText: String { Self.start + id.wireText }

    private static let start = "/attachments/"
}
