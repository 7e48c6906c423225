import Contract
import HTTP

/// The operations of the tag `metrics`: the server's figures for clients.
enum MetricsRoutes {
    static func register(
        in routes: RouteTable, _ telemetry: Telemetry, _ counts: ProductCounts, _ services: Services
    ) {
        routes.optionallySignedIn(API.getMetrics) { caller, _, _ in
            // Only administrators see the numbers of users, families and nags.
            var account: Account?
            if let caller {
                do { account = try await services.access.account(caller, services.database) } catch is APIError {}
            }
            let productCounts = account?.isAdmin == true ? await counts.current(services.database) : nil
            return Dashboard.figures(telemetry, productCounts, at: services.clock.now())
        }
    }
}

/// The listener for Prometheus, with the path `/metrics`. It is separate, because the server's clients must not see the
/// metrics.
enum MetricsListener {
    /// The limits of the listener: at most 16 connections, because scrapes are few, and no request bodies.
    static var limits: Limits {
        var limits = Limits()
        limits.maxConnections = 16
        limits.maxConnectionsPerAddress = 16
        limits.maxBodyBytes = 0
        limits.idleTimeout = .seconds(15)
        return limits
    }

    static func application(
        _ telemetry: Telemetry, _ checkpointStatus: CheckpointStatus, _ clock: any WallClock
    ) throws -> Application {
        let route = Route.immediate(.get, "/metrics") { _ in
            Response(
                .ok, .metrics, bytes: Array(PrometheusText(telemetry, checkpointStatus, at: clock.now()).text.utf8))
        }
        return Application(router: try Router([route]), requestIDField: HeaderFields.requestID)
    }
}
