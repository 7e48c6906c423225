import Domain
import Foundation
import Postgres
import Reactor
import Server

/// `nagz serve`: serves until SIGTERM or SIGINT, then drains.
enum Serve {
    static let usage = """
        nagz serve — runs the server until SIGTERM or SIGINT, then finishes the requests under way

        usage: nagz serve [--database-url URL] [OPTION …]

          --database-url URL       the server's login at PostgreSQL; else DATABASE_URL
          --host ADDRESS           where to listen; 127.0.0.1
          --port N                 9800; 0 takes a free one
          --metrics ADDRESS:PORT   where to serve /metrics for Prometheus; 127.0.0.1:9890; “off” for nowhere
          --loops N                event loops, a thread each; one a processor, at most 16
          --connections N          database sessions; four a loop, at most 16
          --cors ORIGIN,…          origins whose browsers may call the API; http://localhost:5173
          --home ADDRESS           where / leads: a path or a URL; a page with links to the console and the API
          --proxies ADDRESS,…      proxies and blocks (10.0.0.0/8) whose X-Forwarded-For is trusted
          --drain-delay SECONDS    how long it serves on after SIGTERM while /health/ready says 503, so that proxies stop
                                   sending; a second signal ends it; 0, at most 300
          --purge-after DAYS       from the deletion of an account to its purge; 28, at most 30
          --escalation WINDOWS     when nags escalate, from their due time, and how often reminders repeat:
                                   phase_1=-60m,phase_2=0,phase_3=60m,phase_4=180m,missed=24h,reminders=15m
                                   (s, m, h or d; what is left out stays so), or a file with such a line
          --scheduler on|off       on; whether this instance takes escalation steps
          --push PROVIDER          where push messages go: log (the default, without their words), the URL of a
                                   webhook, or apns:KEY_ID,TEAM_ID,BUNDLE_ID[,sandbox]
          --sms PROVIDER           the same for text messages: log, or the URL of a gateway's webhook
          --delivery-networks BLOCK,…
                                   networks of the own site that webhooks may lead into (192.168.0.0/16); none
          --deliveries on|off      on; whether this instance sends notifications
          --audit-check on|off     on; whether this instance may check the audit log in the background
          --rate-limits on|off     on; off is for tests and benchmarks
          --log LEVEL              info, warning, error or off; info
          --migrations FOLDER      the migrations that the schema must have; else NAGZ_MIGRATIONS or Migrations
          --dev-tokens             accepts “Bearer dev:<user id>” from everybody: for development only

        Secrets come from files that only their owner may read:
          NAGZ_TOKEN_KEY_FILE         keys of the access tokens, 64 hexadecimal digits a line, the newest first
          NAGZ_AUDIT_KEY_FILE         keys of the audit log: nagz audit keys new
          NAGZ_AUDIT_CHECKPOINT_FILE  the log's newest checkpoint, kept over restarts; beside the keys by default
          NAGZ_WEBHOOK_SECRET_FILE    signs the messages to webhooks: 32 characters or more
          NAGZ_APNS_KEY_FILE          Apple's .p8 file
          NAGZ_MODEL_KEY_FILE         what the language model's gateway asks for; none without it

        A language model on this machine, with OpenAI's protocol:
          NAGZ_MODEL_URL              its base URL, such as http://127.0.0.1:8081/v1: 127.0.0.1 or [::1] only
          NAGZ_MODEL_NAME             the model, as the gateway lists it
          NAGZ_MODEL_PROMPTS          a file of prompts in the place of the built-in ones
        """

    static func run(_ arguments: Arguments, _ termination: TerminationSignals) async throws {
        var arguments = arguments
        let folder = try Migrate.folder(&arguments)
        var configuration = try configuration(&arguments)
        let metrics = try MetricsOption(&arguments)
        let drainDelay = try arguments.number("--drain-delay", in: 0...300) ?? 0
        let descriptors = DescriptorLimit.raise()
        configuration.descriptors = descriptors
        try arguments.finish()
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        let watcher = try EventLoop(name: "nagz-signals")
        try watcher.start()
        try await termination.watch(on: watcher) { continuation.yield($0) }

        ProcessMemory.returnLargeBlocks()
        // Both connect to the database at the same time; until the check is done the server does nothing else.
        async let check: Void = checkSchema(folder, configuration.databaseURL)
        let server = try await NagzServer(configuration)
        try await check
        let metricsLine = try await metrics.listen(server)
        let port: UInt16
        do throws(SystemError) {
            port = try await server.listen(host: configuration.host, port: configuration.port)
        } catch {
            if error.number == EADDRINUSE {
                throw Stop(.portTaken, "port \(configuration.port) is taken: stop what listens there or pass --port")
            }
            throw Stop(.configuration, "cannot listen on \(configuration.host) port \(configuration.port): \(error)")
        }
        if configuration.acceptsDevelopmentTokens {
            say("WARNING: development tokens are on; everybody may act as anybody")
        }
        if let connections = configuration.scarceConnections {
            say("no more than \(connections) connections at once: \(descriptors) descriptors are allowed (ulimit -n)")
        }
        say("nagz \(NagzVersion.current) serves http://\(configuration.host):\(port)")
        say(metricsLine)
        var received = signals.makeAsyncIterator()
        let reason = await received.next() == SIGINT ? "interrupted" : "told to stop"
        if drainDelay > 0 {
            server.announceShutDown()
            say("\(reason): not ready any more, serving on for \(drainDelay) s or until the next signal")
            let delay = Task {
                try? await Task.sleep(for: .seconds(drainDelay))
                continuation.yield(SIGTERM)
            }
            _ = await received.next()
            delay.cancel()
        }
        say("\(reason): finishing what is under way")
        await server.shutDown()
        watcher.stop()
        say("stopped")
    }

