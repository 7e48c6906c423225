/// The table of contents: every group of operations, one line each.
enum Routes {
    static func register(
        in routes: RouteTable, backend: Backend, telemetry: Telemetry, counts: ProductCounts
    ) {
        VersionRoutes.register(in: routes)
        AuthRoutes.register(in: routes, Sessions(backend))
        let families = Families(backend)
        AccountsRoutes.register(in: routes, Accounts(backend, families))
        FamiliesRoutes.register(in: routes, families)
        ConnectionsRoutes.register(in: routes, Connections(backend))
        ConsentsRoutes.register(in: routes, Consents(backend))
        PreferencesRoutes.register(in: routes, MemberPreferences(backend))
        let gamification = Gamification(backend)
        let nags = Nags(backend, gamification)
        NagsRoutes.register(in: routes, nags)
        IngestionRoutes.register(in: routes, Ingestion(backend, nags))
        GamificationRoutes.register(in: routes, gamification)
        AIRoutes.register(in: routes, Mediator(backend))
        SyncRoutes.register(in: routes, Feed(backend))
        SafetyRoutes.register(in: routes, Safety(backend))
        ReportsRoutes.register(in: routes, Reports(backend))
        AuditRoutes.register(in: routes, backend)
        LegalRoutes.register(in: routes)
        ConsoleRoutes.register(in: routes)
        MetricsRoutes.register(in: routes, telemetry, counts, backend)
        OperationsRoutes.register(in: routes, Readiness(backend, telemetry))
    }
}
