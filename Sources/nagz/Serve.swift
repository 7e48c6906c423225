import Contract
import Domain
import Foundation
import Postgres
import Reactor
import Server

/// `nagz serve`: serves until SIGTERM or SIGINT, then drains.
enum Serve {
    static func run(_ arguments: Arguments, _ termination: TerminationSignals) async throws {
        try arguments.finish()
        // An invalid option is reported before a missing one.
        for option in Options.all { try option.check(arguments.givenOptions) }
        var configuration = try makeConfiguration(arguments.givenOptions)
        let migrationsFolder = try Migrate.folder(arguments.givenOptions)
        let requestedPort = configuration.port
        let metrics = try arguments.givenOptions[Options.metrics] ?? MetricsOption(beside: requestedPort)
        let drainSeconds = try arguments.givenOptions[Options.drainSeconds] ?? 0
        let descriptors = DescriptorLimit.raise()
        configuration.descriptorLimit = descriptors
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        let signalLoop = try EventLoop(name: "nagz-signals")
        try signalLoop.start()
        try await termination.watch(on: signalLoop) { continuation.yield($0) }

        ProcessMemory.enableReturnOfLargeBlocks()
        // The check and the server connect to the database at the same time. The server serves nothing until the check
        // has passed.
        async let check: Void = checkSchema(migrationsFolder, configuration.databaseURL)
        let server = try await NagzServer(configuration)
        try await check
        let metricsLine = try await metrics.listen(server)
        let port: UInt16
        do throws(SystemError) {
            port = try await server.start(host: configuration.host, port: configuration.port)
        } catch {
            if error.number == EADDRINUSE {
                throw Stop(.portTaken, "port \(configuration.port) is in use: stop that program or pass --port")
            }
            throw Stop(.configuration, "cannot listen on \(configuration.host) port \(configuration.port): \(error)")
        }
        if configuration.acceptsDevelopmentTokens {
            say("WARNING: --dev-tokens is on: anyone can act as any user without a password")
        }
        for option in configuration.optionsWithRefusedURL {
            say(
                "WARNING: --\(option) names an address in a private network: "
                    + "nothing is sent there unless --delivery-networks allows it")
        }
        if let connections = configuration.reducedConnectionLimit {
            say(
                "WARNING: at most \(connections) connections at once, as only \(descriptors) descriptors are allowed: "
                    + "raise the hard limit (ulimit -Hn, LimitNOFILE=)")
        }
        say("nagz \(NagzVersion.current) serves http://\(configuration.host):\(port)")
        say(metricsLine)
        var signalIterator = signals.makeAsyncIterator()
        let reason = await signalIterator.next() == SIGINT ? "interrupted" : "SIGTERM received"
        if drainSeconds > 0 {
            server.announceShutDown()
            say("\(reason): /health/ready answers 503; serving for another \(drainSeconds) s, or until the next signal")
            let delay = Task {
                try? await Task.sleep(for: .seconds(drainSeconds))
                continuation.yield(SIGTERM)
            }
            _ = await signalIterator.next()
            delay.cancel()
        }
        say("\(reason): finishing the requests in progress")
        await server.shutDown()
        signalLoop.stop()
        say("stopped")
    }

    /// Checks that the schema has this program's version, and that the login has no more rights than it needs.
    private static func checkSchema(_ migrationsFolder: String, _ url: String) async throws {
        do {
            try await Schema.check(folder: migrationsFolder, databaseURL: url)
        } catch let fault as PostgresError {
            throw Stop(.unavailable, fault.description)
        } catch {
            throw Stop(.configuration, "\(error)")
        }
    }

    private static func makeConfiguration(_ given: GivenOptions) throws -> Configuration {
        guard let url = try given[Options.databaseURL] else {
            throw Stop(.configuration, "no database: set DATABASE_URL or pass --database-url (deploy/run makes one)")
        }
        let loops = try given[Options.loopCount] ?? Options.standardLoopCount
        var configuration = Configuration(databaseURL: url, tokenKeys: try TokenKeys.read(given), loops: loops)
        configuration.auditKeyring = try AuditKeyFile.read(given)
        configuration.checkpointFile = try AuditKeyFile.checkedCheckpointFile(given)
        configuration.standbyURL = try given[Options.standby]
        if let host = try given[Options.host] { configuration.host = host }
        if let port = try given[Options.port] { configuration.port = port }
        if let count = try given[Options.databaseConnections] { configuration.databaseConnections = count }
        if let days = try given[Options.purgeDays] { configuration.purgeDays = days }
        if let origins = try given[Options.cors] { configuration.corsOrigins = origins }
        if let home = try given[Options.homeRedirect] { _ = configuration.setHomeRedirect(home) }
        if let proxies = try given[Options.proxies] { try configuration.trust(proxies: proxies) }
        if let level = try given[Options.logLevel] { configuration.logLevel = level }
        if let threshold = try given[Options.slowQueryThreshold] { configuration.slowQueryThreshold = threshold }
        if let collector = try given[Options.otlp] { configuration.traceCollector = collector }
        if let isOn = try given[Options.rateLimits] { configuration.enforcesRateLimits = isOn }
        if let isOn = try given[Options.scheduler] { configuration.runsScheduler = isOn }
        if let isOn = try given[Options.deliveries] { configuration.runsDeliveries = isOn }
        if let isOn = try given[Options.auditCheck] { configuration.runsBackgroundCheck = isOn }
        if let plan = try given[Options.escalationPlan] { configuration.escalationPlan = plan }
        configuration.deliveries = try DeliveryOptions(given)
        configuration.mail = try MailOptions(given)
        configuration.models = try ModelOptions(given)
        configuration.acceptsDevelopmentTokens = try given[Options.developmentTokens] ?? false
        return configuration
    }

    /// Prints a line on standard output, whether or not it has a reader.
    private static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
}
