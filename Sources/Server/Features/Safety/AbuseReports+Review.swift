import Audit
import Contract
import Domain
import Postgres

extension AbuseReports {
    /// The reports as administrators review them, the oldest first. Each look is an entry of the audit log.
    func reviews(
        _ caller: Caller, _ call: Call<AbuseReportReviewQuery, NoBody>
    ) async throws -> Page<AbuseReportReview> {
        let account = try await services.requireAdministrator(caller, .abuseReportReviewDenied)
        try await services.recordRead(
            caller, account, API.listAbuseReportReviews.operation,
            ["status": call.parameters.status?.rawValue ?? "all"])
        let rows = try await services.database.query(AbuseReportStatements.page(call.parameters))
        return try Page(rows, answering: call.parameters.page) { try AbuseReportReview($0, at: caller.now) }
    }

    /// One report as administrators review it. Each look is an entry of the audit log, about the report's target.
    func reviewedReport(_ caller: Caller, _ call: Call<AbuseReportPath, NoBody>) async throws -> AbuseReportReview {
        let account = try await services.requireAdministrator(caller, .abuseReportReviewDenied)
        return try await services.ledger.write(caller, in: .outside) { queries in
            let rows = try await queries.query(AbuseReportStatements.report(call.parameters.reportID))
            guard let row = rows.first, let review = try AbuseReportReview(row, at: caller.now) else {
                throw APIError.noSuchAbuseReport
            }
            let act = Act(
                kind: .adminRead, basis: .nothing, actor: account.pseudonym, subject: try row["target_pseudonym"],
                resource: review.report.id.retyped(),
                details: ["operation": API.getAbuseReportReview.operation.id], stampedRows: 0)
            return .perform(act, review)
        }
    }

    /// Takes the review of a report one step on, or says something more about it. Each change is an entry with what was
    /// changed and the note; a change that was made before is not made again.
    func review(
        _ caller: Caller, _ call: Call<AbuseReportPath, AbuseReportReviewUpdate>
    ) async throws -> AbuseReportReview {
        _ = try await services.requireAdministrator(caller, .abuseReportReviewDenied)
        let body = call.body
        return try await services.ledger.write(caller, in: .outside) { queries in
            let seq = try await Ledger.newestNumber(of: .outside, queries)
            let account = try await services.access.account(caller, queries)
            guard account.isAdmin else { throw APIError(.authorizationDenied, .administratorOnly) }
            let rows = try await queries.query(AbuseReportStatements.report(call.parameters.reportID))
            guard let row = rows.first, let known = try AbuseReportReview(row, at: caller.now) else {
                throw APIError.noSuchAbuseReport
            }
            let severity = body.severity ?? known.severity
            let isSame = body.status == known.report.status && severity == known.severity
            if isSame, body.note == nil { return .answer(known) }
            let staysOpen = body.status == known.report.status && !body.status.isClosed
            guard staysOpen || known.report.status.mayBecome(body.status) else {
                throw APIError.abuseReportStatusIsInvalid
            }
            let review = AbuseReportReview(
                report: AbuseReportResponse(
                    id: known.report.id, reporterID: known.report.reporterID, targetID: known.report.targetID,
                    reason: known.report.reason, status: body.status),
                familyID: known.familyID, severity: severity, createdAt: known.createdAt, updatedAt: caller.now,
                at: caller.now)
            var act = Act(
                kind: .abuseReportReviewed, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: try row["target_pseudonym"], resource: known.report.id.retyped(),
                details: [
                    "from": known.report.status.rawValue, "status": body.status.rawValue, "severity": severity.rawValue,
                ],
                stampedRows: 0, statements: [AbuseReportStatements.update(review)])
            act.details["note"] = body.note
            return .perform(act, review)
        }
    }
}

extension AbuseReportReview {
    /// Reads a report; nil where the row holds none.
    fileprivate init?(_ row: Row, at now: Timestamp) throws(PostgresError) {
        guard let report = try AbuseReportResponse(row) else { return nil }
        self.init(
            report: report, familyID: try row["family_id"], severity: try row["severity"],
            createdAt: try row["created_at"], updatedAt: try row["updated_at"], at: now)
    }

    fileprivate init(
        report: AbuseReportResponse, familyID: FamilyID?, severity: AbuseReportSeverity, createdAt: Timestamp,
        updatedAt: Timestamp, at now: Timestamp
    ) {
        self.init(
            report: report, familyID: familyID, severity: severity, createdAt: createdAt, updatedAt: updatedAt,
            age: max(0, Int((now - createdAt).microseconds / 1_000_000)),
            reviewDueAt: createdAt + severity.reviewTarget)
    }
}
