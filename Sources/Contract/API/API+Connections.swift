import Domain

extension API {
    /// List the caller's connections.
    public static let listConnections = Endpoint<ConnectionListQuery, NoBody, Page<ConnectionResponse>>(
        Operation("listConnections", .get, "/api/v1/connections", tag: .connections))

    static let connectionsOperations: [Operation] = [listConnections.operation]
}

// MARK: Parameters

/// A filter for the caller's connections; without a status, all.
public struct ConnectionListQuery: WireParameters, Hashable {
    public var status: ConnectionStatus?
    public var page: PageRequest

    public init(status: ConnectionStatus? = nil, page: PageRequest = PageRequest()) {
        self.status = status
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        status = try parameters.optionalQuery("status")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("status", status)
        page.write(to: &parameters)
    }
}
