import Contract
import Domain

/// The refusals about families, their members and children, consents, preferences and policies.
extension APIError {
    // MARK: Members

    static let noSuchMember = APIError(.notFound, "There is no such member.")
    static let noSuchChild = APIError(.notFound, "There is no such child.")
    static let inviteCodeIsUnknown = APIError(
        .notFound, "No family has this invite code. Ask a guardian for the current one.")
    static let personHasFamily = APIError(
        .conflict, "A person can be in one family at a time, and has to leave the other one first.")
    static let memberHasRole = APIError(.conflict, "This person already has that role in the family.")
    static let under13IsChild = APIError(.policyForbidden, "Somebody under 13 can only be added as a child.")
    static let childrenNeedConsent = APIError(
        .policyForbidden, "Before a child can be added, a guardian must consent to children's accounts in this family.",
        reason: ErrorReason.consentMissing)
    static let timeZoneIsUnknown = APIError(
        InvalidInput("must be a zone of the IANA time zone database, such as Europe/Berlin", field: "time_zone"))

    // MARK: Children's sign-in

    static let memberIsNoChild = APIError(
        .validationFailed, "This member is not a child. Only children have a user name and a PIN.")
    static let userNameIsTaken = APIError(
        .conflict, "Another child of the family has this user name. Choose another one.", field: "username")
    static func userNameOrPINIsMissing(field: String) -> APIError {
        APIError(InvalidInput("is required: a user name and a PIN come together", field: field))
    }
    static let userNameIsForChildren = APIError(InvalidInput("is for children only", field: "username"))
    static let noPIN = APIError(.notFound, "There is no PIN to change. Ask a guardian to set one.")
    static let pinIsWrong = APIError(.validationFailed, "This is not your PIN. Try again.", field: "current_pin")
    static let onlyChildChangesPIN = APIError(
        .authorizationDenied, "Only the child can change this PIN. A guardian can set a new one.")
    static func quietHoursAreIncomplete(field: String) -> APIError {
        APIError(InvalidInput("must be given when quiet hours have another end", field: field))
    }

    // MARK: Consents

    static let noSuchConsent = APIError(.notFound, "There is no such consent.")
    static let consentNeedsFamily = APIError(InvalidInput("is required", field: "family_id"))
    static let consentStaysRevoked = APIError(
        .validationFailed, "A revoked consent stays revoked. Grant it again.", field: "revoked")
    static let childrenGrantNoConsents = APIError(
        .policyForbidden, "Children cannot grant consents. Ask a guardian.")

    // MARK: Preferences

    static let preferencesHaveChanged = APIError(
        .preconditionFailed, "These preferences have changed in the meantime. Read them again.")
    static func preferencesAreTooLarge(limit bytes: Int) -> APIError {
        APIError(InvalidInput("must have at most \(bytes) bytes in all", field: "prefs_json"))
    }
    static func policyDecides(field: String) -> APIError {
        APIError(.policyInvalidValue, InvalidInput("is for the family's policy to decide", field: field))
    }

    // MARK: Policies

    static let noSuchPolicy = APIError(.notFound, "There is no such policy.")
    static let policyHasChanged = APIError(
        .preconditionFailed, "This policy has changed in the meantime. Read it again.")
    /// - Parameter earliest: the time from which the last approval is permitted.
    static func approvalIsTooEarly(earliest: Timestamp) -> APIError {
        APIError(
            .conflict,
            "An owner of this policy left. The proposal of a new co-owner can take effect 72 hours after it was made. Try again after \(earliest.rfc3339).",
            reason: ErrorReason.notYet)
    }
    static let policyHasTooManyOwners = APIError(
        .policyInvalidValue, InvalidInput("must be one or two guardians", field: "owners"))
    static let ownersAreNoGuardians = APIError(
        .policyInvalidValue, InvalidInput("must be guardians of this family who can sign in", field: "owners"))
    static func policyLimitIsInvalid(_ violation: PolicyViolation) -> APIError {
        APIError(.policyInvalidValue, violation.message, field: "constraints.\(violation.field.rawValue)")
    }
    static func policyLimitIsInvalid(_ name: String, _ fault: String) -> APIError {
        APIError(.policyInvalidValue, InvalidInput(fault, field: "constraints.\(name)"))
    }
    static func policyHasTooManyUnknownLimits(limit count: Int) -> APIError {
        APIError(
            .policyInvalidValue, "A policy can have at most \(count) limits that this server does not know.",
            field: "constraints")
    }
    static func policyLimitNameIsInvalid(limit length: Int) -> APIError {
        APIError(
            .policyInvalidValue, "The names of a policy's limits have 1 to \(length) characters.", field: "constraints")
    }
    static let policyIsUnreadable = APIError(
        .policyInvalidValue, InvalidInput("cannot be read", field: "constraints"))
}
