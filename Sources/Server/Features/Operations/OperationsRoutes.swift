import Contract

/// The group `operations`: health checks.
enum OperationsRoutes {
    static func register(in routes: RouteTable, _ readiness: Readiness) {
        routes.constant(API.checkLiveness, StatusAnswer(status: "ok"))
        routes.open(API.checkReadiness, readiness.check)
    }
}
