import Server

/// `nagz restore-check`: checks whether a restored database is complete, and says what to do before the service is
/// opened.
enum RestoreCheckCommand {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        let asJSON = arguments.takeFlag("--json")
        try arguments.finish()
        var report = CheckReport()
        report.add(ConfigurationCheck(given: arguments.givenOptions).run())
        let checks = CheckFactory(arguments.givenOptions)
        let database = await checks.runDatabaseCheck(isRestored: true)
        report.add(database)
        // During recovery, entries that are not replayed yet would be reported as lost.
        if !database.contains(DatabaseCheck.inRecoveryResult), let log = checks.makeLogCheck() {
            report.add(await log.runAfterRestore())
        }
        // The content is checked only if the schema was complete enough for the check of grants.
        if database.contains(where: { $0.name == "grants" }), let check = checks.makeRestoreCheck() {
            report.add(try await check.run())
        } else {
            report.add([
                .warning(
                    "content", "not checked, because an earlier check failed",
                    advice: "correct what failed, then run nagz restore-check again")
            ])
        }
        try report.finish(asJSON: asJSON)
    }
}
