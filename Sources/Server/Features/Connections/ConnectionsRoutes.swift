import Contract

/// The group `connections`: between adults of different families.
enum ConnectionsRoutes {
    static func register(in routes: RouteTable, _ connections: Connections) {
        routes.signedIn(API.listConnections, connections.list)
    }
}
