import Contract
import Domain
import SQL

/// Every statement on abuse reports.
enum AbuseReportStatements {
    private static let columns: SQL = """
        r.id, r.reporter_id, r.target_id, r.reason, r.status, r.severity, r.family_id, r.created_at, r.updated_at
        """

    // MARK: Reads

    /// Reads a person whom the reporter knows, now or formerly, from a family or a connection: their `pseudonym`, and
    /// whether they are or were in `family`. No row: the reporter does not know the person, or the account is deleted.
    static func knownTarget(_ target: UserID, of reporter: UserID, in family: FamilyID?) -> SQL {
        """
        SELECT u.pseudonym, EXISTS (
            SELECT 1 FROM memberships m WHERE m.family_id = \(family) AND m.user_id = u.id) AS is_in_family
        FROM users u
        WHERE u.id = \(target) AND u.status <> 'deleted' AND (EXISTS (
            SELECT 1 FROM memberships m JOIN memberships theirs ON theirs.family_id = m.family_id
            WHERE \(MembershipStatements.isOrWasMember(of: reporter)) AND theirs.user_id = u.id)
            OR \(ConnectionStatements.everExisted(between: "\(reporter)", and: "u.id"))
            OR \(NagStatements.existsOverConnection(between: "\(reporter)", and: "u.id")))
        """
    }

    /// Reads the times of a reporter's reports since a moment, as `created_at`: at most `limit`, the newest first.
    static func newestReportTimes(by reporter: UserID, since moment: Timestamp, limit: Int) -> SQL {
        """
        SELECT created_at FROM abuse_reports WHERE reporter_id = \(reporter) AND created_at > \(moment)
        ORDER BY created_at DESC LIMIT \(limit)
        """
    }

    static func report(_ report: AbuseReportID) -> SQL {
        """
        SELECT \(columns), u.pseudonym AS target_pseudonym
        FROM abuse_reports r JOIN users u ON u.id = r.target_id WHERE r.id = \(report)
        """
    }

    /// Reads a page of reports, the oldest first.
    static func page(_ query: AbuseReportReviewQuery) -> SQL {
        query.page.select(
            columns, from: "abuse_reports", as: "r", where: query.status.map { "r.status = \($0.rawValue)" } ?? "true",
            orderBy: "r.created_at, r.id")
    }

    // MARK: Statements of an act

    static func insert(_ report: AbuseReportResponse, in family: FamilyID?, at now: Timestamp) -> SQL {
        """
        INSERT INTO abuse_reports (id, reporter_id, target_id, reason, status, family_id, created_at, updated_at)
        SELECT \(report.id), \(report.reporterID), \(report.targetID), \(report.reason), \(report.status.rawValue),
               \(family), \(now), \(now)
        FROM ledger_stamp
        """
    }

    static func update(_ review: AbuseReportReview) -> SQL {
        """
        UPDATE abuse_reports SET status = \(review.report.status.rawValue), severity = \(review.severity.rawValue),
            updated_at = \(review.updatedAt)
        FROM ledger_stamp WHERE abuse_reports.id = \(review.report.id)
        """
    }
}
