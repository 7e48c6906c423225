import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server

extension TestServer {
    /// Inserts a connection into the database, without entries of the audit log.
    func connection(
        from inviter: TestPerson, to invitee: TestPerson, isActive: Bool = false, isCaregiver: Bool = false
    ) async throws -> ConnectionID {
        let now = clock.now()
        let id: ConnectionID = random.identifier(at: now)
        let shares = isActive && isCaregiver
        try await sql("INSERT INTO family_clock (family_id) VALUES (\(id))")
        try await sql(
            """
            INSERT INTO connections (id, inviter_id, invitee_id, invitee_email, status, caregiver,
                                     inviter_shares_children, invitee_shares_children, created_at, responded_at)
            VALUES (\(id), \(inviter.id), \(invitee.id), \(invitee.email ?? "nobody@example.org"),
                    \(isActive ? "active" : "pending"), \(isCaregiver), \(isCaregiver), \(shares), \(now),
                    \(isActive ? now : nil))
            """)
        return id
    }

    func invite(
        _ invitee: TestPerson, caregiver: Bool = false, as inviter: TestPerson
    ) async throws -> ConnectionResponse {
        try await invite(try #require(invitee.email), caregiver: caregiver, as: inviter)
    }

    func invite(
        _ address: String, caregiver: Bool = false, as inviter: TestPerson
    ) async throws -> ConnectionResponse {
        let invitation = ConnectionInvite(inviteeEmail: try EmailAddress(wireText: address), caregiver: caregiver)
        return try await call(API.inviteConnection, invitation, as: inviter)
    }

    @discardableResult
    func accept(_ connection: ConnectionResponse, as person: TestPerson) async throws -> ConnectionResponse {
        try await call(API.acceptConnection, ConnectionPath(connectionID: connection.id), as: person)
    }

    @discardableResult
    func decline(_ connection: ConnectionResponse, as person: TestPerson) async throws -> ConnectionResponse {
        try await call(API.declineConnection, ConnectionPath(connectionID: connection.id), as: person)
    }

    @discardableResult
    func revoke(_ connection: ConnectionResponse, as person: TestPerson) async throws -> ConnectionResponse {
        try await call(API.revokeConnection, ConnectionPath(connectionID: connection.id), as: person)
    }

    @discardableResult
    func setCaregiver(
        _ isCaregiver: Bool, _ connection: ConnectionResponse, as person: TestPerson
    ) async throws -> ConnectionResponse {
        try await call(
            API.updateConnectionType, ConnectionPath(connectionID: connection.id),
            ConnectionTypeUpdate(caregiver: isCaregiver), as: person)
    }

    /// Creates an active connection between two people.
    func connect(
        _ inviter: TestPerson, _ invitee: TestPerson, caregiver: Bool = false
    ) async throws -> ConnectionResponse {
        try await accept(try await invite(invitee, caregiver: caregiver, as: inviter), as: invitee)
    }

    /// Returns a person's connections, as the API lists them for that person.
    func connections(of person: TestPerson, _ status: ConnectionStatus? = nil) async throws -> [ConnectionResponse] {
        try await call(API.listConnections, ConnectionListQuery(status: status), as: person).items
    }

    func pending(of person: TestPerson) async throws -> [ConnectionResponse] {
        try await call(API.listPendingConnections, PageRequest(), as: person).items
    }

    func children(_ connection: ConnectionResponse, as person: TestPerson) async throws -> [CaregiverConnectionChild] {
        try await call(API.listConnectionChildren, ConnectionPath(connectionID: connection.id), as: person)
    }
}

extension MatrixRow {
    private static func invitation(_ scene: Scene) -> ConnectionPath { ConnectionPath(connectionID: scene.invitation) }
    private static func connection(_ scene: Scene) -> ConnectionPath { ConnectionPath(connectionID: scene.connection) }

    static let connections: [MatrixRow] = [
        MatrixRow(
            API.inviteConnection, concern: .caller, allowed: .adults, refusals: [403]
        ) { _ in
            (NoParameters(), ConnectionInvite(inviteeEmail: address))
        },
        MatrixRow(API.listConnections, concern: .caller, allowed: .everybody) { _ in
            (ConnectionListQuery(status: .active), NoBody())
        },
        MatrixRow(API.listPendingConnections, concern: .caller, allowed: .everybody) { _ in
            (PageRequest(), NoBody())
        },
        MatrixRow(API.acceptConnection, allowed: [.guardian], refusals: [404]) { (invitation($0), NoBody()) },
        MatrixRow(API.declineConnection, allowed: [.guardian], refusals: [404]) { (invitation($0), NoBody()) },
        MatrixRow(API.revokeConnection, allowed: [.guardian], refusals: [404]) { (connection($0), NoBody()) },
        MatrixRow(API.updateConnectionType, allowed: [.guardian], refusals: [404]) {
            (connection($0), ConnectionTypeUpdate(caregiver: false))
        },
        MatrixRow(API.listConnectionChildren, allowed: [.guardian], refusals: [404]) { (connection($0), NoBody()) },
    ]

    private static let address: EmailAddress = {
        guard let address = try? EmailAddress(wireText: "somebody@example.org") else {
            preconditionFailure("an address")
        }
        return address
    }()
}
