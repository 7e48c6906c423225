/// The table of contents: every group of operations, one line each.
enum Routes {
    static func register(
        in routes: RouteTable, services: Services, telemetry: Telemetry, counts: ProductCounts,
        realtime: RealtimeRoute
    ) {
        VersionRoutes.register(in: routes)
        Sessions(services).register(in: routes)
        let families = Families(services)
        let connections = Connections(services)
        Accounts(services, families, connections).register(in: routes)
        families.register(in: routes)
        connections.register(in: routes)
        Consents(services).register(in: routes)
        MemberPreferences(services).register(in: routes)
        Policies(services).register(in: routes)
        let gamification = Gamification(services)
        let attachments = Attachments(services)
        attachments.register(in: routes)
        let nags = Nags(services, gamification, attachments)
        nags.register(in: routes)
        Ingestion(services, nags).register(in: routes)
        gamification.register(in: routes)
        Incentives(services).register(in: routes)
        let mediator = Mediator(services)
        mediator.register(in: routes)
        Executions(services, mediator).register(in: routes)
        Constraints(services).register(in: routes)
        Drafts(services, nags).register(in: routes)
        AIKeys(services).register(in: routes)
        Feed(services).register(in: routes)
        Safety(services).register(in: routes)
        AbuseReports(services).register(in: routes)
        Reports(services).register(in: routes)
        Devices(services).register(in: routes)
        Deliveries(services, nags).register(in: routes)
        AuditRoutes.register(in: routes, services)
        LegalRoutes.register(in: routes)
        ConsoleRoutes.register(in: routes)
        MetricsRoutes.register(in: routes, telemetry, counts, services)
        Readiness(services, telemetry).register(in: routes)
        realtime.register(in: routes)
    }
}
