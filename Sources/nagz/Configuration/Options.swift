import Domain
import Foundation
import HTTPClient
import NagzAI
import Postgres
import Server

/// The configuration's options. `deploy/configuration.md` describes them.
enum Options {
    static let standardLoopCount = max(1, min(ProcessInfo.processInfo.activeProcessorCount, 16))
    private static let defaults = Configuration(databaseURL: "", tokenKeys: [], loops: standardLoopCount)
    private static let databaseVerbs: Set = ["serve", "migrate", "admin", "audit", "seed"]

    /// The options in the order in which they are shown.
    static let all: [any AnyOption] = [
        databaseURL, standby, ownerDatabaseURL, migrationsFolder, tokenKeys, auditKeyring, auditCheckpointFile, host,
        port, loopCount, databaseConnections, metrics, cors, homeRedirect, proxies, drainSeconds, purgeDays,
        escalationPlan, scheduler, push, sms, sendsTokensAndPhones, webhookSecret, apnsKey, vapidKey, vapidContact,
        mail, mailFrom, mailPassword, publicURL, deliveryNetworks, deliveries, auditCheck,
        rateLimits, logLevel, slowQueryThreshold, otlp,
        developmentTokens, modelURL,
        modelName, modelKeyFile, modelPrompts,
    ]

    /// Whether a command reads the configuration file.
    static func readsConfiguration(_ verb: String) -> Bool {
        verb == "config" || databaseVerbs.contains(verb) || checkingVerbs.contains(verb)
    }

    /// The commands that accept the options of `serve`, and report invalid ones instead of ending.
    static let checkingVerbs: Set = ["doctor", "restore-check"]

    // MARK: Database

    static let databaseURL = Option(
        "database-url", variable: "DATABASE_URL", verbs: databaseVerbs, format: .connectionString,
        parse: checkedConnectionString)
    /// The URL of one or several hot standbys, which read long pages of the feed.
    static let standby = Option(
        "standby", variable: "NAGZ_STANDBY", defaultText: "none", format: .connectionString,
        parse: checkedConnectionString)
    /// The URL of the schema's owner, for commands that work as the owner. They have no flag for it, but their
    /// `--database-url` replaces it.
    static let ownerDatabaseURL = Option(
        "owner-database-url", variable: "NAGZ_OWNER_DATABASE_URL", verbs: [], format: .connectionString,
        parse: checkedConnectionString)
    /// The folder of the migrations.
    static let migrationsFolder = Option(
        "migrations", variable: "NAGZ_MIGRATIONS", defaultText: "Migrations", verbs: ["serve", "migrate"],
        parse: Migrate.existingFolder)

    @Sendable
    private static func checkedConnectionString(_ text: String) throws -> String {
        guard ConnectionOptions.masked(text) != nil else {
            throw OptionError("takes a libpq connection string, such as postgres:///nagz?host=/run/postgresql")
        }
        return text
    }

    // MARK: Secrets and files

    static let tokenKeys = Option(
        "token-key-file", variable: "NAGZ_TOKEN_KEY_FILE", verbs: ["serve", "seed"], parse: TokenKeys.read)
    static let auditKeyring = Option(
        "audit-key-file", variable: "NAGZ_AUDIT_KEY_FILE", verbs: ["serve", "admin", "audit", "seed"],
        parse: AuditKeyFile.read)
    static let auditCheckpointFile = Option(
        "audit-checkpoint-file", variable: "NAGZ_AUDIT_CHECKPOINT_FILE", defaultText: "audit-key-file + .checkpoint",
        verbs: ["serve", "audit"]
    ) { CheckpointFile(path: $0) }

    // MARK: Listening

