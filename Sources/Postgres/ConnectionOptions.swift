import CPostgres

/// The address of the database, and the settings of its sessions.
public struct ConnectionOptions: Sendable {
    /// The parameters of libpq's PQconnectdbParams.
    let parameters: [(keyword: String, value: String)]

    /// - Parameters:
    ///   - url: a libpq connection string or URI; it may have several hosts and `target_session_attrs`.
    ///   - database: replaces the URL's database; nil keeps it.
    ///   - settings: session settings, such as `statement_timeout`.
    ///   - defaults: values for keywords of libpq that the URL does not set.
    /// - Throws: `PostgresError.unavailable` if the string is malformed.
    public init(
        url: String, database: String? = nil, settings: [(name: String, value: String)] = [],
        defaults: [(keyword: String, value: String)] = []
    ) throws(PostgresError) {
        var parameters = try Self.parse(url).map { (keyword: $0.keyword, value: $0.value) }
        let urlKeywords = Set(parameters.map(\.keyword))
        parameters += defaults.filter { !urlKeywords.contains($0.keyword) }
        if let database {
            parameters.removeAll { $0.keyword == "dbname" }
            parameters.append(("dbname", database))
        }
        var options = parameters.first { $0.keyword == "options" }.map { [$0.value] } ?? []
        options += Self.commandLineOptions(settings)
        parameters.removeAll { $0.keyword == "options" || $0.keyword == "client_encoding" }
        parameters.append(("options", options.joined(separator: " ")))
        parameters.append(("client_encoding", "UTF8"))
        if !parameters.contains(where: { $0.keyword == "application_name" }) {
            parameters.append(("application_name", "nagz"))
        }
        self.parameters = parameters
    }

    /// Returns session settings as command-line options, for libpq's `options` and PGOPTIONS.
    public static func commandLineOptions(_ settings: [(name: String, value: String)]) -> [String] {
        settings.map { "-c \($0.name)=\($0.value)" }
    }

    /// Returns a connection string for people, `host=… password=***`, in which every value that libpq treats as a
    /// password is masked; nil if the string is malformed.
    public static func masked(_ url: String) -> (text: String, hasPassword: Bool)? {
        guard let parameters = try? parse(url) else { return nil }
        let pairs = parameters.map { parameter in
            if parameter.isPassword { return "\(parameter.keyword)=***" }
            let value = parameter.value.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
            let needsNoQuotes = !value.isEmpty && !value.contains(where: { $0.isWhitespace || "'\\".contains($0) })
            return "\(parameter.keyword)=\(needsNoQuotes ? value : "'\(value)'")"
        }
        return (pairs.joined(separator: " "), parameters.contains(where: \.isPassword))
    }

    private static func parse(
        _ url: String
    ) throws(PostgresError) -> [(keyword: String, value: String, isPassword: Bool)] {
        var message: UnsafeMutablePointer<CChar>?
        defer { unsafe PQfreemem(message) }
        guard let firstOption = unsafe PQconninfoParse(url, &message) else {
            throw .unavailable("the connection string cannot be read")
        }
        defer { unsafe PQconninfoFree(firstOption) }
        var parameters: [(keyword: String, value: String, isPassword: Bool)] = []
        var option = unsafe firstOption
        while let keyword = unsafe option.pointee.keyword {
            if let value = unsafe option.pointee.val {
                let isPassword = unsafe option.pointee.dispchar.map { unsafe String(cString: $0) == "*" } ?? false
                unsafe parameters.append((String(cString: keyword), String(cString: value), isPassword))
            }
            unsafe option += 1
        }
        return parameters
    }
}
