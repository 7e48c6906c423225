/// The table of contents: every group of operations, one line each.
enum Routes {
    static func register(
        in routes: RouteTable, services: Services, telemetry: Telemetry, counts: ProductCounts
    ) {
        VersionRoutes.register(in: routes)
        AuthRoutes.register(in: routes, Sessions(services))
        let families = Families(services)
        AccountsRoutes.register(in: routes, Accounts(services, families))
        FamiliesRoutes.register(in: routes, families)
        ConnectionsRoutes.register(in: routes, Connections(services))
        ConsentsRoutes.register(in: routes, Consents(services))
        PreferencesRoutes.register(in: routes, MemberPreferences(services))
        let gamification = Gamification(services)
        let nags = Nags(services, gamification)
        NagsRoutes.register(in: routes, nags)
        IngestionRoutes.register(in: routes, Ingestion(services, nags))
        GamificationRoutes.register(in: routes, gamification)
        AIRoutes.register(in: routes, Mediator(services))
        SyncRoutes.register(in: routes, Feed(services))
        SafetyRoutes.register(in: routes, Safety(services))
        ReportsRoutes.register(in: routes, Reports(services))
        AuditRoutes.register(in: routes, services)
        LegalRoutes.register(in: routes)
        ConsoleRoutes.register(in: routes)
        MetricsRoutes.register(in: routes, telemetry, counts, services)
        OperationsRoutes.register(in: routes, Readiness(services, telemetry))
    }
}
