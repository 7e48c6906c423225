import Contract
import Domain

extension Sample {
    // MARK: abuse reports

    private static let report = AbuseReportResponse(
        id: id(28), reporterID: id(1), targetID: id(4), reason: "Rude", status: .dismissed)
    private static let review = AbuseReportReview(
        report: report, familyID: nil, severity: .low, createdAt: moment, updatedAt: moment, age: 60,
        reviewDueAt: moment)
    private static let ofReport = AbuseReportPath(reportID: id(28))

    static let abuseReports = [
        Sample(
            API.createAbuseReport, NoParameters(), AbuseReportCreate(targetID: id(4), reason: "Rude"), report),
        Sample(API.getAbuseReport, ofReport, NoBody(), report),
        Sample(
            API.listAbuseReportReviews, AbuseReportReviewQuery(status: .open, page: page), NoBody(), page(review)),
        Sample(
            API.updateAbuseReportReview, ofReport,
            AbuseReportReviewUpdate(status: .investigating, severity: .critical, note: "Seen"), review),
    ]
}