    static let host = Option("host", defaultText: defaults.host) { $0 }
    static let port = Option("port", defaultText: "\(defaults.port)") { UInt16(try parseNumber($0, in: 0...65_535)) }
    /// The number of event loops, with one thread each.
    static let loopCount = Option("loops", defaultText: "\(defaults.loops)") { try parseNumber($0, in: 1...256) }
    /// The number of database sessions for requests.
    static let databaseConnections = Option("connections", defaultText: "four a loop, at most 16") {
        try parseNumber($0, in: 1...1_000)
    }
    /// The address of `/metrics`.
    static let metrics = Option(
        "metrics", defaultText: "127.0.0.1, port + \(MetricsOption.portDistance)", parse: MetricsOption.init)
    /// The origins that may call the API from a browser.
    static let cors = Option("cors", defaultText: defaults.corsOrigins.joined(separator: ","), parse: parseList)
    /// The path or URL to which `/` leads.
    static let homeRedirect = Option("home", defaultText: "a page with links", format: .webAddress) { text in
        var configuration = defaults
        guard configuration.setHomeRedirect(text) else {
            throw OptionError("takes a path such as /console, or an http or https URL")
        }
        return text
    }
    /// The addresses and blocks of proxies whose `X-Forwarded-For` is trusted.
    static let proxies = Option("proxies", defaultText: "none") { text in
        let names = parseList(text)
        var configuration = defaults
        do throws(Configuration.UnknownProxy) { try configuration.trust(proxies: names) } catch {
            throw OptionError("takes addresses and blocks such as 10.0.0.0/8, with commas; not “\(error.name)”")
        }
        return names
    }

    /// The seconds after SIGTERM or SIGINT during which the server still serves, but answers 503 to
    /// `/health/ready`.
    static let drainSeconds = Option("drain-delay", defaultText: "0") { try parseNumber($0, in: 0...300) }

    // MARK: Jobs and notifications

    /// The days from the deletion of an account to its purge.
    static let purgeDays = Option("purge-after", defaultText: "\(defaults.purgeDays)") {
        try parseNumber($0, in: AccountPurgeCommand.allowedDays)
    }
    /// The times at which nags escalate.
    static let escalationPlan = Option(
        "escalation", defaultText: EscalationPlan.standard.text, parse: readEscalationPlan)
    /// Whether this instance escalates nags.
    static let scheduler = Option("scheduler", defaultText: "on", parse: parseSwitch)
    /// The provider of push messages: `log`, a webhook's URL, or Apple's service.
    static let push = Option("push", defaultText: "log", format: .webAddress) { $0 }
    /// The provider of text messages: `log` or a webhook's URL.
    static let sms = Option("sms", defaultText: "log", format: .webAddress) { $0 }
    static let webhookSecret = Option(
        "webhook-secret-file", variable: "NAGZ_WEBHOOK_SECRET_FILE", parse: DeliveryOptions.readWebhookSecret)
    static let apnsKey = Option("apns-key-file", variable: "NAGZ_APNS_KEY_FILE") { path in
        (path: path, key: try KeyFile.read(path, name: "the APNs key file"))
    }
    /// Whether webhooks get people's device tokens and telephone numbers.
    static let sendsTokensAndPhones = Option("push-tokens", defaultText: "off", parse: parseSwitch)
    static let vapidKey = Option("vapid-key-file", variable: "NAGZ_VAPID_KEY_FILE") { path in
        (path: path, key: try KeyFile.read(path, name: "the VAPID key file"))
    }
    /// The address to which push services of browsers may write.
    static let vapidContact = Option("vapid-contact") { $0 }
    /// The URL of the SMTP relay or webhook that sends mails; `none` for no mails.
    static let mail = Option("mail", defaultText: "none", format: .webAddress) { $0 }
    /// The sender of the mails.
    static let mailFrom = Option("mail-from") { text in
        guard let address = MailOptions.normalizedAddress(text) else { throw OptionError("takes an email address") }
        return address
    }
    static let mailPassword = Option("mail-password-file", variable: "NAGZ_MAIL_PASSWORD_FILE") { path in
        try KeyFile.read(path, name: "the mail relay's password file").trimmingCharacters(in: .whitespacesAndNewlines)
    }
    /// The server's URL as people know it, for links in mails.
    static let publicURL = Option("public-url", defaultText: "none", format: .webAddress) { text in
        let isHTTP = text.lowercased().hasPrefix("https://") || text.lowercased().hasPrefix("http://")
        guard isHTTP, text.utf8.count <= 500, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            !text.contains(where: { "?#".contains($0) })
        else { throw OptionError("takes an address such as https://nagz.example.org") }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
    }
    /// The private networks into which webhooks and mails may lead.
    static let deliveryNetworks = Option("delivery-networks", defaultText: "none", parse: DeliveryOptions.parseNetworks)
    /// Whether this instance sends notifications.
    static let deliveries = Option("deliveries", defaultText: "on", parse: parseSwitch)
    /// Whether this instance may check the audit log in the background.
    static let auditCheck = Option("audit-check", defaultText: "on", parse: parseSwitch)

