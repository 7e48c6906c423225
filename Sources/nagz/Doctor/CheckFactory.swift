import Server

/// Creates the checks of a server from the valid options. `ConfigurationCheck` reports the invalid ones.
struct CheckFactory {
    private let given: GivenOptions
    private let databaseURL: String?
    private let migrationsFolder: String?
    private let keys: AuditKeyring?
    let checkpointFile: CheckpointFile?

    init(_ given: GivenOptions) {
        self.given = given
        databaseURL = try? given[Options.databaseURL]
        migrationsFolder = try? Migrate.folder(given)
        keys = try? given[Options.auditKeyring]
        checkpointFile = try? AuditKeyFile.checkpointFile(given)
    }

    /// Runs the checks of the database; none if its URL or the folder of migrations is missing or invalid.
    /// - Parameter isRestored: whether the database was restored from a backup.
    func runDatabaseCheck(isRestored: Bool = false) async -> [CheckResult] {
        guard let databaseURL, let migrationsFolder else { return [] }
        return await DatabaseCheck(databaseURL: databaseURL, folder: migrationsFolder, isRestored: isRestored).run()
    }

    func makeStandbyCheck() -> StandbyCheck? {
        guard let databaseURL, let url = try? given[Options.standby] else { return nil }
        return StandbyCheck(databaseURL: databaseURL, standbyURL: url)
    }

    func makeLogCheck() -> LogCheck? {
        guard let databaseURL, let keys, let checkpointFile else { return nil }
        return LogCheck(databaseURL: databaseURL, keys: keys, file: checkpointFile)
    }

    func makeRestoreCheck() -> RestoreCheck? {
        guard let databaseURL, let migrationsFolder, let keys else { return nil }
        return RestoreCheck(databaseURL: databaseURL, folder: migrationsFolder, keys: keys)
    }

    /// The configuration for the check of descriptors: the given database URL, loops and database connections, and the
    /// defaults of all other options.
    var descriptorCheckConfiguration: Configuration {
        let loops = (try? given[Options.loopCount]) ?? Options.standardLoopCount
        var configuration = Configuration(databaseURL: databaseURL ?? "", tokenKeys: [], loops: loops)
        if let count = try? given[Options.databaseConnections] { configuration.databaseConnections = count }
        return configuration
    }

    func makeProviderCheck() -> ProviderCheck {
        let sendsDeliveries = (try? given[Options.deliveries]) ?? true
        return ProviderCheck(
            models: (try? ModelOptions(given)) ?? ModelOptions(),
            deliveries: (try? DeliveryOptions(given)) ?? DeliveryOptions(), sendsDeliveries: sendsDeliveries,
            mail: (try? MailOptions(given)) ?? nil)
    }
}
