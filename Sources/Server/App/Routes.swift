/// The table of contents: every group of operations, one line each.
enum Routes {
    static func register(in routes: RouteTable, backend: Backend, telemetry: Telemetry) {
        VersionRoutes.register(in: routes)
        LegalRoutes.register(in: routes)
        MetricsRoutes.register(in: routes, telemetry)
        OperationsRoutes.register(in: routes, Readiness(backend, telemetry))
        AIRoutes.register(in: routes, Mediator(backend))
        SyncRoutes.register(in: routes, Feed(backend))
        AuditRoutes.register(in: routes, AuditTrail(backend))
    }
}
