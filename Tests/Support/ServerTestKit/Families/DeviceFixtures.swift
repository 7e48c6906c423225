import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import TestHTTPServer
import Testing

@testable import Server

extension TestServer {
    @discardableResult
    func register(
        _ token: String, _ platform: DevicePlatform = .ios, as person: TestPerson
    ) async throws -> DeviceTokenResponse {
        try await call(API.registerDevice, DeviceTokenRegister(platform: platform, token: Secret(token)), as: person)
    }

    /// Returns the tokens of a person's devices, the latest first, as the API lists them for that person.
    func tokens(of person: TestPerson) async throws -> [String] {
        try await call(API.listDevices, PageRequest(), as: person).items.map(\.token.wireText)
    }

    /// Returns all stored tokens, sorted by their text.
    func storedTokens() async throws -> [String] {
        try await database.rows("SELECT token FROM devices ORDER BY token") { try $0["token"] }
    }
}

extension TestServer {
    /// Registers a device of the person, through the API.
    func registerDevice(as person: TestPerson) async throws {
        let device = DeviceTokenRegister(platform: .ios, token: Secret(person.id.description))
        try await call(API.registerDevice, device, as: person)
    }

    /// Returns the deliveries about a nag in the order of their creation, each as `Cleo nag_created push pending`.
    func notified(of nag: NagID) async throws -> [String] {
        try await database.rows(
            """
            SELECT u.display_name || ' ' || e.event_type || ' ' || d.channel || ' ' || d.status AS notified
            FROM deliveries d JOIN users u ON u.id = d.user_id
            JOIN nag_events e ON e.family_id = d.family_id AND e.id = d.nag_event_id AND e.nag_id = d.nag_id
            WHERE d.nag_id = \(nag) ORDER BY d.created_at, d.id
            """
        ) { try $0["notified"] }
    }
}