    /// A server must not run with a schema of another version, or with a login that may do too much.
    private static func checkSchema(_ folder: String, _ url: String) async throws {
        do {
            try await Schema.check(folder: folder, databaseURL: url)
        } catch let fault as PostgresError {
            throw Stop(.unavailable, fault.description)
        } catch {
            throw Stop(.configuration, "\(error)")
        }
    }

    private static func configuration(_ arguments: inout Arguments) throws -> Configuration {
        let url = try arguments.serverDatabaseURL()
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let loops = try arguments.number("--loops", in: 1...256) ?? max(1, min(cores, 16))
        var configuration = Configuration(databaseURL: url, tokenKeys: try TokenKeys.read(), loops: loops)
        configuration.auditKeyring = try AuditKeyFile.read()
        configuration.checkpointFile = try AuditKeyFile.checkedCheckpointFile()
        if let host = try arguments.value("--host") { configuration.host = host }
        if let port = try arguments.number("--port", in: 0...65_535) { configuration.port = UInt16(port) }
        if let count = try arguments.number("--connections", in: 1...1_000) {
            configuration.databaseConnections = count
        }
        if let days = try arguments.number("--purge-after", in: AccountPurgeCommand.days) {
            configuration.purgeDays = days
        }
        if let origins = try arguments.value("--cors") {
            configuration.corsOrigins = origins.split(separator: ",").map(String.init)
        }
        if let home = try arguments.value("--home"), !configuration.lead(home: home) {
            throw Stop(.usage, "--home takes a path such as /console, or an http or https URL; not “\(home)”")
        }
        if let proxies = try arguments.value("--proxies") {
            do throws(Configuration.UnknownProxy) {
                try configuration.trust(proxies: proxies.split(separator: ",").map(String.init))
            } catch {
                throw Stop(
                    .usage, "--proxies takes addresses and blocks such as 10.0.0.0/8, with commas; not “\(error.name)”")
            }
        }
        if let name = try arguments.value("--log") {
            guard let level = Log.Level(named: name) else {
                throw Stop(.usage, "--log takes info, warning, error or off")
            }
            configuration.logLevel = level
        }
        if let isOn = try arguments.isOn("--rate-limits") { configuration.enforcesRateLimits = isOn }
        if let isOn = try arguments.isOn("--scheduler") { configuration.runsScheduler = isOn }
        if let isOn = try arguments.isOn("--deliveries") { configuration.runsDeliveries = isOn }
        if let isOn = try arguments.isOn("--audit-check") { configuration.runsBackgroundCheck = isOn }
        configuration.deliveries = try DeliveryOptions(&arguments)
        configuration.models = try ModelOptions.ofEnvironment()
        if let windows = try arguments.value("--escalation") { configuration.escalationPlan = try escalation(windows) }
        configuration.acceptsDevelopmentTokens = arguments.flag("--dev-tokens")
        return configuration
    }

    /// Windows of escalation: as they are, or the name of a file that holds them.
    private static func escalation(_ value: String) throws -> EscalationPlan {
        var text = value
        if !value.contains("=") {
            guard let data = FileManager.default.contents(atPath: value), data.count <= 4_096 else {
                throw Stop(.configuration, "--escalation: there is no file “\(value)” of at most 4096 bytes")
            }
            text = String(decoding: data, as: UTF8.self)
        }
        do throws(EscalationPlan.Malformed) { return try EscalationPlan(text: text) } catch {
            throw Stop(.usage, "--escalation: \(error)")
        }
    }

    /// Prints a line for whoever reads standard output, if anybody does.
    private static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
}
