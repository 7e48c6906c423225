import Audit
import Contract
import Domain
import Postgres

/// Reports of abuse and their review.
///
/// A report is acknowledged at once, and its target does not learn of it. Its entries are in the ledger outside
/// families, whose log only administrators read: a guardian, who reads the family's log, may be the target.
final class AbuseReports {
    let services: Services

    init(_ services: Services) { self.services = services }

    /// Registers the operations on abuse reports, of the tag `safety`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.createAbuseReport, create)
        routes.signedIn(API.getAbuseReport, getReport)
        routes.signedIn(API.listAbuseReportReviews, listReviews)
        routes.signedIn(API.getAbuseReportReview, getReview)
        routes.signedIn(API.updateAbuseReportReview, updateReview)
    }

    /// Reports somebody whom the caller knows from a family or a connection, at most
    /// `AbuseReportLimit.reportsPerWindow` times an hour.
    func create(_ caller: Caller, _ call: Call<NoParameters, AbuseReportCreate>) async throws -> AbuseReportResponse {
        let body = call.body
        guard body.targetID != caller.userID else { throw APIError.reportsSelf }
        return try await services.ledger.write(caller, in: .outside) { queries in
            let seq = try await Ledger.newestSequenceNumber(of: .outside, queries)
            let account = try await services.access.account(caller, queries)
            let rows = try await queries.query(
                AbuseReportStatements.knownTarget(body.targetID, of: caller.userID, in: account.family))
            guard let target = rows.first else { throw APIError.noSuchUser }
            try await requireQuota(caller, queries)
            let report = AbuseReportResponse(
                id: services.random.identifier(at: caller.now), reporterID: caller.userID, targetID: body.targetID,
                reason: body.reason, status: .open)
            let family = try target["is_in_family"] ? account.family : nil
            let act = Act(
                kind: .abuseReportCreated, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: try target["pseudonym"], resource: report.id.retyped(),
                details: ["reason_length": "\(body.reason.unicodeScalars.count)"], stampedRows: 0,
                statements: [AbuseReportStatements.insert(report, in: family, at: caller.now)])
            return .perform(act, report)
        }
    }

    /// Requires that the caller may make another report.
    /// - Throws: 429 if they have made as many reports as are allowed within the window.
    private func requireQuota(_ caller: Caller, _ queries: any Queries) async throws {
        let (limit, window) = (AbuseReportLimit.reportsPerWindow, AbuseReportLimit.window)
        let reportTimes = try await queries.query(
            AbuseReportStatements.newestReportTimes(by: caller.userID, since: caller.now - window, limit: limit)
        ).map { row throws(PostgresError) -> Timestamp in try row["created_at"] }
        guard reportTimes.count >= limit, let oldest = reportTimes.last else { return }
        throw APIError.tooManyAbuseReports(until: oldest + window, at: caller.now)
    }

    /// Returns one report to its reporter and to the guardians of the report's family, except a guardian whom it is
    /// about.
    /// - Throws: 404 for other people, and if there is no such report.
    func getReport(_ caller: Caller, _ call: Call<AbuseReportPath, NoBody>) async throws -> AbuseReportResponse {
        let account = try await services.access.account(caller, services.database)
        let rows = try await services.database.query(AbuseReportStatements.report(call.parameters.reportID))
        guard let row = rows.first, let report = try AbuseReportResponse(row) else { throw APIError.noSuchAbuseReport }
        let family: FamilyID? = try row["family_id"]
        let isGuardian = family != nil && account.family == family && account.role == .guardian
        guard report.reporterID == caller.userID || (isGuardian && report.targetID != caller.userID) else {
            throw APIError.noSuchAbuseReport
        }
        return report
    }
}

extension AbuseReportResponse {
    /// Reads a report; nil if the row has none.
    init?(_ row: Row) throws(PostgresError) {
        guard let id: AbuseReportID = try row["id"] else { return nil }
        self.init(
            id: id, reporterID: try row["reporter_id"], targetID: try row["target_id"], reason: try row["reason"],
            status: try row["status"])
    }
}
