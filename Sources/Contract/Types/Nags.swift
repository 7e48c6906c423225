import Domain
import JSON

extension NagResponse {
    /// The entity tag for `If-Match`, which changes with every edit and with the nag's status.
    public var etag: String {
        var hash = FNV1a()
        for text in [status.rawValue, category.rawValue, doneDefinition.rawValue, description ?? ""] {
            hash.mix(text.utf8)
            hash.mix(CollectionOfOne(0xFF))
        }
        for time in [dueAt, opensAt, completedAt, committedAt, recipientDismissedAt] {
            withUnsafeBytes(of: (time?.flooredToMillisecond.microseconds ?? .min).littleEndian) { hash.mix($0) }
        }
        return "\"\(String(hash.value, radix: 16))\""
    }
}

extension NagCreate {
    /// Checks the number of attachments.
    func check() throws(InvalidInput) {
        guard attachmentIDs.count <= AttachmentLimit.maxPerNag else {
            throw .tooMany("elements", max: AttachmentLimit.maxPerNag, in: "attachment_ids")
        }
    }
}
