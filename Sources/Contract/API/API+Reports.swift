import Domain

extension API {
    /// Get the figures of a family's week.
    public static let getWeeklyReport = Endpoint<FamilyQuery, NoBody, WeeklyReportResponse>(
        Operation("getWeeklyReport", .get, "/api/v1/reports/family/weekly", tag: .reports))

    /// Get the figures of a family's nags in a period.
    public static let getFamilyMetrics = Endpoint<FamilyMetricsQuery, NoBody, FamilyMetricsResponse>(
        Operation("getFamilyMetrics", .get, "/api/v1/reports/family/metrics", tag: .reports))

    static let reportsOperations: [Operation] = [
        getWeeklyReport.operation, getFamilyMetrics.operation,
    ]
}

// MARK: Parameters

/// A family and a period.
public struct FamilyMetricsQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    public var fromDate: Timestamp?
    public var toDate: Timestamp?

    public init(familyID: FamilyID, fromDate: Timestamp? = nil, toDate: Timestamp? = nil) {
        self.familyID = familyID
        self.fromDate = fromDate
        self.toDate = toDate
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        fromDate = try parameters.optionalQuery("from_date", or: "from", "since")
        toDate = try parameters.optionalQuery("to_date", or: "to", "until")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("from_date", fromDate)
        parameters.query("to_date", toDate)
    }
}
