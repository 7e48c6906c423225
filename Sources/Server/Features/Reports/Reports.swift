import Audit
import Contract
import Domain
import JSON
import Postgres
import TimeZones

/// Reports about a family's nags, for its guardians.
///
/// The figures count the nags due in a period, whenever they were created or completed; withdrawn and cancelled ones
/// are not counted. Completed means completed at any time; missed means unresolved past the final window.
package final class Reports {
    /// The number of weeks in the trend of the weekly report, including the present one.
    private static let trendWeekCount = 4

    private let services: Services

    package init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `reports`: a family's nags in figures.
    func register(in routes: RouteTable) {
        routes.signedIn(API.getWeeklyReport, weekly)
        routes.signedIn(API.getFamilyMetrics, metrics)
    }

    /// Reports on the family's current local week, Monday to Sunday: by category of nags and of excuses, and with the
    /// three weeks before it for comparison.
    package func weekly(_ caller: Caller, _ call: Call<FamilyQuery, NoBody>) async throws -> WeeklyReportResponse {
        let member = try await requireGuardian(caller, of: call.parameters.familyID)
        let zone = services.zones.zoneOrUTC(member.familyZone)
        let weekStarts = zone.weekStarts(upTo: caller.now, count: Self.trendWeekCount)
        let week = zone.week(containing: caller.now)
        // Bounds are inclusive and times whole microseconds.
        let end = week.upperBound - Timestamp.Span(microseconds: 1)
        let rows = try await services.database.query(
            ReportStatements.outcomeCounts(
                of: member.familyID, from: weekStarts.first, through: end, weekStarts: weekStarts))
        let excuses = try await services.database.query(
            ReportStatements.excuseCounts(of: member.familyID, from: week.lowerBound, through: end))
        let times = try await services.database.query(
            ReportStatements.responseTimes(of: member.familyID, from: week.lowerBound, through: end))
        var metrics = try WeeklyMetrics(rows, excuses, weekStarts: weekStarts).document
        metrics["response_time"] = .object(try ResponseTimes(times).document)
        return WeeklyReportResponse(familyID: member.familyID, periodStart: week.lowerBound, metrics: metrics)
    }

    /// Computes the figures of the nags due from `from_date` to `to_date`, both included. If a date is missing, the
    /// period has no bound on that side.
    func metrics(_ caller: Caller, _ call: Call<FamilyMetricsQuery, NoBody>) async throws -> FamilyMetricsResponse {
        let query = call.parameters
        if let from = query.fromDate, let to = query.toDate, from > to {
            throw APIError.reportEndsBeforeStart
        }
        let member = try await requireGuardian(caller, of: query.familyID)
        let rows = try await services.database.query(
            ReportStatements.outcomeCounts(
                of: member.familyID, from: query.fromDate, through: query.toDate, weekStarts: []))
        var totals = OutcomeCounts()
        for row in try rows.map({ row throws(PostgresError) in try OutcomeCounts(row) }) { totals += row }
        return FamilyMetricsResponse(
            familyID: member.familyID, fromDate: query.fromDate, toDate: query.toDate, totalNags: totals.total,
            completed: totals.completed, missed: totals.missed, completionRate: totals.completionRate)
    }

    /// Returns the caller as a member who may read reports.
    /// - Throws: 403 for other members, recorded in the audit log.
    private func requireGuardian(_ caller: Caller, of family: FamilyID) async throws -> Member {
        let member = try await services.access.member(caller, of: family, services.database)
        if let denial = RoleMatrix.denial(of: .readReports, by: MemberState(role: member.role)) {
            try await services.refuse(caller, member, .reportReadDenied, denial)
        }
        return member
    }
}
