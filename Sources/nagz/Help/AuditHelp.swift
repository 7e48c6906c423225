/// The help of `nagz audit`.
enum AuditHelp {
    static let audit = CommandHelp(
        "audit", "verify, export and maintain the audit log", forms: ["COMMAND [OPTION …]"],
        details: """
            --url reads a server's log, with the access token of a guardian or an administrator from NAGZ_TOKEN. Other commands
            read the database as the schema's owner.
            """,
        examples: [
            (
                "Verify an export with the key that the server prints",
                "nagz audit verify audit.ndjson --key \"$(nagz audit keys)\""
            )
        ], seeAlso: ["restore-check", "admin"])

    private static let pinnedKeyOptions: [CommandHelp.Term] = [
        .init(
            "--key TEXT",
            "a public key that you trust; may be repeated. Keys that it has handed over to are trusted too"),
        .init("--key-file FILE", "a file of such keys"),
    ]
    private static let familyOption = CommandHelp.Term("--family ID", "one family only (default: all)")
    private static let databaseOptions = [
        ServerHelp.ownerURLOption, ServerHelp.auditKeysOption, ServerHelp.configFileOption,
    ]
    private static let yesOption = CommandHelp.Term(
        "--yes", "deletes; without it the command only prints what it would delete")

    static let subcommands = [
        CommandHelp(
            "audit verify", "verify an export, or a server's audit log",
            forms: [
                "FILE --key TEXT … [--witness FILE …] [--family ID] [--max-age MINUTES]",
                "--url URL --key TEXT … [--witness FILE …] [--family ID] [--max-age MINUTES]",
            ], details: "It needs nothing but the file or the server, and a key that you trust.",
            options: pinnedKeyOptions + [
                .init("--url URL", "the server, with an access token in NAGZ_TOKEN"),
                .init("--witness FILE", "a file of nagz audit witness, which the log must extend; may be repeated"),
                familyOption,
                .init("--max-age MINUTES", "the age from which the newest checkpoint is too old"),
            ],
            exitCodes: [
                .init("0", "the audit log is sound"),
                .init("1", "it was tampered with; the first invalid entry is named"),
                .init("2", "something is missing, so that neither can be said"),
            ],
            examples: [
                ("Verify an export", "nagz audit verify audit.ndjson --key-file audit.pub"),
                (
                    "Verify a server's log against a witness",
                    "nagz audit verify --url https://nagz.example.org --key-file audit.pub --witness nagz.witness"
                ),
            ], seeAlso: ["audit export", "audit witness", "audit keys"]),
        CommandHelp(
            "audit reconcile", "compare the database with what its audit log explains",
            forms: ["[--family ID] [--json]"],
            details: """
                It replays the log, and reports each row of the database that no entry explains, each entry without its row, and
                each changed protection of the log.
                """,
            options: [familyOption, ServerHelp.jsonOption] + databaseOptions,
            exitCodes: [
                .init("0", "everything is explained"), .init("1", "something is not"),
                .init("2", "not everything could be checked"),
            ], examples: [("Check one family", "nagz audit reconcile --family 018f3c1e-0a52-7c3d-9b61-2f4e5d6c7b8a")],
            seeAlso: ["audit verify", "restore-check"]),
        CommandHelp(
            "audit export", "write the audit log as one JSON object a line",
            forms: ["[--output FILE] [--family ID] [--url URL] [--witness FILE …]"],
            details: "With the same --output it continues an interrupted run.",
            options: [
                .init("--output FILE", "the file to write (default: standard output)"), familyOption,
                .init("--url URL", "reads a server instead of the database, with an access token in NAGZ_TOKEN"),
                .init(
                    "--witness FILE",
                    "adds the proof that the log extends what a witness saw; with --url; may be repeated"),
            ] + databaseOptions,
            examples: [("Export all logs from the database", "nagz audit export --output audit.ndjson")],
            seeAlso: ["audit verify"]),
        CommandHelp(
            "audit witness", "keep a server's newest checkpoint in a file, after checking that the log has only grown",
            forms: ["--url URL --key TEXT … --file FILE [--push URL]"],
            details: """
                Run it regularly on another machine: only a witness shows that a log was truncated or rewritten.
                """,
            options: pinnedKeyOptions + [
                .init("--url URL", "the server"), .init("--file FILE", "the file that keeps the checkpoints"),
                .init("--push URL", "sends the checkpoint to another server too"),
            ], exitCodes: [.init("1", "the log was tampered with")],
            examples: [
                (
                    "Witness a server every hour, from cron",
                    "nagz audit witness --url https://nagz.example.org --key-file audit.pub --file nagz.witness"
                )
            ], seeAlso: ["audit verify"]),
        CommandHelp(
            "audit keys", "print the public keys to pin, and manage the key file",
            forms: ["[list]", "new FILE --origin NAME", "rotate", "rotate-master [--new | --wrap | --retire]"],
            options: [ServerHelp.auditKeysOption, ServerHelp.configFileOption],
            examples: [("Print the public keys", "nagz audit keys")], seeAlso: ["audit verify"]),
        CommandHelp(
            "audit keys list", "print the public keys to pin",
            options: [ServerHelp.auditKeysOption, ServerHelp.configFileOption],
            seeAlso: ["audit verify"]),
        CommandHelp(
            "audit keys new", "create a key file, and print its public key", forms: ["FILE --origin NAME"],
            options: [.init("--origin NAME", "the name of the log, such as nagz.example.org/1, without spaces and +")],
            examples: [
                ("Create the keys of a server", "nagz audit keys new /etc/nagz/audit.key --origin nagz.example.org/1")
            ],
            seeAlso: ["audit keys rotate", "serve"]),
        CommandHelp(
            "audit keys rotate", "add a new signing key to the key file, before the old one",
            details: "Restart the servers afterwards. The old key hands over to the new one in the log.",
            options: [ServerHelp.auditKeysOption, ServerHelp.configFileOption], seeAlso: ["audit keys rotate-master"]),
        CommandHelp(
            "audit keys rotate-master", "replace the master key that wraps people's keys, in three steps",
            forms: ["", "--new", "--wrap", "--retire"],
            details: """
                Without an option it prints how many people's keys each master key wraps. Restart all servers after each step;
                each can be repeated. Afterwards destroy the copies of the old key: then older backups no longer show anything
                about people who were erased since.
                """,
            options: [
                .init("--new", "adds a master key to the file"), .init("--wrap", "wraps everybody's key with it"),
                .init("--retire", "removes the old master key from the file"),
            ] + databaseOptions, seeAlso: ["audit keys rotate", "audit erase"]),
        CommandHelp(
            "audit accept", "let servers continue a log that does not extend the last checkpoint",
            forms: ["[--root HASH]"],
            details: """
                It shows the last checkpoint of the log (NAGZ_AUDIT_CHECKPOINT_FILE) and the database's head. If the head does not
                extend the checkpoint, servers sign nothing and their audit_log is “broken”. If you know why (you restored a backup),
                --root with the root shown lets them continue from there, with an entry about it. Run it for each server's file.
                """,
            options: [
                .init("--root HASH", "the root of the database's head, as shown"),
                .init(Options.auditCheckpointFile, "FILE", "the checkpoint file of the server"),
            ] + databaseOptions, seeAlso: ["restore-check", "audit reconcile"]),
        CommandHelp(
            "audit prune", "delete entries older than the retention, and leave a signed record",
            forms: ["[--older-than DAYS] [--yes]"],
            options: [.init("--older-than DAYS", "the age of the entries (default and least: 36 months)"), yesOption]
                + databaseOptions,
            examples: [("See what would be deleted", "nagz audit prune")], seeAlso: ["admin retention", "audit export"]),
        CommandHelp(
            "audit erase", "delete what the audit log records about a person, and their key",
            forms: ["--user ID [--yes]"],
            options: [.init("--user ID", "the ID of the person's account"), yesOption] + databaseOptions,
            examples: [("See what would be deleted", "nagz audit erase --user 018f3c1e-0a52-7c3d-9b61-2f4e5d6c7b8a")],
            seeAlso: ["admin purge"]),
    ]
}
