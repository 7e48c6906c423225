import Server

/// `nagz config`: checks and shows the configuration.
enum ConfigCommand {
    static func run(_ arguments: Arguments) throws {
        var arguments = arguments
        let action = arguments.next()
        try arguments.finish()
        switch action {
        case "check": try check(arguments.given)
        case "show": try show(arguments.given)
        case nil: throw Commands.missing("config")
        case let action?: throw Commands.unknown(["config", action])
        }
    }

    private static func check(_ given: GivenOptions) throws {
        let faults = faults(of: given)
        for fault in faults { print(fault.line) }
        guard let first = faults.first else { return print("the configuration is valid") }
        throw Stop(first.code, "\(counted(faults.count, "error")) in the configuration")
    }

    /// Returns all faults of the given options and the file, without duplicates.
    /// - Parameter excluded: the names of options whose faults are reported elsewhere.
    static func faults(of given: GivenOptions, except excluded: Set<String> = []) -> [Stop] {
        var faults = given.file?.faults ?? []
        func collect(_ check: () throws -> Void) {
            do { try check() } catch {
                let fault = error as? Stop ?? Stop(.configuration, "\(error)")
                if !faults.contains(where: { $0.line == fault.line }) { faults.append(fault) }
            }
        }
        let excludedPaths = Options.all.filter { excluded.contains($0.name) }.compactMap { given.given($0)?.text }
        for option in Options.all { collect { try option.check(given) } }
        collect { _ = try DeliveryOptions(given) }
        collect { _ = try MailOptions(given) }
        collect { _ = try ModelOptions(given) }
        return faults.filter { fault in !excludedPaths.contains { fault.line.contains("“\($0)”") } }
    }

    private static func show(_ given: GivenOptions) throws {
        let lines = Options.all.map { option in
            let value = given.given(option)
            return (
                option.name, value.map { option.content.masked($0.text) } ?? option.standard ?? "none",
                value.map { "\($0.origin)" } ?? "default"
            )
        }
        let width = lines.map(\.1.count).max() ?? 0
        for (name, text, origin) in lines { print(name.padded(to: 23), text.padded(to: width), origin) }
        if let fault = given.file?.faults.first { throw fault }
    }
}
