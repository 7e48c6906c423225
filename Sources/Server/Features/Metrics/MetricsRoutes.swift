import Contract
import HTTP

/// The group `metrics` and its sibling for Prometheus: how the server is doing.
enum MetricsRoutes {
    static func register(in routes: RouteTable, _ telemetry: Telemetry) {
        routes.open(API.getMetrics) { _ in Dashboard.figures(telemetry) }
        let path = API.getPrometheusMetrics.operation.path
        routes.add(
            Route(.get, path) { _ in Response(.ok, .metrics, octets: Array(PrometheusText(telemetry).text.utf8)) })
    }
}
