import Contract

/// Connections between adults of different families.
///
/// No operation makes one yet, so nobody has any. The list is there because the mobile client asks for it before it
/// makes a nag.
final class Connections {
    private let services: Services

    init(_ services: Services) { self.services = services }

    /// The group `connections`: between adults of different families.
    func register(in routes: RouteTable) {
        routes.signedIn(API.listConnections, list)
    }

    /// The caller's own connections, in both directions.
    func list(_ caller: Caller, _ call: Call<ConnectionListQuery, NoBody>) async throws -> Page<ConnectionResponse> {
        _ = try await services.access.account(caller, services.database)
        return Page(items: [], total: 0, answering: call.parameters.page)
    }
}
