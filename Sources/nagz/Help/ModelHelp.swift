/// The help of `nagz models`.
enum ModelHelp {
    static let models = CommandHelp(
        "models", "download files of language models, for a runtime on this machine", forms: ["COMMAND [OPTION …]"],
        details: """
            The files are those of a catalogue of your own; none comes with the program:

                {"models": [{"id": "small", "variant": "lite", "url": "https://…", "bytes": 120000000, "sha256": "…",
                             "context": 2048, "licence": "…"}]}

            A standard model is larger than every lite one. URLs are https, or http on 127.0.0.1; redirects are not followed.
            """,
        options: sharedOptions(of: "models"),
        exitCodes: [
            .init("0", "done"), .init("64", "wrong usage"), .init("65", "not confirmed by you"),
            .init("66", "not in the catalogue, or not downloaded (E-MODEL-001)"), .init("69", "the server refuses"),
            .init("74", "no disk space (E-MODEL-003), or a file is unreadable"),
            .init("75", "interrupted, or another download is in progress: try again"),
            .init("76", "the bytes are not those of the catalogue (E-MODEL-002)"),
            .init("78", "the catalogue is wrong"),
        ],
        examples: [
            ("Download a model", "nagz models download small"),
            ("Run it", "llama-server -m FILE --host 127.0.0.1 --port 8081"),
        ], seeAlso: ["device", "serve"])

    private static let dryRunOption = CommandHelp.Term("--dry-run", "prints what would be done, and changes nothing")

    static let subcommands = subcommands(of: "models")

    /// Returns the help of the commands on model files.
    /// - Parameter group: `models` or `device model`.
    static func subcommands(of group: String) -> [CommandHelp] {
        let terms = sharedOptions(of: group)
        return [
            CommandHelp(
                "\(group) list", "list the models of the catalogue", options: terms, seeAlso: ["\(group) download"]),
            CommandHelp(
                "\(group) download", "download the file of a model", forms: ["ID [--dry-run] [--ca FILE]"],
                details: "An interrupted download is continued.",
                options: [dryRunOption, .init("--ca FILE", "certificates that are trusted (default: the system's)")]
                    + terms,
                examples: [("Continue or begin a download", "nagz \(group) download small")],
                seeAlso: ["\(group) status"]),
            CommandHelp(
                "\(group) status", "show which files are complete, with their paths", forms: ["[ID]"], options: terms,
                seeAlso: ["\(group) download", "\(group) delete"]),
            CommandHelp(
                "\(group) delete", "delete the file of a model", forms: ["ID [--yes] [--dry-run]"],
                options: [.init("--yes", "deletes without asking"), dryRunOption] + terms, seeAlso: ["\(group) list"]),
        ]
    }

    /// Returns the options that all commands of the group accept.
    static func sharedOptions(of group: String) -> [CommandHelp.Term] {
        let folder = CommandHelp.Term(
            "--folder FOLDER",
            "the folder of the files (default XDG_DATA_HOME/nagz/models or ~/.local/share/nagz/models)")
        return [.init("--catalogue FILE", "the catalogue (default: models.json in the folder)")]
            + (group == "models" ? [folder, ServerHelp.jsonOption] : DeviceHelp.sharedOptions)
    }
}
