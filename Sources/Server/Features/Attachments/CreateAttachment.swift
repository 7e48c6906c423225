import Audit
import Contract
import Domain
import HTTP
import Pictures
import Postgres
import Reactor

extension Attachments {
    /// Stores the picture that a form contains, without the picture's metadata. Nothing of a refused request is stored.
    func create(
        _ caller: Caller, _ call: Call<NoParameters, Bytes>, _ headers: Headers
    ) async throws -> Response {
        // The caller is checked before the form is read, so that whoever may not upload learns nothing from the
        // response.
        _ = try await services.access.account(caller, services.database)
        let body = call.body.bytes
        // Memory for the form, the cleaned picture, and the bytes on their way to the database.
        let memory = services.answerMemory.reserve(3 * body.count, for: caller.context.remote)
        guard memory != nil else { throw APIError.noMemoryForPicture }
        let answer = try await uploadLimiter.run(caller.userID) {
            let upload = try await clean(body, contentType: headers["content-type"] ?? "", for: caller.userID)
            return try await store(upload, caller)
        }
        _ = memory
        return Response(.created, .json, bytes: answer.content)
    }

    /// A clean picture with its SHA-256.
    private struct Upload: Sendable {
        let filename: String
        let picture: Picture
        let digest: [UInt8]

        /// - Parameter body: a form with one part called `file`.
        init(_ body: [UInt8], contentType: String) throws(APIError) {
            let form: MultipartForm
            do throws(MultipartError) {
                form = try MultipartForm(
                    parsing: body.span, MultipartBoundary(contentType: Array(contentType.utf8).span))
            } catch {
                throw APIError(error.isTooLarge ? .payloadTooLarge : .malformedRequest, error.reason)
            }
            let files = form.parts.filter { $0.name == "file" }
            guard files.count == 1, let file = files.first else { throw APIError.uploadHasNoFile }
            guard file.content.count <= AttachmentLimit.maxBytes else { throw APIError.pictureIsTooLarge }
            filename = AttachmentName.sanitized(file.filename)
            do throws(PictureError) {
                picture = try Picture(cleaning: Array(body[file.content]))
            } catch {
                throw APIError(.validationFailed, error.message, field: "file")
            }
            digest = sha256(picture.bytes)
        }
    }

    /// Checks and cleans the picture on a thread pool: it reads up to ten megabytes several times, which would block a
    /// loop.
    private func clean(_ body: [UInt8], contentType: String, for user: UserID) async throws -> Upload {
        let work: @Sendable () -> Result<Upload, APIError> = {
            Result { () throws(APIError) in try Upload(body, contentType: contentType) }
        }
        guard let pool = services.picturePool else { return try work().get() }
        let result: Result<Upload, APIError>
        do {
            result = try await pool.run(client: user.hashValue, work)
        } catch {
            throw APIError.tooManyPicturesAtOnce
        }
        return try result.get()
    }

    private func store(_ upload: Upload, _ caller: Caller) async throws -> AttachmentResponse {
        let bytes = upload.picture.bytes
        return try await services.writeToOwnChain(caller) { account, seq, queries in
            let unused = try await queries.query(AttachmentStatements.sumUnusedBytes(of: caller.userID)).onlyRow()
            guard try unused["size"] + bytes.count <= AttachmentLimit.maxUnusedBytesPerPerson else {
                throw APIError.tooManyUnusedPictures
            }
            let count = DailyCount(limit: .attachments, user: caller.userID)
            let answer = AttachmentResponse(
                id: services.random.identifier(at: caller.now), filename: upload.filename,
                contentType: upload.picture.format.mediaType, size: bytes.count)
            let act = Act(
                kind: .attachmentAdded, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                resource: answer.id.retyped(),
                details: ["content_type": answer.contentType, "size": "\(answer.size)"], stampedRows: 0,
                statements: [
                    AttachmentStatements.insert(
                        answer, bytes, digest: upload.digest, by: caller.userID, at: caller.now),
                    try await count.checkedIncrement(at: caller.now, queries),
                ])
            return .perform(act, answer)
        }
    }
}

extension PictureError {
    /// One plain sentence for the person who uploaded it.
    fileprivate var message: String {
        switch self {
        case .unknownFormat: "Send a picture: JPEG, PNG, GIF, WebP or HEIC."
        case .malformed: "The picture is damaged."
        case .tooManyPixels: "The picture has too many pixels."
        }
    }
}
