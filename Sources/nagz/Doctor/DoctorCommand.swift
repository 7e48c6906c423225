import Server

/// `nagz doctor`: whether a server with this configuration works, and what to do if not.
enum DoctorCommand {
    static let usage = """
        nagz doctor — checks everything that a server needs, and says what to do where something is wrong

        usage: nagz doctor [--json] [--config FILE] [OPTION …]

        Takes the options of nagz serve, its environment and its configuration file: run it as the server is run, by the same
        user. It changes nothing, makes no file, and may run beside a server.

        It checks: the configuration, all faults of it; the files of secrets, with their modes and owners; the database,
        whether it takes writes, the encryption of the connection and the clocks; the server's role and its grants; the
        schema's migrations; the standby that reads the feed; the checkpoint file, and whether the audit log extends it;
        room on disk; descriptors; the age of the time zone database; the model gateway and the providers of notifications,
        to which it sends no words and no notification.

        Each line says ok, warning, failed or not configured; the next line says what to do.
          --json   one JSON object: failed, warnings, and checks with name, status (not_configured), text and advice

        exit codes: 0 nothing failed, also with warnings; 64 wrong usage; 69 the database does not answer; 78 a check failed
        """

    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        let isJSON = arguments.flag("--json")
        try arguments.finish()
        let given = arguments.given
        var report = CheckReport()
        report.add(ConfigurationCheck(given: given).run())
        let setting = CheckedSetting(given)
        report.add(await setting.database())
        if let standby = setting.standby() { report.add([await standby.run()]) }
        if let log = setting.log() { report.add(await log.run()) }
        if let file = setting.checkpointFile { report.add([ResourceCheck.disk(of: file)]) }
        report.add([
            ResourceCheck.descriptors(setting.configuration),
            ResourceCheck.timeZones(at: SystemClock().now()),
        ])
        report.add(try await setting.providers().run())
        try report.finish(asJSON: isJSON)
    }
}
