/// The table of contents: every group of operations, one line each.
enum Routes {
    static func register(in routes: RouteTable, backend: Backend) {
        VersionRoutes.register(in: routes)
        AIRoutes.register(in: routes, Mediator(backend))
        SyncRoutes.register(in: routes, Feed(backend))
        AuditRoutes.register(in: routes, AuditTrail(backend))
    }
}
