/// The help of `nagz device`.
enum DeviceHelp {
    static let device = CommandHelp(
        "device", "use Nagz from a terminal as a family member's device: sync, work offline, ask the AI",
        forms: ["COMMAND [OPTION …]"],
        details: """
            NAG is a nag's ID, or enough of its last digits to identify it. The cache of this device is sealed with a key that
            only you may read.
            """,
        options: sharedOptions, exitCodes: exitCodes,
        examples: [
            ("Sign in", "nagz device login --server https://nagz.example.org --email ada@example.org"),
            ("Download changes, and list the open nags", "nagz device sync && nagz device nags"),
        ], seeAlso: ["models"])

    static let sharedOptions: [CommandHelp.Term] = [
        .init("--json", "prints JSON"),
        .init(
            "--home FOLDER",
            "the folder of session, cache and outbox (else NAGZ_DEVICE_HOME; default XDG_DATA_HOME/nagz or ~/.local/share/nagz)"
        ),
    ]
    private static let exitCodes: [CommandHelp.Term] = [
        .init("0", "done"), .init("64", "wrong usage"),
        .init("65", "not applied by the server, or not confirmed by you"),
        .init("66", "no such nag"), .init("69", "the server is unreachable, or your AI mode leaves nothing to answer"),
        .init("74", "the disk is full or a file unreadable"), .init("75", "try again later"),
        .init("76", "the server breaks the contract"),
        .init("77", "not signed in, not allowed, or a constraint forbids it"),
        .init("78", "the device's files belong to a newer nagz, or your AI mode needs a key"),
        .init("79", "the server's audit log was changed, or it has no valid checkpoint"),
    ]
    private static let offlineOption = CommandHelp.Term("--offline", "keeps it in the outbox; the next sync uploads it")
    private static let dictatedOption = CommandHelp.Term("--dictated", "says that the words were dictated")
    private static let localOption = CommandHelp.Term("--local", "answers on this device only, even from a stale cache")
    private static let sessionOption = CommandHelp.Term(
        "--session",
        "continues from the last four questions that had it, if this device answers, so that no answer is repeated. They are stored sealed on this device, for 45 minutes after the last one"
    )
    private static let providerOption = CommandHelp.Term(
        "--provider NAME",
        "asks the server to use that provider: heuristic, server_gateway, or openai, anthropic or custom with your own key; nagz device ai lists those that you can reach"
    )
    private static let modelOptions: [CommandHelp.Term] = [
        .init(
            "--model-url URL",
            "a language model on this machine with OpenAI's protocol, such as http://127.0.0.1:8081/v1 (else NAGZ_MODEL_URL). It writes texts if your AI mode is auto or local_only; if it cannot, the rules do"
        ),
        .init("--model-name NAME", "its name (else NAGZ_MODEL_NAME)"),
        .init("--model-key-file FILE", "a file with its key (else NAGZ_MODEL_KEY_FILE)"),
        .init("--model-variant standard|lite", "the size of the model (default standard)"),
    ]

    static let subcommands =
        signInCommands + workCommands + questionCommands + settingCommands + ModelHelp.subcommands(of: "device model")

    private static let signInCommands = [
        command(
            "login", "sign in to a server, as an adult or as a child",
            [
                "[--server URL] [--log-key KEY] --email ADDRESS",
                "[--server URL] [--log-key KEY] --family-code CODE --username NAME",
            ],
            details: "Reads the password or PIN from the terminal, or a line from standard input.",
            options: [
                .init("--server URL", "the server (default http://127.0.0.1:9800)"),
                .init("--email ADDRESS", "an adult's email address"),
                .init("--family-code CODE", "the child code of a family"),
                .init("--username NAME", "a child's user name"),
                .init(
                    "--log-key KEY",
                    "pins a key of the server's audit log (default: the first one that the server shows is trusted)"),
            ],
            examples: [
                ("Sign in as an adult", "nagz device login --server https://nagz.example.org --email ada@example.org"),
                (
                    "Sign in as a child",
                    "nagz device login --server https://nagz.example.org --family-code ABCD2345 --username ben"
                ),
            ], seeAlso: ["device sync", "device logout"]),
        command(
            "logout", "end the session, and delete its files from this device", ["[--discard]"],
            options: [.init("--discard", "signs out even if changes were not uploaded, and deletes them")],
            seeAlso: ["device outbox"]),
        command(
            "delete-account", "delete your account at the server", ["[--yes]"],
            options: [.init("--yes", "deletes without asking")], seeAlso: ["device logout"]),
    ]

    /// The commands that synchronise the device, and show and change its nags.
    private static let workCommands = [
        command(
            "sync", "upload what was done offline, and download what has changed",
            ["[--watch] [--every SECONDS] [--mode cursor|timestamps]"],
            options: [
                .init(
                    "--watch", "keeps running: syncs when the server reports a change, and at least every 5 minutes"),
                .init(
                    "--every SECONDS",
                    "how often to sync with --watch if the server cannot report changes (default about 300)"),
                .init("--mode MODE", "pages by cursor, or by timestamps as older clients do (default cursor)"),
            ], examples: [("Stay up to date", "nagz device sync --watch")], seeAlso: ["device status", "device outbox"]),
        command(
            "nags", "list the nags on this device", ["[--all]"], options: [.init("--all", "lists closed nags too")],
            examples: [("List open nags as JSON", "nagz device nags --json")], seeAlso: ["device complete"]),
        command(
            "complete", "complete a nag", ["NAG [--note TEXT] [--dictated] [--offline]"],
            options: [.init("--note TEXT", "adds a note"), dictatedOption, offlineOption],
            examples: [
                ("Complete the nag whose ID ends in 7b8a", "nagz device complete 7b8a --note \"All bins are out\"")
            ],
            seeAlso: ["device excuse"]),
        command(
            "excuse", "say why a nag is not done", ["NAG TEXT [--with-words] [--dictated] [--offline]"],
            options: [
                .init("--with-words", "sends your words; otherwise only their category and a sentence for it"),
                dictatedOption,
                offlineOption,
            ], examples: [("Submit an excuse", "nagz device excuse 7b8a \"I forgot the bins\"")],
            seeAlso: ["device note"]),
        command(
            "note", "add a note to a nag", ["NAG TEXT [--dictated] [--offline]"],
            options: [dictatedOption, offlineOption],
            examples: [("Add a note", "nagz device note 7b8a \"The key is at the neighbour's\"")],
            seeAlso: ["device complete"]),
        command(
            "outbox", "list what waits to be uploaded, and what the server did not apply", ["[--put-away]"],
            options: [.init("--put-away", "dismisses what the server did not apply")], seeAlso: ["device sync"]),
        command("status", "show session, cache, outbox and the latest answers", seeAlso: ["device sync"]),
    ]

