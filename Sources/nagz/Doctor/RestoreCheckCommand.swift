import Server

/// `nagz restore-check`: whether a restored database is complete, and what to do before the service is opened.
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
        // What is still replayed would be reported as lost.
        if !database.contains(DatabaseCheck.inRecovery), let log = setting.log() {
            report.add(await log.runAfterRestore())
        }
        // Grants are checked last, of a complete schema.
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
