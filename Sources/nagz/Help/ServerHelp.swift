import Seeds

/// The help of the commands that run, check and fill a server.
enum ServerHelp {
    static let serve = CommandHelp(
        "serve", "run the server until SIGTERM or SIGINT", forms: ["[--database-url URL] [OPTION …]"],
        details: """
            The server finishes the requests in progress before it ends. Options may be set in a file, and some in the
            environment; the command line has precedence over the environment, and that over the file.
            """,
        sections: serveSections,
        exitCodes: [
            .init("0", "stopped by a signal"), .init("64", "wrong usage"), .init("69", "the database is unavailable"),
            .init("73", "the port is in use"), .init("78", "the configuration is wrong"),
        ],
        examples: [
            (
                "Serve on another port, for a web application on this machine",
                "nagz serve --port 9801 --cors http://localhost:3000"
            ),
            ("Take the options from a file", "nagz serve --config /etc/nagz/nagz.conf"),
        ], seeAlso: ["doctor", "config", "migrate"])

    static let serveSections: [CommandHelp.Section] = [
        .init(
            title: "Database",
            terms: [
                .init(Options.databaseURL, "URL", "the server's login at PostgreSQL"),
                .init(Options.standby, "URL", "a hot standby, which reads long pages of the feed"),
                .init(Options.databaseConnections, "N", "database sessions"),
                .init(Options.migrationsFolder, "FOLDER", "the migrations that the schema must have"),
            ]),
        .init(
            title: "Network",
            terms: [
                .init(Options.host, "ADDRESS", "the address to listen on"),
                .init(Options.port, "N", "the port; 0 takes a free one"),
                .init(Options.metrics, "ADDRESS:PORT", "where to serve /metrics for Prometheus; off for nowhere"),
                .init(Options.loopCount, "N", "event loops, each with a thread"),
                .init(Options.cors, "ORIGIN,…", "origins whose browsers may call the API"),
                .init(Options.homeRedirect, "ADDRESS", "where / leads: a path or a URL"),
                .init(
                    Options.proxies, "ADDRESS,…",
                    "proxies and blocks, such as 10.0.0.0/8, whose X-Forwarded-For is trusted"),
                .init(
                    Options.drainSeconds, "SECONDS",
                    "how long to continue serving after SIGTERM while /health/ready answers 503, so that proxies stop sending; a second signal ends it; at most 300"
                ),
                .init(
                    Options.publicURL, "URL",
                    "the address of this server as people know it, for links in mails and the name in codes by text message; neither without it"
                ),
                .init(Options.rateLimits, "on|off", "whether to limit requests; off is for tests and benchmarks"),
            ]),
        .init(
            title: "Jobs",
            terms: [
                .init(Options.scheduler, "on|off", "whether this instance escalates nags"),
                .init(
                    Options.escalationPlan, "WINDOWS",
                    "when nags escalate, from their due time, and how often reminders repeat (s, m, h or d; omitted ones keep their default), or a file with such a line"
                ),
                .init(Options.auditCheck, "on|off", "whether this instance may check the audit log in the background"),
                .init(Options.purgeDays, "DAYS", "days from the deletion of an account to its purge, at most 30"),
            ]),
        .init(
            title: "Notifications",
            terms: [
                .init(Options.deliveries, "on|off", "whether this instance sends notifications"),
                .init(
                    Options.push, "PROVIDER",
                    "where push messages go: log (without their words), the URL of a webhook, or apns:KEY_ID,TEAM_ID,BUNDLE_ID[,sandbox]"
                ),
                .init(
                    Options.sendsTokensAndPhones, "on|off",
                    "whether webhooks receive the platforms and tokens of devices, and the numbers that text messages go to"
                ),
                .init(
                    Options.vapidContact, "ADDRESS",
                    "mailto:YOU@EXAMPLE.ORG or an https address for push services; needed with a VAPID key"),
                .init(Options.sms, "PROVIDER", "where text messages go: log, or the URL of a gateway's webhook"),
                .init(
                    Options.mail, "CARRIER",
                    "where mails about accounts go: smtps://[USER@]HOST, smtp://[USER@]HOST:587 (STARTTLS; without TLS only to this machine), or the URL of a webhook"
                ),
                .init(Options.mailFrom, "ADDRESS", "the sender of mails, required with --mail"),
                .init(
                    Options.deliveryNetworks, "BLOCK,…",
                    "private networks in which webhooks and mail relays may be, such as 192.168.0.0/16"),
            ]),
        .init(
            title: "Log and traces",
            terms: [
                .init(Options.logLevel, "LEVEL", "info, warning, error or off"),
                .init(
                    Options.slowQueryThreshold, "MS|off",
                    "the milliseconds from which a database statement is logged, without its values"),
                .init(
                    Options.otlp, "URL|off",
                    "sends traces to a collector with OTLP over HTTP, at URL/v1/traces; without TLS only to this machine"
                ),
            ]),
        .init(
            title: "Secrets, in files that only their owner may read",
            terms: [
                .init(
                    Options.tokenKeys, "FILE",
                    "keys of the access tokens, 64 hexadecimal digits a line, the newest first"),
                .init(Options.auditKeyring, "FILE", "keys of the audit log, from nagz audit keys new"),
                .init(Options.auditCheckpointFile, "FILE", "the log's newest checkpoint, for the next start"),
                .init(Options.webhookSecret, "FILE", "signs the messages to webhooks: 32 characters or more"),
                .init(Options.apnsKey, "FILE", "Apple's .p8 file"),
                .init(Options.vapidKey, "FILE", "a P-256 key for messages to browsers (Web Push)"),
                .init(Options.mailPassword, "FILE", "the password for the mail relay"),
                .init(Options.modelKeyFile, "FILE", "the key for the language model's gateway"),
            ]),
        .init(
            title: "Language model, with OpenAI's protocol",
            terms: [
                .init(
                    Options.modelURL, "URL", "its base URL, such as http://127.0.0.1:8081/v1: 127.0.0.1 or [::1] only"),
                .init(Options.modelName, "NAME", "the name of the model, as the gateway lists it"),
                .init(Options.modelPrompts, "FILE", "a file of prompts instead of the built-in ones"),
            ]),
        .init(
            title: "Other options",
            terms: [
                configFileOption,
                .init(
                    Options.developmentTokens, "[on|off]",
                    "accepts “Bearer dev:<user ID>” from anyone: for development only"),
            ]),
    ]

