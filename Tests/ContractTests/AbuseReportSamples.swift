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

    static let accountData = [
        Sample(
            API.createAccount, NoParameters(),
            AccountCreate(
                email: read("a@b.org"), displayName: "A",
                dateOfBirth: CivilDate(year: 1990, month: 2, day: 3).map(DateOfBirth.init)),
            AccountResponse(id: id(1), email: "a@b.org", displayName: "A", status: "active", createdAt: moment)),
        Sample(API.exportAccount, NoParameters(), NoBody(), things),
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
