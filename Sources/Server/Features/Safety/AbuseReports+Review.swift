import Audit
import Contract
import Domain
import Postgres

extension AbuseReports {
    /// Lists reports for administrators, the oldest first. The audit log records the read, unless an entry of
    /// the same trace covers it (`RecordedRead`).
    func listReviews(
        _ caller: Caller, _ call: Call<AbuseReportReviewQuery, NoBody>
    ) async throws -> Page<AbuseReportReview> {
        let account = try await services.requireAdministrator(caller, .abuseReportReviewDenied)
        try await services.recordAdminRead(
            caller, account, API.listAbuseReportReviews.operation,
            ["status": call.parameters.status?.rawValue ?? "all"])
        let rows = try await services.database.query(AbuseReportStatements.page(call.parameters))
        return try Page(rows, answering: call.parameters.page) { try AbuseReportReview($0, at: caller.now) }
    }

    /// Returns a report for an administrator. Each read is recorded in the audit log, with the report's target as the
    /// subject.
    func getReview(_ caller: Caller, _ call: Call<AbuseReportPath, NoBody>) async throws -> AbuseReportReview {
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

    /// Changes the status or the severity of a report's review, or adds a note. The audit log records each change with
    /// its note; a request that changes nothing and has no note is not recorded.
    func updateReview(
        _ caller: Caller, _ call: Call<AbuseReportPath, AbuseReportReviewUpdate>
    ) async throws -> AbuseReportReview {
        _ = try await services.requireAdministrator(caller, .abuseReportReviewDenied)
        let body = call.body
        return try await services.ledger.write(caller, in: .outside) { queries in
            let seq = try await Ledger.newestSequenceNumber(of: .outside, queries)
            let account = try await services.access.account(caller, queries)
            guard account.isAdmin else { throw APIError(.authorizationDenied, .administratorOnly) }
            let rows = try await queries.query(AbuseReportStatements.report(call.parameters.reportID))
            guard let row = rows.first, let currentReview = try AbuseReportReview(row, at: caller.now) else {
                throw APIError.noSuchAbuseReport
            }
            let severity = body.severity ?? currentReview.severity
            let isUnchanged = body.status == currentReview.report.status && severity == currentReview.severity
            if isUnchanged, body.note == nil { return .answer(currentReview) }
            let staysOpen = body.status == currentReview.report.status && !body.status.isClosed
            guard staysOpen || currentReview.report.status.mayBecome(body.status) else {
                throw APIError.abuseReportStatusIsInvalid
            }
            let review = AbuseReportReview(
                report: AbuseReportResponse(
                    id: currentReview.report.id, reporterID: currentReview.report.reporterID,
                    targetID: currentReview.report.targetID,
                    reason: currentReview.report.reason, status: body.status),
                familyID: currentReview.familyID, severity: severity, createdAt: currentReview.createdAt,
                updatedAt: caller.now,
                at: caller.now)
            var act = Act(
                kind: .abuseReportReviewed, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: try row["target_pseudonym"], resource: currentReview.report.id.retyped(),
                details: [
                    "from": currentReview.report.status.rawValue, "status": body.status.rawValue,
                    "severity": severity.rawValue,
                ],
                stampedRows: 0, statements: [AbuseReportStatements.update(review)])
            act.details["note"] = body.note
            return .perform(act, review)
        }
    }
}

extension AbuseReportReview {
    /// Reads the review of a report; nil if the row has none.
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
            reviewDueAt: createdAt + severity.reviewTimeLimit)
    }
}
