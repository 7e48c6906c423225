import Contract
import Domain
import NagzAI

/// The refusals about drafts, inputs of devices and imports.
extension APIError {
    // MARK: Drafts

    static let noSuchDraft = APIError(.notFound, "There is no such draft.")
    static let noSuchDraftOfList = APIError(.notFound, noSuchDraft.message, field: "drafts")
    static let draftHasChanged = APIError(
        .preconditionFailed, "This draft has changed in the meantime. Read it again.")
    /// The refusal of a request that names another version than the draft's current one.
    static let draftVersionHasChanged = APIError(.conflict, draftHasChanged.message, reason: "version_changed")
    static let draftHasTooManyVersions = APIError(
        .conflict,
        "This draft was edited \(DraftVersion.versionRange.upperBound - 1) times, which is the maximum. Make another one."
    )
    static func draftLacksStep(_ step: DraftStep) -> APIError {
        APIError(.conflict, "First \(step.rawValue) this draft.", reason: "\(step.rawValue)_missing")
    }
    static func draftHasEnded(_ state: DraftState, _ reason: DraftEndReason?) -> APIError {
        switch reason {
        case .consentMissing:
            APIError(
                .conflict, "This draft ended when the consent to AI mediation was revoked. Make another one.",
                reason: DraftEndReason.consentMissing.rawValue)
        case .modeOff:
            APIError(
                .conflict, "This draft ended when its author switched the AI off. Make another one.",
                reason: DraftEndReason.modeOff.rawValue)
        case nil: APIError(.conflict, "This draft is \(state.rawValue).", reason: state.rawValue)
        }
    }
    static let sideEffectsDiffer = APIError(
        .validationFailed, "Name exactly the side effects of this draft.", field: "acknowledged_side_effects")
    static let draftConfirmationIsMissing = APIError(
        .validationFailed, "Confirm this draft, and send the confirmation that you get.", field: "confirmation")
    static let draftConfirmationIsInvalid = APIError(
        .conflict, "This confirmation is another person's, was used before, or came too late. Confirm again.",
        reason: "confirmation_invalid")

    // MARK: Content of drafts

    static let draftNeedsNag = APIError(
        .validationFailed, "A draft of this kind is about a nag. Name the nag.", field: "nag_id")
    static let draftNeedsBody = APIError(.validationFailed, "Say what this draft is to do.", field: "body")
    static let draftNeedsWords = APIError(
        .validationFailed, "Give the words to draft from, or say what the draft is to do.", field: "text")
    /// - Parameter warning: a sentence about words that were not understood as a time; nil where no words are about a
    ///   time.
    static func wordsNameNoTime(_ warning: String?) -> APIError {
        APIError(
            .validationFailed,
            warning.map { "\($0) Say it another way, such as: tomorrow at 5." }
                ?? "The words name no time, such as: tomorrow at 5.",
            field: "text")
    }
    static let noSuchRows = APIError(
        .notFound, "There are no such rows. Select some that you can see.", field: "context_ids")
    static let rowsAreForDigests = APIError(
        .validationFailed, "Only a digest without a body is made of selected rows. Leave the rows out.",
        field: "context_ids")
    static let digestNeedsNags = APIError(
        .validationFailed, "Select nags that were done or missed in the last seven days, or are open.",
        field: "context_ids")
    static let digestNeedsRecipients = APIError(
        .validationFailed, "Say whom the digest is for.", field: "recipient_ids")
    static let digestIsForOthers = APIError(
        .validationFailed, "Choose a recipient beside the author of the digest.", field: "recipient_ids")
    /// - Parameter reason: as in `PushBackResponse`.
    static func pushBackIsLimited(_ reason: String) -> APIError {
        APIError(
            .conflict, "The limits of push-backs allow none now: \(reason.replacing("_", with: " ")).", reason: reason)
    }

    // MARK: Inputs

    static let inputNeedsNag = APIError(.validationFailed, "Give the nag that this is about.", field: "nag_id")
    static let inputIDWasUsed = APIError(
        .validationFailed, "This ID was used for another input. Choose another one.")
    static let noSuchInput = APIError(.notFound, "There is no such input on this nag.")
    static let noSuchOtherInput = APIError(.notFound, "The other input does not exist.")
    static let inputRelatesToItself = APIError(.validationFailed, "An input is not related to itself.", field: "of")
    static let otherInputWasMerged = APIError(
        .conflict, "The other input was merged itself. Name the one that it was merged into.")
    static let dictationDoesNotFitDraft = APIError(
        .validationFailed, "A dictated nag becomes a draft, which has no recurrence, policy or pictures.", field: "nag")
    static func dictationIsTooLong(limit length: Int) -> APIError {
        APIError(
            .validationFailed, "A dictated nag becomes a draft, whose words have at most \(length) characters.",
            field: "nag")
    }

    // MARK: Imports

    static let noSuchImport = APIError(.notFound, "There is no such import.")
    static let itemsAreRepeated = APIError(.validationFailed, "The items must have each ID once.", field: "items")
    static let importIDWasUsed = APIError(
        .conflict, "This import ID was used for other items. Choose another one.", field: "import_id",
        reason: "import_id_used")
    /// - Parameter others: whether there are other entries, which are invalid as well.
    static func importIsInvalid(_ first: ImportFault, others: Bool) -> APIError {
        APIError(
            .validationFailed, "Entry 1: \(first.message)\(others ? " The other entries are invalid, too." : "")",
            field: first.field)
    }
}
