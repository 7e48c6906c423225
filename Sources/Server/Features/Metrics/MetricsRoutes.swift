import Contract
import HTTP

/// The group `metrics`: the server's figures for clients.
enum MetricsRoutes {
    static func register(
        in routes: RouteTable, _ telemetry: Telemetry, _ counts: ProductCounts, _ services: Services
    ) {
        routes.optionallySignedIn(API.getMetrics) { caller, _, _ in
            // How many users, families and nags there are is for administrators.
            let account =
                if let caller { try? await services.access.account(caller, services.database) } else { nil as Account? }
            let product = account?.isAdmin == true ? await counts.current(services.database) : nil
            return Dashboard.figures(telemetry, product, at: services.clock.now())
        }
    }
}

/// `/metrics` for Prometheus, on a listener of its own: the server's figures are not for its clients.
enum MetricsListener {
    /// The limits of the listener: at most 16 connections, because scrapes are few, and no request bodies.
    static var limits: Limits {
        var limits = Limits()
        limits.connections = 16
        limits.connectionsPerAddress = 16
        limits.body = 0
        limits.idleTime = .seconds(15)
        return limits
    }

    static func application(
        _ telemetry: Telemetry, _ head: CheckpointStatus, _ clock: any WallClock
    ) throws -> Application {
        let route = Route.immediate(.get, "/metrics") { _ in
            Response(.ok, .metrics, bytes: Array(PrometheusText(telemetry, head, at: clock.now()).text.utf8))
        }
        return Application(router: try Router([route]), requestIDField: HeaderFields.requestID)
    }
}
