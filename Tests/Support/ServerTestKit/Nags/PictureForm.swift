import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server

/// Makes multipart forms with pictures, as a client sends them.
enum PictureForm {
    private static let boundary = "nagz-test-boundary"
    static let contentType = "multipart/form-data; boundary=\(boundary)"

    static func isForm(_ content: [UInt8]) -> Bool { content.starts(with: "--\(boundary)\r\n".utf8) }

    static func form(
        _ bytes: [UInt8], name: String = "file", filename: String = "image.jpg", fields: String = ""
    ) -> [UInt8] {
        part(bytes, name: name, filename: filename, fields: fields) + end
    }

    static func part(
        _ bytes: [UInt8], name: String = "file", filename: String = "image.jpg", fields: String = ""
    ) -> [UInt8] {
        let head = "Content-Disposition: form-data; name=\"\(name)\"; filename=\"\(filename)\"\r\n"
        return Array("--\(boundary)\r\n\(head)Content-Type: image/jpeg\r\n\(fields)\r\n".utf8) + bytes
            + Array("\r\n".utf8)
    }

    static let end = Array("--\(boundary)--\r\n".utf8)

    // MARK: Pictures

    private static func segment(_ marker: UInt8, _ content: [UInt8]) -> [UInt8] {
        [0xFF, marker, UInt8((content.count + 2) >> 8), UInt8((content.count + 2) & 0xFF)] + content
    }

    /// Returns a JPEG with `count` bytes of pixels, and by default with a comment that reveals a place.
    static func jpeg(_ count: Int = 100, comment: String? = "52.5 N") -> [UInt8] {
        [0xFF, 0xD8] + (comment.map { segment(0xFE, Array($0.utf8)) } ?? [])
            + segment(0xC0, [8, 0, 1, 0, 1, 1, 1, 0x11, 0]) + segment(0xDA, [1, 1, 0, 0, 63, 0])
            + [UInt8](repeating: 0x12, count: count) + [0xFF, 0xD9]
    }

    /// Returns a PNG with a text.
    static func png(text: String) -> [UInt8] {
        [0x89] + Array("PNG\r\n\u{1A}\n".utf8)
            + chunk("IHDR", [0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]) + chunk("tEXt", Array(text.utf8))
            + chunk("IDAT", [1, 2, 3]) + chunk("IEND", [])
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let text = Array(name.utf8) + content
        var crc = UInt32.max
        for byte in text {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? 0xEDB8_8320 ^ (crc >> 1) : crc >> 1 }
        }
        return number(UInt32(content.count)) + text + number(~crc)
    }

    private static func number(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
    }
}

extension TestServer {
    @discardableResult
    func upload(_ bytes: [UInt8] = PictureForm.jpeg(), as person: TestPerson) async throws -> AttachmentResponse {
        try await call(API.createAttachment, Bytes(PictureForm.form(bytes)), as: person)
    }

    /// Returns the response to a request for a picture.
    func picture(_ id: AttachmentID, as person: TestPerson, _ headers: [String: String] = [:]) async throws -> Reply {
        try await call("GET", "/api/v1/attachments/\(id.wireText)", as: person, headers: headers)
    }

    /// Creates a nag with pictures through the API.
    func nag(
        from creator: TestPerson, to recipient: TestPerson, with attachments: [AttachmentID],
        every recurrence: Recurrence? = nil
    ) async throws -> NagResponse {
        var order = order(for: recipient, in: creator.familyID, every: recurrence)
        order.attachmentIDs = attachments
        return try await call(API.createNag, order, as: creator)
    }

    /// Inserts a picture of a nag into the database.
    func insertAttachment(of uploader: TestPerson, for nag: NagID, in family: FamilyID) async throws -> AttachmentID {
        let id: AttachmentID = random.identifier(at: clock.now())
        try await sql(
            """
            INSERT INTO attachments (id, uploader_id, filename, content_type, size, digest, created_at, is_used, bytes)
            VALUES (\(id), \(uploader.id), 'image.jpg', 'image/jpeg', 3, sha256('abc'), \(clock.now()), true, 'abc')
            """)
        try await sql("INSERT INTO nag_attachments VALUES (\(id), \(family), \(nag), 1)")
        return id
    }
}
