import Server

/// `nagz doctor`: checks whether a server with this configuration works, and says what to do if not.
enum DoctorCommand {
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
