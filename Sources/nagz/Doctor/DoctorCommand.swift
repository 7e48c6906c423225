import Server

/// `nagz doctor`: checks whether a server with this configuration works, and says what to do if not.
enum DoctorCommand {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        let asJSON = arguments.takeFlag("--json")
        try arguments.finish()
        let given = arguments.givenOptions
        var report = CheckReport()
        report.add(ConfigurationCheck(given: given).run())
        let checks = CheckFactory(given)
        report.add(await checks.runDatabaseCheck())
        if let standby = checks.makeStandbyCheck() { report.add([await standby.run()]) }
        if let log = checks.makeLogCheck() { report.add(await log.run()) }
        if let file = checks.checkpointFile { report.add([ResourceCheck.checkDisk(of: file)]) }
        report.add([
            ResourceCheck.checkDescriptors(checks.descriptorCheckConfiguration),
            ResourceCheck.checkTimeZones(at: SystemClock().now()),
        ])
        report.add(try await checks.makeProviderCheck().run())
        try report.finish(asJSON: asJSON)
    }
}
