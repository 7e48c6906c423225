import Contract
import Domain

/// The refusals about connections between families, blocks, relationships and reports of abuse.
extension APIError {
    // MARK: Connections

    static let noSuchConnection = APIError(.notFound, "There is no such connection.")
    static let connectionIsNotActive = APIError(.conflict, Denial.connectionNotActive.message)
    static let connectionExists = APIError(.conflict, "The two of you are connected already.")
    static let tooManyConnections = APIError(
        .conflict,
        "One of you has \(ConnectionLimit.maxActiveConnections) connections, which is the maximum. End one of them first."
    )

    // MARK: Invitations

    static let invitesSelf = APIError(.validationFailed, "You cannot invite yourself.", field: "invitee_email")
    static let invitationIsClosed = APIError(.conflict, "This invitation is no longer open.")
    static let invitationWasDeclined = APIError(.conflict, "This invitation was declined.")
    static let tooManyOpenInvitations = APIError(
        .conflict,
        "You have \(ConnectionLimit.maxOpenInvitations) open invitations, which is the maximum. Revoke one of them first."
    )
    static func tooManyInvitations(until end: Timestamp, at now: Timestamp) -> APIError {
        APIError(
            .rateLimited,
            "You have sent \(ConnectionLimit.invitationsPerDay) invitations within 24 hours, which is the maximum. Try again after \(end.minuteText).",
            retryAfter: retrySeconds(from: now, to: end))
    }
    static func tooManyInvitationsToAddress(until end: Timestamp, at now: Timestamp) -> APIError {
        APIError(
            .rateLimited,
            "You have invited this address \(ConnectionLimit.invitationsPerAddressAndMonth) times within 30 days, which is the maximum. Try again after \(end.minuteText).",
            retryAfter: retrySeconds(from: now, to: end))
    }

    // MARK: Blocks and relationships

    static let noSuchUser = APIError(.notFound, "There is no such user.")
    static let noSuchBlock = APIError(.notFound, "There is no such block.")
    static let blocksSelf = APIError(.validationFailed, "You cannot block yourself.", field: "target_id")
    static let noSuchRelationship = APIError(.notFound, "There is no such relationship.")

    // MARK: Reports of abuse

    static let noSuchAbuseReport = APIError(.notFound, "There is no such report.")
    static let reportsSelf = APIError(.validationFailed, "You cannot report yourself.", field: "target_id")
    static func tooManyAbuseReports(until end: Timestamp, at now: Timestamp) -> APIError {
        APIError(
            .rateLimited,
            "You have made \(AbuseReportLimit.reportsPerWindow) reports within an hour, which is the maximum. Try again after \(end.minuteText).",
            retryAfter: retrySeconds(from: now, to: end))
    }
    static let abuseReportStatusIsInvalid = APIError(
        .conflict, "A report goes from open to investigating, and from there to resolved or dismissed.",
        field: "status")
}