    private static let questionCommands = [
        question("tone", "show which tone suits a nag's recipient now", "NAG [--local] [--session] [--provider NAME]"),
        question("coach", "get a tip for a nag", "NAG [--local] [--session] [--provider NAME]"),
        question("predict", "predict whether a nag is done in time", "NAG [--local] [--session] [--provider NAME]"),
        question("push-back", "push back on an overdue nag", "NAG [--local] [--session] [--provider NAME]"),
        question("patterns", "show on which weekdays nags are missed", "[USER] [--local] [--provider NAME]"),
        question("digest", "sum up your family's week", "[--local] [--provider NAME]"),
        question(
            "ask", "ask the coach a question in your own words", "QUESTION [--local] [--session] [--provider NAME]"),
        command(
            "history", "list your questions to the AI, newest first, without their words", ["[--local] [--errors]"],
            options: [
                .init("--local", "lists what this device answered, instead of what the server answered"),
                .init("--errors", "lists only questions that got no answer"),
            ], seeAlso: ["device ask"]),
        command(
            "measure", "time a first sync and answers, for benchmarks", ["[--answers N] [--requests N]"],
            details: "The server records every answer that it gives.",
            options: [
                .init("--answers N", "the number of answers on this device (default 2000)"),
                .init("--requests N", "the number of answers over HTTP (default 200)"),
            ]),
    ]

    private static let settingCommands = [
        command(
            "ai", "show and change what may answer your questions", ["[show]", "set SETTING VALUE", "forget"],
            examples: [("Let any engine answer", "nagz device ai set mode auto")],
            seeAlso: ["device ask", "device constraint"]),
        command("ai show", "show your AI settings, and what would answer now", seeAlso: ["device ai set"]),
        command(
            "ai set", "change an AI setting, at the server and here", ["SETTING VALUE"],
            details: "nagz device ai lists the settings with their values.",
            examples: [("Use no third party's model", "nagz device ai set cloud-model none")],
            seeAlso: ["device ai show"]),
        command("ai forget", "delete the questions that --session continues from", seeAlso: ["device ask"]),
        command(
            "constraint", "show and change the constraints that your questions obey on this device",
            ["[list]", "add NAME --if CONDITION … --then ACTION [--priority N]", "delete ID"],
            details: "Constraints that are added here stay on this device. The others are the server's.",
            seeAlso: ["device ai"]),
        command("constraint list", "list the constraints that your questions obey", seeAlso: ["device constraint add"]),
        command(
            "constraint add", "add a constraint to this device", ["NAME --if CONDITION … --then ACTION [--priority N]"],
            options: [
                .init(
                    "--if CONDITION",
                    "a field, an operator and a value, such as “content contains passport|visa”; may be repeated, and all must hold"
                ),
                .init("--then ACTION", "block, force_local, force_cloud, require_confirmation or warn, with a text"),
                .init("--priority N", "1 to 999; lower ones are evaluated first (default 500)"),
            ],
            examples: [
                (
                    "Block questions about documents",
                    "nagz device constraint add documents --if \"content contains passport|visa\" --then \"block It names a document\""
                )
            ], seeAlso: ["device constraint delete"]),
        command("constraint delete", "delete a constraint of this device", ["ID"], seeAlso: ["device constraint list"]),
        command(
            "model", "download files of language models to this device's folder",
            ["list", "download ID", "status [ID]", "delete ID"],
            details: "Each command is that of nagz models, with this device's folder.", seeAlso: ["models"]),
    ]

    private static func command(
        _ name: String, _ summary: String, _ forms: [String] = [""], details: String = "",
        options: [CommandHelp.Term] = [],
        examples: [(String, String)] = [], seeAlso: [String] = []
    ) -> CommandHelp {
        CommandHelp(
            "device \(name)", summary, forms: forms, details: details, options: options + sharedOptions,
            examples: examples,
            seeAlso: seeAlso)
    }

    private static func question(_ name: String, _ summary: String, _ form: String) -> CommandHelp {
        let exampleArgument =
            form.hasPrefix("NAG") ? "7b8a" : form.hasPrefix("QUESTION") ? "\"What is due today?\"" : ""
        return command(
            name, summary, [form],
            options: [localOption] + (form.contains("--session") ? [sessionOption] : []) + [providerOption]
                + modelOptions,
            examples: [
                (
                    "Answer without the server",
                    ["nagz device \(name)", exampleArgument, "--local"].filter { !$0.isEmpty }.joined(separator: " ")
                )
            ], seeAlso: ["device ai", "device history"])
    }
}