    static let configFileOption = CommandHelp.Term(
        "--config FILE", "a file of options (else NAGZ_CONFIG): nagz help config")
    /// The option of the commands that work as the schema's owner.
    static let ownerURLOption = CommandHelp.Term(
        "--database-url URL", "the login of the schema's owner (else NAGZ_OWNER_DATABASE_URL, else DATABASE_URL)")
    static let auditKeysOption = CommandHelp.Term(Options.auditKeyring, "FILE", "the keys of the audit log")
    static let jsonOption = CommandHelp.Term("--json", "prints JSON")
    /// The exit codes of `nagz doctor` and `nagz restore-check`.
    private static let checkExitCodes: [CommandHelp.Term] = [
        .init("0", "nothing failed; there may be warnings"), .init("64", "wrong usage"),
        .init("69", "the database does not answer"), .init("78", "a check failed"),
    ]
    private static let configDetails = """
        The file is named by --config, else by NAGZ_CONFIG. Its lines are “option = value”, with the names of the options of
        nagz serve without “--”, and comments that begin with “#”. “owner-database-url” is the login of the schema's owner, for
        the other commands. A switch such as dev-tokens takes on or off. Relative paths begin where the program was started.
        A command ignores the options of other commands.

            # /etc/nagz/nagz.conf
            database-url = postgres://nagz_serve@db.example.org/nagz?passfile=/etc/nagz/pgpass
            token-key-file = /etc/nagz/token.key
            port = 9801

        The command line has precedence over the environment, and that over the file. The file holds no secret: a URL with a
        password in it is refused.
        """
    private static let reportJSONOption = CommandHelp.Term(
        "--json", "one JSON object: failed, warnings, and checks with name, status (not_configured), text and advice")

    static let migrate = CommandHelp(
        "migrate", "create or update the database schema, and the server's role with its grants",
        forms: ["[--database-url URL] [--dry-run] [--migrations FOLDER]"],
        details: """
            Each migration is one transaction; migrations only go forward. The login must be that of the schema's owner.
            """,
        options: [
            ownerURLOption, .init("--dry-run", "prints what would be done, and changes nothing"),
            .init(Options.migrationsFolder, "FOLDER", "the folder of the migrations"), configFileOption,
        ], examples: [("See which migrations are missing", "nagz migrate --dry-run")], seeAlso: ["serve", "doctor"])

