import Server

/// `nagz restore-check`: checks whether a restored database is complete, and says what to do before the service is
/// opened.
enum RestoreCheckCommand {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        let isJSON = arguments.flag("--json")
        try arguments.finish()
        var report = CheckReport()
        report.add(ConfigurationCheck(given: arguments.given).run())
        let setting = CheckedSetting(arguments.given)
        let database = await setting.database(isRestored: true)
        report.add(database)
        // During recovery, entries that are not replayed yet would be reported as lost.
        if !database.contains(DatabaseCheck.inRecovery), let log = setting.log() {
            report.add(await log.runAfterRestore())
        }
        // The content is checked only if the schema was complete enough for the check of grants.
        if database.contains(where: { $0.name == "grants" }), let check = setting.restoreCheck() {
            report.add(try await check.run())
        } else {
            report.add([
                .warning(
                    "content", "not checked, because an earlier check failed",
                    advice: "correct what failed, then run nagz restore-check again")
            ])
        }
        try report.finish(asJSON: isJSON)
    }
}
