import Contract
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
          --standby URL            a hot standby of it, which reads long pages of the feed; else NAGZ_STANDBY; none
          --host ADDRESS           where to listen; 127.0.0.1
          --port N                 9800; 0 takes a free one
          --metrics ADDRESS:PORT   where to serve /metrics for Prometheus; 127.0.0.1, 90 above --port; “off” for nowhere
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
          --mail CARRIER           where mails about accounts go: smtps://[USER@]HOST, smtp://[USER@]HOST:587 (STARTTLS; without
                                   TLS only to this machine), or the URL of a webhook; none without it
          --mail-from ADDRESS      their sender; needed with --mail
          --public-url URL         the address of this server as people know it, for links in mails; no links without it
          --delivery-networks BLOCK,…
                                   networks of the own site that webhooks and mails may lead into (192.168.0.0/16); none
          --deliveries on|off      on; whether this instance sends notifications
          --audit-check on|off     on; whether this instance may check the audit log in the background
          --rate-limits on|off     on; off is for tests and benchmarks
          --log LEVEL              info, warning, error or off; info
          --slow-queries MS|off    from how many milliseconds on database statements are logged, without their values; 500
          --otlp URL|off           sends traces to a collector with OTLP over HTTP, at URL/v1/traces; without TLS only to
                                   this machine; off
          --migrations FOLDER      the migrations that the schema must have; else NAGZ_MIGRATIONS or Migrations
          --dev-tokens [on|off]    accepts “Bearer dev:<user id>” from everybody: for development only

        Secrets come from files that only their owner may read:
          --token-key-file FILE         keys of the access tokens, 64 hexadecimal digits a line, the newest first
          --audit-key-file FILE         keys of the audit log: nagz audit keys new
          --audit-checkpoint-file FILE  the log's newest checkpoint, kept over restarts; beside the keys by default
          --webhook-secret-file FILE    signs the messages to webhooks: 32 characters or more
          --apns-key-file FILE          Apple's .p8 file
          --mail-password-file FILE     what the mail relay asks for; none without it
          --model-key-file FILE         what the language model's gateway asks for; none without it

        A language model on this machine, with OpenAI's protocol:
          --model-url URL          its base URL, such as http://127.0.0.1:8081/v1: 127.0.0.1 or [::1] only
          --model-name NAME        the model, as the gateway lists it
          --model-prompts FILE     a file of prompts in the place of the built-in ones

        The options from “Secrets” on may come from the environment instead: NAGZ_TOKEN_KEY_FILE for --token-key-file and so on.
        --config FILE, else NAGZ_CONFIG, names a file for what neither gives: nagz config --help.
        nagz doctor, with the same options, checks all that they need.
        """

    static func run(_ arguments: Arguments, _ termination: TerminationSignals) async throws {
        try arguments.finish()
        let folder = try Migrate.folder(arguments.given)
        var configuration = try configuration(arguments.given)
        let wantedPort = configuration.port
        let metrics = try arguments.given[Options.metrics] ?? MetricsOption(beside: wantedPort)
        let drainDelay = try arguments.given[Options.drainDelay] ?? 0
        let descriptors = DescriptorLimit.raise()
        configuration.descriptors = descriptors
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

    private static func configuration(_ given: GivenOptions) throws -> Configuration {
        guard let url = try given[Options.databaseURL] else {
            throw Stop(.configuration, "no database: set DATABASE_URL or pass --database-url (deploy/run makes one)")
        }
        let loops = try given[Options.loops] ?? Options.standardLoops
        var configuration = Configuration(databaseURL: url, tokenKeys: try TokenKeys.read(given), loops: loops)
        configuration.auditKeyring = try AuditKeyFile.read(given)
        configuration.checkpointFile = try AuditKeyFile.checkedCheckpointFile(given)
        configuration.standbyURL = try given[Options.standby]
        if let host = try given[Options.host] { configuration.host = host }
        if let port = try given[Options.port] { configuration.port = port }
        if let count = try given[Options.connections] { configuration.databaseConnections = count }
        if let days = try given[Options.purgeAfter] { configuration.purgeDays = days }
        if let origins = try given[Options.cors] { configuration.corsOrigins = origins }
        if let home = try given[Options.home] { _ = configuration.setHome(home) }
        if let proxies = try given[Options.proxies] { try configuration.trust(proxies: proxies) }
        if let level = try given[Options.log] { configuration.logLevel = level }
        if let threshold = try given[Options.slowQueries] { configuration.slowQueries = threshold }
        if let collector = try given[Options.otlp] { configuration.traces = collector }
        if let isOn = try given[Options.rateLimits] { configuration.enforcesRateLimits = isOn }
        if let isOn = try given[Options.scheduler] { configuration.runsScheduler = isOn }
        if let isOn = try given[Options.deliveries] { configuration.runsDeliveries = isOn }
        if let isOn = try given[Options.auditCheck] { configuration.runsBackgroundCheck = isOn }
        if let plan = try given[Options.escalation] { configuration.escalationPlan = plan }
        configuration.deliveries = try DeliveryOptions(given)
        configuration.mail = try MailOptions(given)
        configuration.models = try ModelOptions(given)
        configuration.acceptsDevelopmentTokens = try given[Options.developmentTokens] ?? false
        return configuration
    }

    /// Prints a line for whoever reads standard output, if anybody does.
    private static func say(_ line: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8))
    }
}
