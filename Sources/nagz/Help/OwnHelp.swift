/// The help of the commands about the program itself.
enum OwnHelp {
    static let routes = CommandHelp(
        "routes", "list every operation of the API: method, access, path and ID",
        examples: [("Find the operations on nags", "nagz routes | grep /nags")])
    static let help = CommandHelp(
        "help", "show the commands, or the help of one", forms: ["[COMMAND …]"],
        details: "nagz COMMAND --help prints the same.",
        examples: [("See the options of a command", "nagz help audit verify")],
        seeAlso: ["manual"])
    static let completion = CommandHelp(
        "completion", "print a script that completes commands and options in a shell", forms: ["bash", "zsh"],
        examples: [
            ("In ~/.bashrc", "source <(nagz completion bash)"),
            ("In ~/.zshrc, after compinit", "source <(nagz completion zsh)"),
        ])
    static let manual = CommandHelp(
        "manual", "print the manual page, which has all help texts", forms: ["> nagz.1"],
        examples: [("Read it", "nagz manual > nagz.1 && man ./nagz.1")], seeAlso: ["help"])
    static let version = CommandHelp("version", "print the version of the program")
}
