import Server

/// `nagz config`: checks and shows the configuration.
enum ConfigCommand {
    static func run(_ arguments: Arguments) throws {
        var arguments = arguments
        let command = arguments.takeNext()
        try arguments.finish()
        switch command {
        case "check": try check(arguments.givenOptions)
        case "show": try show(arguments.givenOptions)
        case nil: throw Commands.missingCommandError(in: "config")
        case let command?: throw Commands.unknownCommandError(["config", command])
        }
    }

    private static func check(_ given: GivenOptions) throws {
        let faults = faults(of: given)
        for fault in faults { print(fault.message) }
        guard let first = faults.first else { return print("the configuration is valid") }
        throw Stop(first.code, "\(counted(faults.count, "error")) in the configuration")
    }

    /// Returns all faults of the given options and of the configuration file, without duplicates.
    /// - Parameter excludedOptions: the names of options whose faults are reported elsewhere.
    static func faults(of given: GivenOptions, except excludedOptions: Set<String> = []) -> [Stop] {
        var faults = given.file?.faults ?? []
        func collect(_ check: () throws -> Void) {
            do { try check() } catch {
                let fault = error as? Stop ?? Stop(.configuration, "\(error)")
                if !faults.contains(where: { $0.message == fault.message }) { faults.append(fault) }
            }
        }
        let excludedPaths = Options.all.filter { excludedOptions.contains($0.name) }.compactMap {
            given.value(of: $0)?.text
        }
        for option in Options.all { collect { try option.check(given) } }
        collect { _ = try DeliveryOptions(given) }
        collect { _ = try MailOptions(given) }
        collect { _ = try ModelOptions(given) }
        return faults.filter { fault in !excludedPaths.contains { fault.message.contains("“\($0)”") } }
    }

    private static func show(_ given: GivenOptions) throws {
        let lines = Options.all.map { option in
            let value = given.value(of: option)
            return (
                option.name, value.map { option.format.masked($0.text) } ?? option.defaultText ?? "none",
                value.map { "\($0.origin)" } ?? "default"
            )
        }
        let width = lines.map(\.1.count).max() ?? 0
        for (name, text, origin) in lines { print(name.padded(to: 23), text.padded(to: width), origin) }
        if let fault = given.file?.faults.first { throw fault }
    }
}
