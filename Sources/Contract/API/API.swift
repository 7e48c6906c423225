/// Every operation of the API, defined once and used by server and client.
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
        attachmentsOperations,
        gamificationOperations,
        safetyOperations,
        abuseReportsOperations,
        consentsOperations,
        policiesOperations,
        incentivesOperations,
        reportsOperations,
        devicesOperations,
        deliveriesOperations,
        aiOperations,
        constraintsOperations,
        executionsOperations,
        draftsOperations,
        ingestionOperations,
        syncOperations,
        auditOperations,
        legalOperations,
        metricsOperations,
        operationalOperations,
        keysOperations,
    ].flatMap { $0 }
}
