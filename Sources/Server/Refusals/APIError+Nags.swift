import Contract
import Domain

/// The refusals about nags, their series and excuses, and pictures.
extension APIError {
    // MARK: Nags

    static let noSuchNag = APIError(.notFound, "There is no such nag.")
    static let nagHasChanged = APIError(
        .preconditionFailed, "The nag has been changed since you read it. Read it again.")
    static let nagNeedsFamily = APIError(.validationFailed, "Give the family the nag is for.", field: "family_id")
    static let nagHasTwoFamilies = APIError(
        .validationFailed, "Give a family or a connection, not both.", field: "connection_id")
    static let connectionHasNoPolicies = APIError(
        .validationFailed, "A connection has no policies.", field: "policy_id")
    static let policyIsUnknown = APIError(.validationFailed, "The family has no such policy.", field: "policy_id")
    static let statusIsNotCompleted = APIError(
        .validationFailed, "A nag can only be reported as completed.", field: "status")
    /// - Parameters:
    ///   - denial: the denial for a daily limit.
    ///   - resetSentence: a sentence on when the person can send again, as in `NagLimit.resetSentence`.
    static func nagLimitIsReached(_ denial: Denial, resetSentence: String) -> APIError {
        APIError(.policyForbidden, "\(denial.message) \(resetSentence)", reason: denial.rawValue)
    }
    static func tooManyNags(_ denial: Denial, limit count: Int, resetSentence: String) -> APIError {
        APIError(
            .policyForbidden, "You have sent \(count) nags today, as many as this family allows. \(resetSentence)",
            reason: denial.rawValue)
    }
    static func tooManyNagsOverConnection(_ denial: Denial, limit count: Int, resetSentence: String) -> APIError {
        APIError(
            .policyForbidden,
            "You have sent \(count) nags over this connection today, which is the maximum. \(resetSentence)",
            reason: denial.rawValue)
    }

    // MARK: Due times

    /// - Parameter fault: as in `DueTimeLimit.fault`.
    static func dueTimeIsInvalid(_ fault: String) -> APIError {
        APIError(.validationFailed, fault, field: "due_at")
    }
    static let promiseIsPast = APIError(
        .validationFailed, "The promised time must lie in the future.", field: "committed_at")
    static let snoozeIsNotLater = APIError(.validationFailed, Denial.snoozeNotLater, field: "due_at")
    static func snoozeIsTooLong(limit minutes: Int) -> APIError {
        APIError(
            .validationFailed, "You can snooze a nag by at most \(minutes) minutes at a time.", field: "due_at",
            reason: Denial.snoozeTooLong.rawValue)
    }
    /// Returns the same refusal with the ID of the draft that proposes the refused due time to the nag's creator. Its
    /// message also says that the time was proposed.
    func proposing(_ draft: DraftID) -> APIError {
        var refusal = self
        refusal.message += " The later time was proposed to the person who made the nag."
        refusal.draftID = draft
        return refusal
    }

    // MARK: Series

    static func instanceIsNotOpen(from time: String, on date: String, zone: String, opensAt: Timestamp) -> APIError {
        var error = APIError(
            .conflict, "It is too early to complete this nag. It can be completed from \(time) on \(date) (\(zone)).",
            reason: ErrorReason.notYet)
        error.opensAt = opensAt
        return error
    }
    static let instancesAreTooClose = APIError(
        .validationFailed, "This is too close to the nag before it in the series. Give a later time.", field: "due_at")
    static let nagHasNextInstance = APIError(
        .conflict, "The next nag of this series exists already. Move the series with that one.",
        reason: ErrorReason.hasNextInstance)
    static let nagIsNoSeries = APIError(
        .validationFailed, "Only a due time of a nag that repeats can be moved for the whole series.", field: "scope")

    // MARK: Excuses

    static let excuseCategoryIsUnknown = APIError(
        .validationFailed, "There is no such category of excuses.", field: "category")

    // MARK: Pictures

    static let noSuchPicture = APIError(.notFound, "There is no such picture.")
    static let picturesAreNotUsable = APIError(
        .validationFailed, "Give pictures that you uploaded within the last day, and each to one nag only.",
        field: "attachment_ids")
    static let uploadHasNoFile = APIError(.validationFailed, "Send one part with the name file.", field: "file")
    static let pictureIsTooLarge = APIError(
        .payloadTooLarge, "A picture has at most \(AttachmentLimit.maxBytes >> 20) MB.")
    static let tooManyPicturesAtOnce = APIError(.unavailable, "Too many pictures at once. Try again.", retryAfter: 1)
    static let noMemoryForPicture = APIError(
        .unavailable, "The server has no memory for this picture now. Try again.", retryAfter: 1)
    static let tooManyUnusedPictures = APIError(
        .rateLimited,
        "You have \(AttachmentLimit.maxUnusedBytesPerPerson >> 20) MB of pictures that no nag uses, as much as one can have. Use them, or try again in an hour.",
        retryAfter: 3_600)
    static func rangeIsNotSatisfiable(size: Int) -> APIError {
        APIError(
            .validationFailed, "The requested range is outside the picture, which has \(size) bytes.", field: "range",
            status: 416)
    }
}
