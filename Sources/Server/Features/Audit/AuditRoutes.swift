import Contract

/// The group `audit`: reading the trail.
enum AuditRoutes {
    static func register(in routes: RouteTable, _ trail: AuditTrail) {
        routes.signedIn(API.listAuditEvents, trail.list)
    }
}
