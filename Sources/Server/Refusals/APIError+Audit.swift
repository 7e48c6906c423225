import Contract

/// The refusals about the audit log and its checks, family reports, deliveries and devices.
extension APIError {
    // MARK: The audit log of a family

    static let noSuchAuditEntry = APIError(.notFound, "There is no such entry.")
    static let auditCursorIsUnknown = APIError(
        .validationFailed, "This cursor is of another family's audit log. Begin again without one.", field: "cursor")
    static let exportStartIsNegative = APIError(
        .validationFailed, "The number of the entry to export after must not be negative.", field: "after")
    static let auditRangeIsInvalid = APIError(
        .validationFailed, "The range must end after it begins, and be eleven years long at most.", field: "from")

    // MARK: Checks

    static let noSuchAuditFinding = APIError(.notFound, "There is no such finding.")
    static let noSuchAuditLog = APIError(
        .notFound, "There is no family or connection with this ID.", field: "family_id")
    static let auditCheckNeedsFamily = APIError(.validationFailed, "Name the family to check.", field: "family_id")
    static let noAuditLog = APIError(.conflict, "This server keeps no log that could be checked.")

    // MARK: The Merkle log

    static let noCheckpoint = APIError(.notFound, "There is no checkpoint yet. Try again in a minute.")
    static let noSuchTile = APIError(.notFound, "There is no such tile.")
    static let oldSizeIsInvalid = APIError(
        .validationFailed, "The old size must be from 1 to the new one.", field: "old")
    static let newSizeIsInvalid = APIError(
        .validationFailed, "The new size must not be more than the log's size.", field: "new")

    // MARK: Reports and deliveries

    static let reportEndsBeforeStart = APIError(
        .validationFailed, "The first day of the report must not lie after its last day.", field: "from_date")
    static let noSuchDelivery = APIError(.notFound, "There is no such delivery.")
    static let deliveryHasNotFailed = APIError(.conflict, "Only a failed delivery can be sent again.")

    // MARK: Devices

    static let noSuchDevice = APIError(.notFound, "There is no such device.")
    static let deviceIsContended = APIError(
        .conflict, "Other accounts are registering this device at the same time. Try again.")
    static let webPushIsNotConfigured = APIError(
        .conflict, "This server sends no messages to browsers.", reason: ErrorReason.webPushNotConfigured)
    static let webPushEndpointIsInvalid = APIError(
        InvalidInput("must be the https address that the browser subscribed at", field: "subscription.endpoint"))
    static let webPushKeysAreInvalid = APIError(
        InvalidInput("must be those of a browser's subscription", field: "subscription.keys"))
}
