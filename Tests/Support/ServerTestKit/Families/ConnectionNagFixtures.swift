import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server

/// A family whose guardian is connected with a guardian of another family.
struct ConnectionScene: Sendable {
    let server: TestServer
    let family: Household
    let connection: ConnectionResponse

    /// The ID of the connection's chain in the audit log.
    var chain: FamilyID { connection.id.retyped() }
    /// The party whose children are shared in a caregiver's connection.
    var parent: TestPerson { family.guardian }
    var friend: TestPerson { family.stranger }

    init(_ server: TestServer, caregiver: Bool = false) async throws {
        self.server = server
        family = try await server.family()
        let connection = try await server.connect(family.guardian, family.stranger)
        self.connection = caregiver ? try await server.setCaregiver(true, connection, as: family.guardian) : connection
    }

    func order(for recipient: TestPerson, due: Timestamp.Span = .hours(2), every recurrence: Recurrence? = nil)
        -> NagCreate
    {
        var order = server.order(for: recipient, in: nil, due: due, every: recurrence)
        order.connectionID = connection.id
        return order
    }

    func nag(
        from creator: TestPerson, to recipient: TestPerson, due: Timestamp.Span = .hours(2),
        every recurrence: Recurrence? = nil
    ) async throws -> NagResponse {
        try await server.call(
            API.createNag, order(for: recipient, due: due, every: recurrence), as: creator,
            headers: TestServer.newIdempotencyHeader)
    }

    func get(_ nag: NagResponse, as person: TestPerson) async throws -> NagResponse {
        try await server.call(API.getNag, NagPath(nagID: nag.id), as: person)
    }

    func list(_ query: NagListQuery = NagListQuery(), as person: TestPerson) async throws -> [NagID] {
        let page = try await server.call(API.listNags, query, as: person)
        #expect(page.total == page.items.count)
        return page.items.map(\.id)
    }

    func update(_ nag: NagResponse, _ changes: NagUpdate, as person: TestPerson) async throws -> NagResponse {
        try await server.call(API.updateNag, NagPath(nagID: nag.id), changes, as: person)
    }

    func block(_ target: TestPerson, as person: TestPerson) async throws -> BlockResponse {
        try await server.call(API.createBlock, BlockCreate(targetID: target.id), as: person)
    }

    /// Returns the statuses of all nags of connections, in the order of the nags' creation.
    func statuses() async throws -> [String] {
        try await server.database.rows(
            "SELECT status FROM nags WHERE connection_id IS NOT NULL ORDER BY created_at, id"
        ) { try $0["status"] }
    }
}
