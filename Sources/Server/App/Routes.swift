/// The table of contents: every group of operations, one line each.
enum Routes {
    static func register(in routes: RouteTable, backend: Backend, telemetry: Telemetry) {
        VersionRoutes.register(in: routes)
        AuthRoutes.register(in: routes, Sessions(backend))
        FamiliesRoutes.register(in: routes, Families(backend))
        ConsentsRoutes.register(in: routes, Consents(backend))
        PreferencesRoutes.register(in: routes, MemberPreferences(backend))
        LegalRoutes.register(in: routes)
        MetricsRoutes.register(in: routes, telemetry)
        OperationsRoutes.register(in: routes, Readiness(backend, telemetry))
        AIRoutes.register(in: routes, Mediator(backend))
        SyncRoutes.register(in: routes, Feed(backend))
        AuditRoutes.register(in: routes, AuditTrail(backend))
    }
}
