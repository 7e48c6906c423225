import Contract
import Domain
import JSON
import NagzAI
import Postgres
import Reactor
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Misses of nags")
struct MissNagTests {
    /// As the scheduler does it: on a loop's own service, without anybody signed in.
    private static func miss(_ nag: NagID, in family: FamilyID, on server: TestServer) async throws -> NagResponse {
        let (random, now) = (server.random, server.clock.now())
        return try await server.database.run { database in
            let services = try Services(
                standalone: database, clock: server.clock, random: random, tokens: server.tokens,
                hashing: PasswordHashing(
                    try BlockingPool(name: "test", threads: 0, queueLimitPerLane: 0), cost: .testing),
                auditKeyring: nil)
            return try await Nags(services, Gamification(services)).miss(nag, in: family, at: now)
        }
    }

    @Test("a miss is the scheduler's event, ends the streak and gives no points; a second one changes nothing")
    func miss() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            for _ in 0..<3 {
                let done = try await server.nag(from: family.guardian, to: family.child)
                _ = try await server.complete(done.id, as: family.child)
            }
            let nag = try await server.nag(from: family.guardian, to: family.child)
            server.clock.advance(by: .hours(26))
            let missed = try await server.expectOnly(
                audit: ["nag.missed"], events: ["nag_missed"], scores: ["nag_missed"], stamped: 1
            ) { try await Self.miss(nag.id, in: family.id, on: server) }
            #expect(missed.status == .missed && missed.completedAt == nil)
            let again = try await server.expectOnly { try await Self.miss(nag.id, in: family.id, on: server) }
            #expect(again == missed)

            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.actor == SystemActor.scheduler.retyped() && entry.subject == family.child.pseudonym)
            #expect(entry.resource == nag.id.retyped() && entry.details == ["points": "0", "streak_delta": "-3"])
            let event = try #require(
                try await server.rows(
                    """
                    SELECT actor_id, recipient_id, source FROM nag_events WHERE event_type = 'nag_missed'
                    """
                ).first)
            #expect(event["actor_id"]?.stringValue == SystemActor.scheduler.description)
            #expect(event["recipient_id"]?.stringValue == family.child.id.description)
            #expect(event["source"]?.stringValue == "system")
            let summary = try await server.call(
                API.getGamificationSummary, FamilyQuery(familyID: family.id), as: family.child)
            #expect(summary.totalPoints == 30 && summary.currentStreak == 0 && summary.eventCount == 4)
        }
    }

    @Test("a miss ends the streak of a person without points too")
    func withoutPoints() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            server.clock.advance(by: .hours(26))
            try await server.expectOnly(
                audit: ["nag.missed"], events: ["nag_missed"], scores: ["nag_missed"], stamped: 1
            ) {
                _ = try await Self.miss(nag.id, in: family.id, on: server)
            }
        }
    }

    @Test("a miss continues a series, once")
    func series() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child, every: .daily)
            server.clock.advance(by: .hours(26))
            try await server.expectOnly(
                audit: ["nag.missed"], events: ["nag_missed", "nag_created"], scores: ["nag_missed"], stamped: 2
            ) {
                _ = try await Self.miss(nag.id, in: family.id, on: server)
            }
            _ = try await Self.miss(nag.id, in: family.id, on: server)
            let open = try await server.call(
                API.listNags, NagListQuery(familyID: family.id, status: .open), as: family.guardian)
            #expect(open.items.map(\.parentNagID) == [nag.id])
            #expect(open.items.map(\.dueAt) == [nag.dueAt + .days(2)])
        }
    }

    @Test("a completed nag does not become missed, and a nag that does not exist is 404")
    func notOpen() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.complete(nag.id, as: family.child)
            let still = try await server.expectOnly { try await Self.miss(nag.id, in: family.id, on: server) }
            #expect(still.status == .completed)
            for (id, home) in [(NagID(high: 1, low: 1), family.id), (nag.id, family.otherFamilyID)] {
                let error = try await server.expectOnly {
                    try await refusal { try await Self.miss(id, in: home, on: server) }
                }
                #expect(error.code == .notFound)
            }
        }
    }

    @Test("of completions and misses at once, one takes effect")
    func race() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.enableGamification(family.child)
            let nag = try await server.nag(from: family.guardian, to: family.child)
            server.clock.advance(by: .hours(26))
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        if number.isMultiple(of: 2) {
                            _ = try? await server.complete(nag.id, as: family.child)
                        } else {
                            _ = try? await Self.miss(nag.id, in: family.id, on: server)
                        }
                    }
                }
            }
            let kinds = try await server.audit(family.id).map(\.kind).filter { $0 != "nag.created" }
            #expect(kinds.count == 1 && (kinds == ["nag.missed"] || kinds == ["nag.completed"]))
        }
    }
}
