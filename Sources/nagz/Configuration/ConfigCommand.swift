import Server

/// `nagz config`: checks and shows the configuration.
enum ConfigCommand {
    static let usage = """
        nagz config — checks and shows the configuration of serve, doctor, migrate, admin, audit and seed

        usage: nagz config check [--config FILE] [OPTION …]
               nagz config show  [--config FILE] [OPTION …]

        check  says all that is wrong, one line each, with the file's line or the name of the option. The database is not
               needed. Exits 0 when nothing is, else with the code with which serve would end: 64 or 78.
        show   prints every option with its value, and where that comes from: the command line, the environment, the file
               or the default. Passwords in it are masked.

        The file is named by --config, else by NAGZ_CONFIG. Its lines are “option = value”, with the names of the options of
        nagz serve without “--”, and comments that begin with “#”. The command line has precedence over the environment, and
        that over the file. A verb passes over the options of other verbs. “owner-database-url” is the URL of the schema's
        owner, for the verbs beside serve. A switch such as dev-tokens takes on or off. Relative paths begin where the program
        was started.

            # /etc/nagz/nagz.conf
            database-url = postgres://nagz_serve@db.example.org/nagz?passfile=/etc/nagz/pgpass
            token-key-file = /etc/nagz/token.key
            port = 9801

        The file holds no secret: a URL with a password in it is refused.
        """

    static func run(_ arguments: Arguments) throws {
        var arguments = arguments
        let action = arguments.next()
        try arguments.finish()
        switch action {
        case "check": try check(arguments.given)
        case "show": try show(arguments.given)
        case nil: throw Stop(.usage, "which command? See nagz config --help")
        case let action?: throw Stop(.usage, "unknown command “config \(action)”; see nagz config --help")
        }
    }

    private static func check(_ given: GivenOptions) throws {
        let faults = faults(of: given)
        for fault in faults { print(fault.line) }
        guard let first = faults.first else { return print("nothing is wrong with the options that are given") }
        throw Stop(first.code, "\(faults.count) \(faults.count == 1 ? "fault" : "faults") in the configuration")
    }

    /// All that is wrong with what is given; each fault once.
    /// - Parameter named: names of options whose faults are told elsewhere.
    static func faults(of given: GivenOptions, except named: Set<String> = []) -> [Stop] {
        var faults = given.file?.faults ?? []
        func collect(_ check: () throws -> Void) {
            do { try check() } catch {
                let fault = error as? Stop ?? Stop(.configuration, "\(error)")
                if !faults.contains(where: { $0.line == fault.line }) { faults.append(fault) }
            }
        }
        let told = Options.all.filter { named.contains($0.name) }
            .compactMap { option in given.given(option).map { (option: option, path: $0.text) } }
        for option in Options.all { collect { try option.check(given) } }
        collect { _ = try DeliveryOptions(given) }
        collect { _ = try MailOptions(given) }
        collect { _ = try ModelOptions(given) }
        return faults.filter { fault in !told.contains { fault.line.contains("“\($0.path)”") } }
    }

    private static func show(_ given: GivenOptions) throws {
        for option in Options.all {
            let value = given.given(option)
            let text = value.map { option.content.masked($0.text) } ?? option.standard ?? "none"
            let origin = value.map { "\($0.origin)" } ?? "default"
            print(option.name.padded(to: 23), text.padded(to: 40), origin)
        }
        if let fault = given.file?.faults.first { throw fault }
    }
}
