import Domain

extension API {
    /// Report somebody.
    public static let createAbuseReport = Endpoint<NoParameters, AbuseReportCreate, AbuseReportResponse>(
        Operation("createAbuseReport", .post, "/api/v1/abuse-reports", tag: .safety, status: 201))

    /// One report, for its reporter and the guardians of their family.
    public static let getAbuseReport = Endpoint<AbuseReportPath, NoBody, AbuseReportResponse>(
        Operation("getAbuseReport", .get, "/api/v1/abuse-reports/{report_id}", tag: .safety))

    /// List the reports to review.
    public static let listAbuseReportReviews = Endpoint<AbuseReportReviewQuery, NoBody, Page<AbuseReportReview>>(
        Operation("listAbuseReportReviews", .get, "/api/v1/admin/abuse-reports", tag: .safety))

    /// One report as administrators review it.
    public static let getAbuseReportReview = Endpoint<AbuseReportPath, NoBody, AbuseReportReview>(
        Operation("getAbuseReportReview", .get, "/api/v1/admin/abuse-reports/{report_id}", tag: .safety))

    /// Continue the review of a report.
    public static let updateAbuseReportReview = Endpoint<
        AbuseReportPath, AbuseReportReviewUpdate, AbuseReportReview
    >(
        Operation("updateAbuseReportReview", .patch, "/api/v1/admin/abuse-reports/{report_id}", tag: .safety))

    static let abuseReportsOperations: [Operation] = [
        createAbuseReport.operation, getAbuseReport.operation, listAbuseReportReviews.operation,
        getAbuseReportReview.operation, updateAbuseReportReview.operation,
    ]
}

// MARK: Parameters

/// The report in a path.
public struct AbuseReportPath: WireParameters, Hashable {
    public var reportID: AbuseReportID

    public init(reportID: AbuseReportID) {
        self.reportID = reportID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        reportID = try parameters.path("report_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("report_id", reportID)
    }
}

/// The reports that an administrator sees.
public struct AbuseReportReviewQuery: WireParameters, Hashable {
    /// The status to filter by; nil for all reports.
    public var status: AbuseReportStatus?
    public var page: PageRequest

    public init(status: AbuseReportStatus? = nil, page: PageRequest = PageRequest()) {
        self.status = status
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        status = try parameters.optionalQuery("status")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("status", status)
        page.write(to: &parameters)
    }
}
