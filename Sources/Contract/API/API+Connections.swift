import Domain

extension API {
    /// List the caller's connections.
    public static let listConnections = Endpoint<ConnectionListQuery, NoBody, Page<ConnectionResponse>>(
        Operation("listConnections", .get, "/api/v1/connections", tag: .connections))

    /// Invite somebody by email address. The same pair again gets the same connection.
    public static let inviteConnection = Endpoint<NoParameters, ConnectionInvite, ConnectionResponse>(
        Operation("inviteConnection", .post, "/api/v1/connections/invite", tag: .connections, status: 201))

    /// List the invitations that were sent to the caller and wait for an answer.
    public static let listPendingConnections = Endpoint<PageRequest, NoBody, Page<ConnectionResponse>>(
        Operation("listPendingConnections", .get, "/api/v1/connections/pending", tag: .connections))

    /// Accept an invitation.
    public static let acceptConnection = Endpoint<ConnectionPath, NoBody, ConnectionResponse>(
        Operation("acceptConnection", .post, "/api/v1/connections/{connection_id}/accept", tag: .connections))

    /// Decline an invitation.
    public static let declineConnection = Endpoint<ConnectionPath, NoBody, ConnectionResponse>(
        Operation("declineConnection", .post, "/api/v1/connections/{connection_id}/decline", tag: .connections))

    /// End a connection, or take back an invitation.
    public static let revokeConnection = Endpoint<ConnectionPath, NoBody, ConnectionResponse>(
        Operation("revokeConnection", .post, "/api/v1/connections/{connection_id}/revoke", tag: .connections))

    /// Say whether a connection is a caregiver's.
    public static let updateConnectionType = Endpoint<ConnectionPath, ConnectionTypeUpdate, ConnectionResponse>(
        Operation("updateConnectionType", .patch, "/api/v1/connections/{connection_id}/type", tag: .connections))

    /// List the children whom the caller may nag as a caregiver.
    public static let listConnectionChildren = Endpoint<ConnectionPath, NoBody, [CaregiverConnectionChild]>(
        Operation("listConnectionChildren", .get, "/api/v1/connections/{connection_id}/children", tag: .connections))

    static let connectionsOperations: [Operation] = [
        inviteConnection.operation, listConnections.operation, listPendingConnections.operation,
        acceptConnection.operation, declineConnection.operation, revokeConnection.operation,
        updateConnectionType.operation, listConnectionChildren.operation,
    ]
}

// MARK: Parameters

/// The connection in a path.
public struct ConnectionPath: WireParameters, Hashable {
    public var connectionID: ConnectionID

    public init(connectionID: ConnectionID) {
        self.connectionID = connectionID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        connectionID = try parameters.path("connection_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("connection_id", connectionID)
    }
}

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
