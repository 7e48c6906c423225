import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The response time in reports")
struct ResponseTimeTests {
    @Test("the response time is the median from first notification to completion, for the family and by person")
    func median() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            func times() async throws -> JSONValue? {
                let report = try await server.call(
                    API.getWeeklyReport, FamilyQuery(familyID: family.id), as: family.guardian)
                return report.metrics["response_time"]
            }
            #expect(try await times() == ["answered": 0, "median_seconds": .null, "by_member": []])
            for (person, minutes) in [
                (family.child, 10), (family.child, 20), (family.child, 60), (family.participant, 40),
            ] as [(TestPerson, Int64)] {
                let nag = try await server.nag(from: family.guardian, to: person)
                let now = server.clock.now()
                try await server.sql("DELETE FROM deliveries WHERE nag_id = \(nag.id)")
                try await server.sql(
                    """
                    INSERT INTO deliveries (family_id, id, nag_id, nag_event_id, user_id, channel, status, created_at, sent_at)
                    SELECT family_id, gen_random_uuid(), nag_id, id, recipient_id, 'push', 'sent', \(now), \(now)
                    FROM nag_events WHERE nag_id = \(nag.id) AND event_type = 'nag_created'
                    """)
                server.clock.advance(by: .minutes(minutes))
                _ = try await server.complete(nag.id, as: person)
            }
            // Nobody was notified of this one, and this one is not done.
            let unsent = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.complete(unsent.id, as: family.child)
            _ = try await server.nag(from: family.guardian, to: family.child)
            let expected: [(TestPerson, Int64, Int64)] = [(family.child, 3, 20 * 60), (family.participant, 1, 40 * 60)]
            let members = try #require(try await times()?["by_member"]?.arrayValue)
            #expect(members.count == 2)
            for (person, answered, seconds) in expected {
                let figures = try #require(
                    members.first { $0["user_id"]?.stringValue == person.id.description })
                #expect(figures["answered"] == .integer(answered) && figures["median_seconds"] == .integer(seconds))
            }
            #expect(try await times()?["median_seconds"] == .integer(30 * 60))
            #expect(try await times()?["answered"] == 4)
        }
    }
}
