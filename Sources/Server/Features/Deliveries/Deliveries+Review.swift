import Audit
import Contract
import Domain
import Postgres

extension Deliveries {
    /// Lists all deliveries for administrators, the newest first. The audit log records the read (`RecordedRead`).
    func listReviews(_ caller: Caller, _ call: Call<DeliveryReviewQuery, NoBody>) async throws -> Page<DeliveryReview> {
        let account = try await services.requireAdministrator(caller, .deliveryReviewDenied)
        var details: AuditBody = ["status": call.parameters.status?.rawValue ?? "all"]
        details["dropped"] = call.parameters.isDropped.map { "\($0)" }
        try await services.recordAdminRead(caller, account, API.listDeliveryReviews.operation, details)
        let rows = try await services.database.query(DeliveryStatements.reviews(call.parameters))
        return try Page(rows, answering: call.parameters.page) { try DeliveryReview($0) }
    }

    /// Makes a failed delivery pending again, with a new count of attempts. Before it is sent, membership, consent and
    /// the nag are checked as usual; devices that have acknowledged it do not get it again.
    func resend(_ caller: Caller, _ call: Call<DeliveryPath, NoBody>) async throws -> DeliveryReview {
        _ = try await services.requireAdministrator(caller, .deliveryReviewDenied)
        return try await services.ledger.write(caller, in: .outside) { queries in
            let seq = try await Ledger.newestSequenceNumber(of: .outside, queries)
            let account = try await services.access.account(caller, queries)
            guard account.isAdmin else { throw APIError(.authorizationDenied, .administratorOnly) }
            let rows = try await queries.query(DeliveryStatements.review(call.parameters.deliveryID))
            guard let row = rows.first, var delivery = try DeliveryReview(row) else { throw APIError.noSuchDelivery }
            guard delivery.status == .failed else { throw APIError.deliveryHasNotFailed }
            let act = Act(
                kind: .deliveryResent, basis: .nothingChanged(since: seq), actor: account.pseudonym,
                subject: try row["pseudonym"], resource: delivery.id.retyped(),
                details: ["channel": delivery.channel.rawValue, "failure": delivery.failure ?? ""], stampedRows: 0,
                statements: [DeliveryStatements.resend(delivery.id, in: delivery.familyID, at: caller.now)])
            (delivery.status, delivery.attempts, delivery.failure) = (.pending, 0, nil)
            (delivery.isDropped, delivery.nextAttemptAt) = (false, caller.now)
            return .perform(act, delivery)
        }
    }
}

extension DeliveryReview {
    /// Reads a delivery; nil where the row holds none.
    fileprivate init?(_ row: Row) throws(PostgresError) {
        guard let id: DeliveryID = try row["id"] else { return nil }
        self.init(
            id: id, familyID: try row["family_id"], nagID: try row["nag_id"], cause: try row["cause"],
            userID: try row["user_id"],
            channel: try row["channel"], status: try row["status"], attempts: try row["attempts"],
            failure: try row["failure"], isDropped: try row["dropped"], repeats: try row["repeats"],
            createdAt: try row["created_at"], nextAttemptAt: try row["next_attempt"])
    }
}