    // MARK: Limits, log and development

    static let rateLimits = Option("rate-limits", defaultText: "on", parse: parseSwitch)
    /// The lowest severity that is logged.
    static let logLevel = Option("log", defaultText: "info") { text in
        guard let level = Log.Level(named: text) else { throw OptionError("takes info, warning, error or off") }
        return level
    }
    /// The duration from which a statement is logged as slow: milliseconds, or `off`.
    static let slowQueryThreshold = Option("slow-queries", defaultText: "500") { text -> Duration? in
        text == "off" ? nil : .milliseconds(try parseNumber(text, in: 1...60_000))
    }
    /// The collector of traces; `off` for no traces.
    static let otlp = Option("otlp", defaultText: "off", format: .webAddress) { text -> TraceCollector? in
        if text == "off" { return nil }
        guard let collector = TraceCollector(text) else {
            throw OptionError("takes off, an https URL, or an http URL of this machine such as http://127.0.0.1:4318")
        }
        return collector
    }
    /// Whether a token that names any user is accepted without a password.
    static let developmentTokens = Option("dev-tokens", defaultText: "off", isSwitch: true, parse: parseSwitch)

    // MARK: Language model

    /// The URL of a language model's gateway on this machine.
    static let modelURL = Option("model-url", variable: "NAGZ_MODEL_URL", format: .webAddress) { $0 }
    static let modelName = Option("model-name", variable: "NAGZ_MODEL_NAME") { $0 }
    static let modelKeyFile = Option("model-key-file", variable: "NAGZ_MODEL_KEY_FILE") { $0 }
    /// The file of the prompts that replace the built-in ones.
    static let modelPrompts = Option(
        "model-prompts", variable: "NAGZ_MODEL_PROMPTS", defaultText: "built in", parse: ModelArguments.readPrompts)

    // MARK: Parsing values

    static func parseNumber(_ text: String, in range: ClosedRange<Int>) throws(OptionError) -> Int {
        guard let number = Int(text), range.contains(number) else {
            throw OptionError("takes a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    @Sendable
    private static func parseSwitch(_ text: String) throws -> Bool {
        guard ["on", "off"].contains(text) else { throw OptionError("takes on or off") }
        return text == "on"
    }

    @Sendable
    private static func parseList(_ text: String) -> [String] {
        text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// Reads the windows of escalation from the text, or if it has no `=` from the file that it names.
    @Sendable
    private static func readEscalationPlan(_ value: String) throws -> EscalationPlan {
        var text = value
        if !value.contains("=") {
            guard let data = FileManager.default.contents(atPath: value), data.count <= 4_096 else {
                throw Stop(.configuration, "there is no file “\(value)” of at most 4096 bytes")
            }
            text = String(decoding: data, as: UTF8.self)
        }
        do throws(EscalationPlan.Malformed) { return try EscalationPlan(text: text) } catch {
            throw Stop(.usage, "\(error)")
        }
    }
}
