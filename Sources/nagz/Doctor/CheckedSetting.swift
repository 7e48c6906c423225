import Server

/// Creates the checks of a server from the valid options. `ConfigurationCheck` reports the invalid ones.
struct CheckedSetting {
    private let given: GivenOptions
    private let databaseURL: String?
    private let folder: String?
    private let keys: AuditKeyring?
    let checkpointFile: CheckpointFile?

    init(_ given: GivenOptions) {
        self.given = given
        databaseURL = try? given[Options.databaseURL]
        folder = try? Migrate.folder(given)
        keys = try? given[Options.auditKeyring]
        checkpointFile = try? AuditKeyFile.checkpointFile(given)
    }

    /// - Parameter isRestored: whether the database was restored from a backup.
    func database(isRestored: Bool = false) async -> [CheckResult] {
        guard let databaseURL, let folder else { return [] }
        return await DatabaseCheck(databaseURL: databaseURL, folder: folder, isRestored: isRestored).run()
    }

    func standby() -> StandbyCheck? {
        guard let databaseURL, let url = try? given[Options.standby] else { return nil }
        return StandbyCheck(databaseURL: databaseURL, standbyURL: url)
    }

    func log() -> LogCheck? {
        guard let databaseURL, let keys, let checkpointFile else { return nil }
        return LogCheck(databaseURL: databaseURL, keys: keys, file: checkpointFile)
    }

    func restoreCheck() -> RestoreCheck? {
        guard let databaseURL, let folder, let keys else { return nil }
        return RestoreCheck(databaseURL: databaseURL, folder: folder, keys: keys)
    }

    /// The configuration of the server, without its secrets.
    var configuration: Configuration {
        let loops = (try? given[Options.loops]) ?? Options.standardLoops
        var configuration = Configuration(databaseURL: databaseURL ?? "", tokenKeys: [], loops: loops)
        if let count = try? given[Options.connections] { configuration.databaseConnections = count }
        return configuration
    }

    func providers() -> ProviderCheck {
        let sends = (try? given[Options.deliveries]) ?? true
        return ProviderCheck(
            models: (try? ModelOptions(given)) ?? ModelOptions(),
            deliveries: (try? DeliveryOptions(given)) ?? DeliveryOptions(), sendsDeliveries: sends,
            mail: (try? MailOptions(given)) ?? nil)
    }
}
