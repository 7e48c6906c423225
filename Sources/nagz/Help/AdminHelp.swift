/// The help of `nagz admin`.
enum AdminHelp {
    static let admin = CommandHelp(
        "admin", "manage administrators and accounts, and delete data that has passed its retention",
        forms: ["COMMAND [OPTION …]"],
        details:
            "Administrators may read every audit log and use the console. All commands work as the schema's owner.",
        options: [ServerHelp.ownerURLOption, ServerHelp.auditKeysOption, ServerHelp.configFileOption],
        seeAlso: ["audit", "restore-check"])

    static let subcommands = [
        command(
            "create", "create an administrator's account, for the console only", "--email ADDRESS [--generate]",
            details: """
                Reads the password from standard input: at least 16 characters, ten of them different, and no part of the
                address.
                """,
            options: [
                .init("--email ADDRESS", "the address to sign in with"),
                .init("--generate", "makes a password and prints it, instead of reading one"),
            ],
            examples: [
                ("Create an administrator with a new password", "nagz admin create --email root@example.org --generate")
            ],
            seeAlso: ["admin list", "admin revoke"]),
        command(
            "list", "list all administrators, including former ones", seeAlso: ["admin create", "admin revoke"]),
        command(
            "revoke", "revoke an administrator's rights and end their sessions", "--email ADDRESS",
            options: [.init("--email ADDRESS", "the administrator's address")],
            examples: [("Revoke somebody's rights", "nagz admin revoke --email root@example.org")],
            seeAlso: ["admin list"]),
        command(
            "reset-password", "create a code that sets a new password for an account", "--email ADDRESS",
            details: """
                The account may be an administrator's. The code works once, for 30 minutes, and its use ends all sessions of the
                account. Give it only to the owner of the account.
                """,
            options: [.init("--email ADDRESS", "the address of the account")],
            examples: [("Help somebody who cannot sign in", "nagz admin reset-password --email ada@example.org")]),
        command(
            "purge", "remove the personal data of deleted accounts", "[--after DAYS] [--dry-run]",
            details: "nagz serve does so every hour.",
            options: [
                .init("--after DAYS", "the days since the deletion, at most 30 (default 28)"),
                .init("--dry-run", "lists the accounts, and changes nothing"),
            ], examples: [("See which accounts are due", "nagz admin purge --dry-run")], seeAlso: ["admin retention"]),
        command(
            "retention", "list the retention rules, and delete what has passed its retention", "[--dry-run]",
            details: "nagz serve does so every hour.",
            options: [.init("--dry-run", "lists the rules and the rows that are due, and deletes nothing")],
            examples: [("See the rules", "nagz admin retention --dry-run")], seeAlso: ["admin purge", "audit prune"]),
        command(
            "resync", "make every device download its family again, once",
            details: "Run it after a restore: devices may have rows that the restored database lacks.",
            seeAlso: ["restore-check"]),
    ]

    private static func command(
        _ name: String, _ summary: String, _ form: String = "", details: String = "", options: [CommandHelp.Term] = [],
        examples: [(String, String)] = [], seeAlso: [String] = []
    ) -> CommandHelp {
        CommandHelp(
            "admin \(name)", summary, forms: [form], details: details,
            options: options + [ServerHelp.ownerURLOption, ServerHelp.auditKeysOption, ServerHelp.configFileOption],
            examples: examples,
            seeAlso: seeAlso)
    }
}
