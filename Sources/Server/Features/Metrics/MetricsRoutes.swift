import Contract
import HTTP

/// The group `metrics` and its sibling for Prometheus: how the server is doing.
enum MetricsRoutes {
    static func register(in routes: RouteTable, _ telemetry: Telemetry, _ backend: Backend) {
        routes.open(API.getMetrics) { _ in Dashboard.figures(telemetry) }
        let clock = backend.clock
        let head = backend.trailHead
        routes.add(
            Route(
                API.getPrometheusMetrics.operation,
                answer: .async { _ in
                    let text = PrometheusText(telemetry, head, at: clock.now()).text
                    return Response(.ok, .metrics, octets: Array(text.utf8))
                }))
    }
}
