/// Every operation of the API, each written once: routes on the server, calls on the device.
public enum API {
    /// All operations, grouped by tag.
    public static let all: [Operation] = [
        versionOperations,
        authOperations,
        accountsOperations,
        preferencesOperations,
        familiesOperations,
        connectionsOperations,
        nagsOperations,
        gamificationOperations,
        safetyOperations,
        consentsOperations,
        reportsOperations,
        aiOperations,
        syncOperations,
        auditOperations,
        legalOperations,
        metricsOperations,
        operationalOperations,
    ].flatMap { $0 }
}
