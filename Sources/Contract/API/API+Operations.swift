extension API {
    /// Check that the process runs.
    public static let checkLiveness = Endpoint<NoParameters, NoBody, StatusAnswer>(
        Operation("checkLiveness", .get, "/health/live", tag: .operations, access: .open, tier: .exempt))

    /// Check that the server can serve requests.
    public static let checkReadiness = Endpoint<NoParameters, NoBody, ReadinessAnswer>(
        Operation("checkReadiness", .get, "/health/ready", tag: .operations, access: .open, tier: .exempt))

    static let operationalOperations: [Operation] = [
        checkLiveness.operation, checkReadiness.operation,
    ]
}
