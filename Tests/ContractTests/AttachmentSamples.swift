import Contract
import Domain

extension Sample {
    // MARK: attachments

    static let attachments = [
        Sample(
            // A form: bytes of its own format.
            API.createAttachment, NoParameters(), Bytes([]),
            AttachmentResponse(id: id(28), filename: "image.jpg", contentType: "image/jpeg", size: 10)),
        Sample(API.getAttachment, AttachmentPath(attachmentID: id(28)), NoBody(), Bytes([0xFF, 0xD8])),
    ]
}
