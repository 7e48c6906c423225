import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server

/// A family whose child uploads acts from an outbox.
struct OutboxScene: Sendable {
    let server: TestServer
    let home: Household
    let nag: NagID

    init(_ server: TestServer, consents: [ConsentType] = [.aiMediation, .gamificationParticipation]) async throws {
        self.server = server
        home = try await server.family(consents: consents)
        nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
    }

    func item(
        _ act: InputAct, on nag: NagID? = nil, id: UInt64 = 1, source: InputSource = .keyboard
    ) -> OutboxItem {
        OutboxItem(
            clientID: InputID(high: 0x0b, low: id), nagID: nag ?? self.nag, act: act,
            madeAt: server.clock.now() - .hours(1), capture: Capture(source))
    }

    func upload(_ items: [OutboxItem], as person: TestPerson? = nil) async throws -> [InputResult] {
        try await server.call(
            API.uploadEvents, OutboxUpload(familyID: home.id, items: items), as: person ?? home.child
        ).results
    }

    /// Returns the number of stored inputs, and the number of those that became an event.
    func inputs() async throws -> (all: Int, applied: Int) {
        let row = try await server.rows("SELECT count(*) AS n, count(event_id) AS applied FROM inputs")[0]
        return (Int(row["n"]?.integerValue ?? -1), Int(row["applied"]?.integerValue ?? -1))
    }
}
