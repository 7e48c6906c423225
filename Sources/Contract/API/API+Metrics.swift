extension API {
    /// Get server metrics for a dashboard.
    public static let getMetrics = Endpoint<NoParameters, NoBody, MetricsResponse>(
        Operation("getMetrics", .get, "/api/v1/metrics", tag: .metrics, access: .open))

    static let metricsOperations: [Operation] = [
        getMetrics.operation
    ]
}
