import Contract
import Domain
import JSON

extension Sample {
    // MARK: abuse reports

    private static let report = AbuseReportResponse(
        id: id(28), reporterID: id(1), targetID: id(4), reason: "Rude", status: .dismissed)
    private static let review = AbuseReportReview(
        report: report, familyID: nil, severity: .low, createdAt: moment, updatedAt: moment, age: 60,
        reviewDueAt: moment)
    private static let ofReport = AbuseReportPath(reportID: id(28))

    // MARK: accounts

    private static let things = AccountExport(
        sections: Dictionary(
            uniqueKeysWithValues: AccountExport.Section.allCases.map { ($0, [["id": "a", "list": [1, nil]]]) }))

    private static let code: AccountCode = read("ABCDEFGHJKMNPQRSTUVW")
    private static let account = AccountResponse(
        id: id(1), email: "a@b.org", displayName: "A", status: "active", createdAt: moment)

    private static let me = MeResponse(
        id: id(1), email: "a@b.org", phone: read("+4930123456"), displayName: nil, status: "active", createdAt: moment,
        isAdministrator: false, family: MyFamily(familyID: id(2), name: "F", role: .participant, joinedAt: moment),
        consents: [.aiMediation], switchedOn: SwitchedOn(ai: true, points: false, sms: false), webPushKey: "BA")

    static let accountData = [
        Sample(
            API.createAccount, NoParameters(),
            AccountCreate(
                email: read("a@b.org"), displayName: "A",
                dateOfBirth: CivilDate(year: 1990, month: 2, day: 3).map(DateOfBirth.init)),
            AccountResponse(id: id(1), email: "a@b.org", displayName: "A", status: "active", createdAt: moment)),
        Sample(API.exportAccount, NoParameters(), NoBody(), things),
        Sample(API.getMe, NoParameters(), NoBody(), me),
        Sample(API.updateMe, NoParameters(), MeUpdate(displayName: "B"), account),
        Sample(
            API.changePassword, NoParameters(), PasswordChange(password: Secret("x"), newPassword: Secret("12345678")),
            NoAnswer()),
        Sample(
            API.requestEmailChange, NoParameters(), EmailChangeRequest(password: Secret("x"), email: read("b@b.org")),
            StatusAnswer(status: "accepted")),
        Sample(API.confirmEmailChange, NoParameters(), EmailChangeConfirmation(code: code), account),
        Sample(
            API.requestPhone, NoParameters(), PhoneRequest(password: Secret("x"), phone: read("+4930123456")),
            StatusAnswer(status: "accepted")),
        Sample(API.confirmPhone, NoParameters(), PhoneConfirmation(code: read("123456")), me),
        Sample(API.deletePhone, NoParameters(), NoBody(), NoAnswer()),
        Sample(
            API.listSessions, page, NoBody(),
            page(
                SessionResponse(
                    id: id(9), createdAt: moment, lastUsedAt: moment, expiresAt: moment, client: "curl/8",
                    isChild: false,
                    isCurrent: true))),
        Sample(API.endSession, SessionPath(sessionID: id(9)), NoBody(), NoAnswer()),
        Sample(
            API.createSocketTicket, NoParameters(), NoBody(), SocketTicket(ticket: Secret("t"), expiresIn: 30)),
        Sample(API.endOtherSessions, NoParameters(), NoBody(), NoAnswer()),
        Sample(
            API.requestPasswordReset, NoParameters(), PasswordResetRequest(email: read("b@b.org")),
            StatusAnswer(status: "accepted")),
        Sample(
            API.resetPassword, NoParameters(), PasswordReset(code: code, newPassword: Secret("12345678")), NoAnswer()),
    ]

    static let abuseReports = [
        Sample(
            API.createAbuseReport, NoParameters(), AbuseReportCreate(targetID: id(4), reason: "Rude"), report),
        Sample(API.getAbuseReport, ofReport, NoBody(), report),
        Sample(
            API.listAbuseReportReviews, AbuseReportReviewQuery(status: .open, page: page), NoBody(), page(review)),
        Sample(API.getAbuseReportReview, ofReport, NoBody(), review),
        Sample(
            API.updateAbuseReportReview, ofReport,
            AbuseReportReviewUpdate(status: .investigating, severity: .critical, note: "Seen"), review),
    ]
}
