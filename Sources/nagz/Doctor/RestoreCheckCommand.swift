import Server

/// `nagz restore-check`: whether a restored database is complete, and what to do before the service is opened.
enum RestoreCheckCommand {
    static let usage = """
        nagz restore-check — checks a database that was restored from a backup, before the service is opened again

        usage: nagz restore-check [--json] [--config FILE] [OPTION …]

        Takes the options of nagz serve, its environment and its configuration file. It changes nothing. Stop all servers
        first, then run nagz migrate as the schema's owner: a dump has no roles.

        It checks: the configuration, the files of secrets, the database, role, migrations and grants, as nagz doctor
        does; how many entries of the audit log are lost, against the checkpoint file; that the audit key file opens the
        sealed keys; the newest entries of the audit log and their bodies; that the family clocks, which hand out the next
        number, fit the newest entries; triggers, functions, policies and constraints; indexes; and that phones will read
        their families anew.

        Each line says ok, warning, failed or not configured; the next line says what to do.
          --json   one JSON object: failed, warnings, and checks with name, status (not_configured), text and advice

        nagz audit reconcile verifies all that this verb verifies in samples; it takes longer.

        exit codes: 0 nothing failed, also with warnings; 64 wrong usage; 69 the database does not answer; 78 a check failed
        """

    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        let isJSON = arguments.flag("--json")
        try arguments.finish()
        var report = CheckReport()
        report.add(ConfigurationCheck(given: arguments.given).run())
        let setting = CheckedSetting(arguments.given)
        let database = await setting.database()
        report.add(database)
        if let log = setting.log() { report.add(await log.runAfterRestore()) }
        // Grants are checked last, of a complete schema.
        if database.contains(where: { $0.name == "grants" }), let check = setting.restoreCheck() {
            report.add(try await check.run())
        } else {
            report.add([
                .warning(
                    "content", "it is not checked yet",
                    advice: "correct what failed, then run nagz restore-check again")
            ])
        }
        try report.finish(asJSON: isJSON)
    }
}
