import Contract
import Domain
import Postgres
import SQL
import Testing
import TimeZones

@testable import Server
@testable import ServerTestKit

@Suite("Daily limits of changes of nags")
struct NagChangeLimitTests {
    private static func events(_ server: TestServer, of nag: NagID) async throws -> Int {
        try await server.database.rows("SELECT count(*) AS n FROM nag_events WHERE nag_id = \(nag)") {
            try $0["n"]
        }[0]
    }

    @Test("dismissing and undismissing a nag all day is refused at the limit of changes")
    func dismissals() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let path = NagPath(nagID: nag.id)
            var refused: [APIError] = []
            for number in 0..<(NagLimit.changesPerDay + 20) {
                do {
                    _ = try await server.call(
                        number % 2 == 0 ? API.dismissNag : API.undismissNag, path, as: family.child)
                } catch let error as APIError {
                    // What would be no change is no refusal either: every other one.
                    refused.append(error)
                }
            }
            #expect(refused.count == 10)
            #expect(refused.allSatisfy { $0.code == .policyForbidden && $0.reason == "change_limit_reached" })
            #expect(try await Self.events(server, of: nag.id) == NagLimit.changesPerDay + 1)
            let denials = try await server.audit(family.id).filter { $0.kind == "nag.dismiss.denied" }
            #expect(denials.map { $0.details["count"] } == [nil, "10"])

            // Every kind of change counts, and only that person's; what a nag can be only once does not.
            for change in [
                NagUpdate(committedAt: .value(server.clock.now() + .hours(1))),
                NagUpdate(dueAt: nag.dueAt + .minutes(10)),
            ] {
                let error = try await expectRefusal(403) {
                    try await server.call(API.updateNag, path, change, as: family.child)
                }
                #expect(error.reason == "change_limit_reached")
            }
            _ = try await server.call(API.updateNag, path, NagUpdate(category: .meds), as: family.guardian)
            #expect(try await server.complete(nag.id, as: family.child).status == .completed)
            server.clock.advance(by: .days(1))
            _ = try await server.call(API.dismissNag, path, as: family.child)
        }
    }

    @Test("completing the shortest series all day is refused at the limit of series completions")
    func series() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let zone = try #require(ZoneDatabase.system.zone("America/New_York"))
            server.clock.set(to: zone.day(containing: server.clock.now()).upperBound)
            var nags: [NagID] = []
            for _ in 0..<2 {
                nags.append(
                    try await server.nag(
                        from: family.guardian, to: family.child, due: .minutes(5), every: .every5Minutes
                    ).id)
            }
            let single = try await server.nag(from: family.guardian, to: family.child, due: .hours(20))
            var completed = 0
            let refusal = try await refusal {
                while completed <= NagLimit.seriesCompletionsPerDay {
                    server.clock.advance(by: .minutes(5))
                    for number in nags.indices {
                        _ = try await server.complete(nags[number], as: family.child)
                        completed += 1
                        nags[number] = try await server.database.rows(
                            "SELECT id FROM nags WHERE parent_nag_id = \(nags[number])"
                        ) { try $0["id"] }[0]
                    }
                }
            }
            #expect(completed == NagLimit.seriesCompletionsPerDay)
            #expect(refusal.status == 403 && refusal.reason == "completion_limit_reached")
            // Other nags are completed all the same, and the series goes on tomorrow.
            #expect(try await server.complete(single.id, as: family.child).status == .completed)
            let open: [NagID] = try await server.database.rows(
                "SELECT id FROM nags WHERE parent_nag_id IS NOT NULL AND status = 'open'"
            ) { try $0["id"] }
            server.clock.advance(by: .days(1))
            #expect(try await server.complete(try #require(open.first), as: family.child).status == .completed)
        }
    }

    @Test("a change of a nag that changes nothing leaves no row, no event and no entry")
    func nothing() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let path = NagPath(nagID: nag.id)
            let promise = server.clock.now() + .hours(1)
            _ = try await server.call(API.dismissNag, path, as: family.child)
            _ = try await server.call(API.updateNag, path, NagUpdate(committedAt: .value(promise)), as: family.child)
            let stamp: SQL = "SELECT sync_seq, sync_ts FROM nags WHERE id = \(nag.id)"
            let before = try await server.rows(stamp)
            try await server.expectOnly {
                for _ in 0..<5 {
                    _ = try await server.call(API.dismissNag, path, as: family.child)
                    _ = try await server.call(
                        API.updateNag, path, NagUpdate(committedAt: .value(promise)), as: family.child)
                    _ = try await server.call(
                        API.updateNag, path, NagUpdate(dueAt: nag.dueAt, category: nag.category), as: family.guardian)
                    _ = try await server.call(API.updateNag, path, NagUpdate(dueAt: nag.dueAt), as: family.child)
                }
            }
            #expect(try await server.rows(stamp) == before)
        }
    }

    @Test("another time zone does not begin a new day for daily limits")
    func zone() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let path = FamilyPath(familyID: family.id)
            func move(to zone: String) async throws {
                _ = try await server.call(API.updateFamily, path, FamilyUpdate(timeZone: zone), as: family.guardian)
            }
            // In Kiritimati the next day begins at ten o'clock UTC, in Pago Pago at eleven.
            server.clock.set(to: try Timestamp(wireText: "2027-01-05T09:30:00Z"))
            for _ in 0..<8 { _ = try await server.nag(from: family.guardian, to: family.child) }
            for zone in ["Pacific/Kiritimati", "Pacific/Pago_Pago", "America/New_York", "Pacific/Kiritimati"] {
                server.clock.advance(by: .minutes(50))
                try await move(to: zone)
                let error = try await expectRefusal(403) {
                    try await server.nag(from: family.guardian, to: family.child)
                }
                #expect(error.reason == "daily_cap_reached")
            }
            server.clock.set(to: try Timestamp(wireText: "2027-01-06T09:31:00Z"))
            _ = try await server.nag(from: family.guardian, to: family.child)
            // A day without a change later, days are the family's again.
            server.clock.set(to: try Timestamp(wireText: "2027-01-08T09:59:00Z"))
            for _ in 0..<8 { _ = try await server.nag(from: family.guardian, to: family.child) }
            server.clock.set(to: try Timestamp(wireText: "2027-01-08T10:01:00Z"))
            _ = try await server.nag(from: family.guardian, to: family.child)
        }
    }
}
