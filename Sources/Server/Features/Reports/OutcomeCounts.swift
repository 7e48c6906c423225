import Contract
import Domain
import DomainSQL
import JSON
import Postgres
import SQL

/// Counts of the nags due in a period: all of them, and those that were completed, completed on time and missed.
struct OutcomeCounts {
    var total = 0
    var completed = 0
    var completedOnTime = 0
    var missed = 0

    init() {}

    init(_ row: Row) throws(PostgresError) {
        total = try row["total"]
        completed = try row["completed"]
        completedOnTime = try row["on_time"]
        missed = try row["missed"]
    }

    /// The quotient of `completed` and `total` with four decimals, rounded half up; 0 if nothing was due.
    var completionRate: Double {
        total == 0 ? 0 : Double((completed * 20_000 + total) / (2 * total)) / 10_000
    }

    static func += (sum: inout OutcomeCounts, part: OutcomeCounts) {
        sum.total += part.total
        sum.completed += part.completed
        sum.completedOnTime += part.completedOnTime
        sum.missed += part.missed
    }

    /// The figures by their names in a report.
    var document: JSONObject {
        var object = JSONObject()
        object["total_nags"] = .integer(Int64(total))
        object["completed"] = .integer(Int64(completed))
        object["completed_on_time"] = .integer(Int64(completedOnTime))
        object["missed"] = .integer(Int64(missed))
        object["open"] = .integer(Int64(total - completed - missed))
        object["completion_rate"] = .double(completionRate)
        return object
    }
}

/// The figures of a week and of the weeks before it.
struct WeeklyMetrics {
    private var weekCounts: [OutcomeCounts]
    private var categoryCounts: [NagCategory: OutcomeCounts] = [:]
    private var excuseCounts: [ExcuseCategory: Int] = [:]
    private let weekStarts: [Timestamp]

    /// - Parameter weekStarts: the starts of the weeks, oldest first; the report is about the last one.
    init(_ rows: Rows, _ excuseRows: Rows, weekStarts: [Timestamp]) throws(PostgresError) {
        self.weekStarts = weekStarts
        weekCounts = weekStarts.map { _ in OutcomeCounts() }
        for row in rows {
            let week: Int = try row["week"]
            guard weekStarts.indices.contains(week - 1) else { continue }
            weekCounts[week - 1] += try OutcomeCounts(row)
            if week == weekStarts.count {
                categoryCounts[try row["category"], default: OutcomeCounts()] += try OutcomeCounts(row)
            }
        }
        for row in excuseRows {
            excuseCounts[try row["category"]] = try row["count"]
        }
    }

    var document: JSONObject {
        var object = (weekCounts.last ?? OutcomeCounts()).document
        var categories = JSONObject()
        for category in NagCategory.allCases {
            categories[category.rawValue] = .object((categoryCounts[category] ?? OutcomeCounts()).document)
        }
        object["by_category"] = .object(categories)
        var reasons = JSONObject()
        for category in ExcuseCategory.allCases {
            reasons[category.rawValue] = .integer(Int64(excuseCounts[category] ?? 0))
        }
        object["by_excuse_category"] = .object(reasons)
        object["weekly_trend"] = .array(
            zip(weekStarts, weekCounts).map { start, counts in
                var week = JSONObject()
                week["period_start"] = .string(start.rfc3339)
                for member in counts.document.members { week[member.key] = member.value }
                return .object(week)
            })
        return object
    }
}

/// The median time from the first notification of a nag to its completion, for the family and by person. The answered
/// nags are those that were completed after a notification.
struct ResponseTimes {
    /// `answeredCount` is the number of nags that were completed after a notification; the median is over these.
    private var family: (answeredCount: Int, medianSeconds: Int?) = (0, nil)
    private var members: [(user: UserID, answeredCount: Int, medianSeconds: Int?)] = []

    init(_ rows: Rows) throws(PostgresError) {
        for row in rows {
            let (answeredCount, medianSeconds): (Int, Int?) = (try row["answered"], try row["seconds"])
            if let user: UserID = try row["recipient_id"] {
                members.append((user, answeredCount, medianSeconds))
            } else {
                family = (answeredCount, medianSeconds)
            }
        }
    }

    var document: JSONObject {
        var object = Self.figures(family.answeredCount, family.medianSeconds)
        object["by_member"] = .array(
            members.map { member in
                var figures = Self.figures(member.answeredCount, member.medianSeconds)
                figures["user_id"] = .string(member.user.description)
                return .object(figures)
            })
        return object
    }

    private static func figures(_ answeredCount: Int, _ medianSeconds: Int?) -> JSONObject {
        [
            "answered": .integer(Int64(answeredCount)),
            "median_seconds": medianSeconds.map { .integer(Int64($0)) } ?? .null,
        ]
    }
}
