import Domain
import JSON

/// The figures of a family's last week.
public struct WeeklyReportResponse: Hashable, WireObject {
    public var familyID: FamilyID
    public var periodStart: Timestamp
    /// Figures by name; later versions may add some.
    public var metrics: JSONObject

    public init(familyID: FamilyID, periodStart: Timestamp, metrics: JSONObject) {
        self.familyID = familyID
        self.periodStart = periodStart
        self.metrics = metrics
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        periodStart = try fields.required("period_start")
        metrics = try fields.required("metrics")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("period_start", periodStart)
            json.field("metrics", metrics)
        }
    }
}

/// Counts of a family's nags in a period.
public struct FamilyMetricsResponse: Hashable, WireObject {
    public var familyID: FamilyID
    public var fromDate: Timestamp?
    public var toDate: Timestamp?
    public var totalNags: Int
    public var completed: Int
    public var missed: Int
    public var completionRate: Double

    public init(
        familyID: FamilyID, fromDate: Timestamp?, toDate: Timestamp?, totalNags: Int, completed: Int, missed: Int,
        completionRate: Double
    ) {
        self.familyID = familyID
        self.fromDate = fromDate
        self.toDate = toDate
        self.totalNags = totalNags
        self.completed = completed
        self.missed = missed
        self.completionRate = completionRate
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        fromDate = try fields.optional("from_date")
        toDate = try fields.optional("to_date")
        totalNags = try fields.required("total_nags")
        completed = try fields.required("completed")
        missed = try fields.required("missed")
        completionRate = try fields.required("completion_rate")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("from_date", fromDate)
            json.field("to_date", toDate)
            json.field("total_nags", totalNags)
            json.field("completed", completed)
            json.field("missed", missed)
            json.field("completion_rate", completionRate)
        }
    }
}
