/// The table of contents: every group of operations, one line each.
enum Routes {
    static func register(in routes: RouteTable, backend: Backend) {
        VersionRoutes.register(in: routes)
        AIRoutes.register(in: routes, Mediator(backend))
        SyncRoutes.register(in: routes, Feed(backend))
        let gamification = Gamification(backend)
        NagsRoutes.register(in: routes, Nags(backend, gamification))
        GamificationRoutes.register(in: routes, gamification)
        SafetyRoutes.register(in: routes, Safety(backend))
        ReportsRoutes.register(in: routes, Reports(backend))
        AuditRoutes.register(in: routes, AuditTrail(backend))
    }
}
