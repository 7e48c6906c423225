import Domain
import JSON

/// The path of a picture, relative to `/api/v1`: `/attachments/{id}`.
public struct AttachmentURL: WireText, Hashable {
    public let id: AttachmentID

    public init(_ id: AttachmentID) { self.id = id }

    public init(wireText: String) throws(InvalidInput) {
        guard wireText.hasPrefix(Self.prefix) else { throw .notAttachmentPath }
        id = try AttachmentID(wireText: String(wireText.dropFirst(Self.prefix.count)))
    }

    public var wireText: String { Self.prefix + id.wireText }

    private static let prefix = "/attachments/"
}

extension AttachmentResponse {
    public init(id: AttachmentID, filename: String, contentType: String, size: Int) {
        self.init(id: id, url: AttachmentURL(id), filename: filename, contentType: contentType, size: size)
    }
}