    static let doctor = CommandHelp(
        "doctor", "check everything that a server needs, and say what to do where something is wrong",
        forms: ["[--json] [--config FILE] [OPTION …]"],
        details: """
            Takes the options of nagz serve, its environment and its configuration file: run it as the server is run, by the
            same user. It changes nothing, creates no file, and may run beside a server.

            It checks the whole configuration; the files of secrets, with their modes and owners; the database, whether it
            takes writes, the encryption of the connection and the clocks; the server's role and its grants; the schema's
            migrations; the standby that reads the feed; the checkpoint file, and whether the audit log extends it; disk
            space; file descriptors; the age of the time zone database; the model gateway and the providers of
            notifications, to which it sends no words and no notification.

            Each line says ok, warning, failed or not configured; the next line says what to do.
            """,
        options: [reportJSONOption, configFileOption], exitCodes: checkExitCodes,
        examples: [("Check the configuration of the service", "nagz doctor --config /etc/nagz/nagz.conf")],
        seeAlso: ["config", "restore-check"])

    static let restoreCheck = CommandHelp(
        "restore-check", "check a database that was restored from a backup, before the service is opened again",
        forms: ["[--json] [--config FILE] [OPTION …]"],
        details: """
            Takes the options of nagz serve, its environment and its configuration file. It changes nothing. Stop all servers
            first, then run nagz migrate as the schema's owner: a dump has no roles.

            It checks what nagz doctor checks of configuration, secrets and database; how many entries of the audit log are
            lost, against the checkpoint file; that the audit key file opens the sealed keys; the newest entries of the audit
            log and their bodies; that the family clocks, which give the next number, fit the newest entries; triggers,
            functions, policies and constraints; indexes; and that phones will read their families anew.

            Each line says ok, warning, failed or not configured; the next line says what to do. nagz audit reconcile verifies
            everything that this command verifies in samples; it takes longer.
            """,
        options: [reportJSONOption, configFileOption], exitCodes: checkExitCodes,
        seeAlso: ["audit reconcile", "admin resync", "audit accept"])

    static let config = CommandHelp(
        "config", "check and show the configuration of serve, doctor, migrate, admin, audit and seed",
        forms: ["check [--config FILE] [OPTION …]", "show [--config FILE] [OPTION …]"], details: configDetails,
        options: [configFileOption], seeAlso: ["serve", "doctor"])

    static let seed = CommandHelp(
        "seed", "fill a database with demo or benchmark data",
        forms: ["demo [--if-empty]", "personas", "bench [--families N] [--out FOLDER]"],
        details: "deploy/run seeds the demo on its first run.",
        options: [ownerURLOption, auditKeysOption, configFileOption],
        seeAlso: ["migrate", "serve"])

    static let subcommands = [
        CommandHelp(
            "config check", "print everything that is wrong with the configuration, one line each",
            forms: ["[--config FILE] [OPTION …]"],
            details: """
                Each line has the file's line or the name of the option. The database is not needed.
                """,
            options: [configFileOption],
            exitCodes: [
                .init("0", "nothing is wrong"), .init("64, 78", "the code with which nagz serve would end"),
            ],
            examples: [
                ("Check a file before the service is restarted", "nagz config check --config /etc/nagz/nagz.conf")
            ],
            seeAlso: ["config show", "doctor"]),
        CommandHelp(
            "config show", "print every option with its value and its origin", forms: ["[--config FILE] [OPTION …]"],
            details: """
                The origin is the command line, the environment, the file or the default. Passwords are masked.
                """,
            options: [configFileOption], examples: [("See where a value comes from", "nagz config show | grep port")],
            seeAlso: ["config check"]),
        CommandHelp(
            "seed demo", "create a family with ninety days of history, and print its sign-ins", forms: ["[--if-empty]"],
            details: "The database must have no other data.",
            options: [
                .init("--if-empty", "leaves a database that has data as it is, and ends with 0"), ownerURLOption,
                auditKeysOption,
                configFileOption,
            ],
            examples: [("Seed a new database", "nagz migrate && nagz seed demo")], seeAlso: ["seed personas"]),
        CommandHelp(
            "seed personas", "create the five people of the mobile client's development build",
            details: "A server with --dev-tokens accepts their tokens, which are printed.",
            options: [ownerURLOption, auditKeysOption, configFileOption],
            seeAlso: ["serve", "seed demo"]),
        CommandHelp(
            "seed bench", "create families for deploy/bench, and its scripts", forms: ["[--families N] [--out FOLDER]"],
            options: [
                .init("--families N", "the number of families (default \(BenchmarkSeed.standardFamilyCount))"),
                .init("--out FOLDER", "the folder of the scripts, created if it is missing (default: this folder)"),
                ownerURLOption, auditKeysOption,
                .init(Options.tokenKeys, "FILE", "the keys of the access tokens"), configFileOption,
            ], examples: [("Fill a database for a small benchmark", "nagz seed bench --families 100 --out /tmp/bench")],
            seeAlso: ["seed demo"]),
    ]
}
