import Audit
import Contract
import Domain
import HTTP
import Pictures
import Postgres

extension Attachments {
    /// Returns a picture or a part of it, for its uploader and for everybody who may read its nag.
    func get(_ caller: Caller, _ call: Call<AttachmentPath, NoBody>, _ headers: Headers) async throws -> Response {
        let id = call.parameters.attachmentID
        let attachment = try await readableAttachment(id, by: caller)
        let tag = EntityTag(strong: hexadecimal(attachment.digest))
        let fields = [
            HeaderField("etag", tag.description), HeaderField("cache-control", "private, no-cache"),
            HeaderField("accept-ranges", "bytes"),
            HeaderField("content-disposition", AttachmentName.contentDisposition(attachment.filename)),
        ]
        if tag.matchesIfNoneMatch(of: headers) { return Response(.notModified, fields: fields) }
        let (status, range): (Status, Range<Int>)
        switch RequestedRange(headers, of: attachment.size, tag) {
        case .completeContent: (status, range) = (.ok, 0..<attachment.size)
        case .part(let part): (status, range) = (.partialContent, part)
        case .unsatisfiable:
            return RouteTable.errorResponse(
                APIError.rangeIsNotSatisfiable(size: attachment.size),
                caller.context.request.wireText, [HeaderField("content-range", "bytes */\(attachment.size)")])
        }
        // Memory for the received row and for the bytes that are copied from it.
        let memory = services.answerMemory.reserve(2 * range.count, for: caller.context.remote)
        guard memory != nil else { throw APIError.noMemoryForPicture }
        // Another request may have deleted the picture meanwhile.
        guard let row = try await services.database.query(AttachmentStatements.bytes(of: id, range)).first else {
            throw APIError.noSuchPicture
        }
        let bytes: [UInt8] = try row["bytes"]
        _ = memory
        let contentRange = HeaderField(
            "content-range", "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(attachment.size)")
        return Response(
            status, attachment.format.responseType,
            fields: status == .partialContent ? fields + [contentRange] : fields, bytes: bytes)
    }

    /// The data that is stored about a picture, without its bytes.
    private struct Description {
        let size: Int
        let digest: [UInt8]
        let filename: String
        let format: PictureFormat
    }

    /// Returns the description of a picture that the caller may read.
    /// - Throws: 404 for everybody else.
    private func readableAttachment(_ id: AttachmentID, by caller: Caller) async throws -> Description {
        let rows = try await services.database.query(
            AttachmentStatements.attachment(id, for: caller))
        guard let row = rows.first else { throw APIError.sessionHasEnded }
        try Access.requireActive(status: try row["account_status"])
        guard let type: String = try row["content_type"], let format = PictureFormat(rawValue: type),
            try isReadable(row, by: caller)
        else { throw APIError.noSuchPicture }
        return Description(
            size: try row["size"], digest: try row["digest"], filename: try row["filename"], format: format)
    }

    private func isReadable(_ row: Row, by caller: Caller) throws -> Bool {
        if try row["uploader_id"] == caller.userID { return true }
        guard let creator: UserID = try row["creator_id"], let recipient: UserID = try row["recipient_id"] else {
            return false
        }
        return RoleMatrix.denial(of: .read, by: try NagPart(row, for: caller, creator, recipient)) == nil
    }
}

extension PictureFormat {
    private static let responseTypes = Dictionary(
        uniqueKeysWithValues: allCases.map { format in
            let type = MediaType(
                format.mediaType, securityPolicy: "default-src 'none'; sandbox", isCompressible: false)
            return (format, type)
        })

    /// The media type of the response. Its policy keeps a picture that is opened by itself from loading or running
    /// anything.
    fileprivate var responseType: MediaType { Self.responseTypes[self] ?? .bytes }
}
