import Domain

extension API {
    /// Upload a picture.
    public static let createAttachment = Endpoint<NoParameters, Bytes, AttachmentResponse>(
        Operation(
            "createAttachment", .post, "/api/v1/attachments", tag: .attachments, status: 201, tier: .frequentWrite,
            bodyLimit: AttachmentLimit.size + formOverhead))

    /// Get a picture.
    public static let getAttachment = Endpoint<AttachmentPath, NoBody, Bytes>(
        Operation(
            "getAttachment", .get, "/api/v1/attachments/{attachment_id}", tag: .attachments, tier: .nagDetail))

    /// Bytes of a form beside the picture in it: boundaries and heads of parts.
    private static let formOverhead = 64 << 10

    static let attachmentsOperations: [Operation] = [createAttachment.operation, getAttachment.operation]
}

// MARK: Parameters

/// Path parameter: one picture.
public struct AttachmentPath: WireParameters, Hashable {
    public var attachmentID: AttachmentID

    public init(attachmentID: AttachmentID) { self.attachmentID = attachmentID }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        attachmentID = try parameters.path("attachment_id")
    }

    public func write(to parameters: inout ParameterWriter) { parameters.path("attachment_id", attachmentID) }
}
