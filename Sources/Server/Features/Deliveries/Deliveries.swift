import Contract
import Domain
import Postgres

/// The deliveries of notifications, and their outcomes.
final class Deliveries {
    let services: Services
    private let nags: Nags

    init(_ services: Services, _ nags: Nags) {
        self.services = services
        self.nags = nags
    }

    /// Registers the operations of the tag `deliveries`.
    func register(in routes: RouteTable) {
        routes.signedIn(API.listDeliveries, list)
        routes.signedIn(API.listDeliveryReviews, listReviews)
        routes.signedIn(API.resendDelivery, resend)
    }

    /// Lists the deliveries of a nag, newest first, for its creator and the guardians. Dropped deliveries are only in
    /// the administrators' list.
    func list(_ caller: Caller, _ call: Call<DeliveryListQuery, NoBody>) async throws -> Page<DeliveryResponse> {
        let query = call.parameters
        return try await nags.decideAndPerform(caller, on: query.nagID, .readDeliveries) { view, queries in
            let rows = try await queries.query(DeliveryStatements.page(query.page, of: query.nagID, in: view.ledgerID))
            return .answer(
                try Page(rows, answering: query.page) { row in
                    guard let id: DeliveryID = try row["id"] else { return nil }
                    return DeliveryResponse(
                        id: id, nagEventID: try row["nag_event_id"], channel: try row["channel"],
                        status: try row["status"], providerRef: try row["provider_ref"])
                })
        }
    }
}
