import Contract
import Domain
import Foundation
import Postgres
import SQL
import Testing
import TimeZones

@testable import Server
@testable import ServerTestKit

@Suite("Zones that this process knows and PostgreSQL does not")
struct ZoneNameTests {
    @Test("a zone that this process knows and PostgreSQL does not is answered or refused, never a 500")
    func activity() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }) { server in
            let family = try await server.family()
            let known = Set(
                try await server.database.rows("SELECT name FROM pg_timezone_names") { row -> String in try row["name"]
                })
            let names =
                ["US/Pacific-New", "Factory/Zone", "posix/Europe/Berlin", "right/Europe/Berlin"]
                + TimeZone.knownTimeZoneIdentifiers
            for name in names.filter({ !known.contains($0) }) + ["Europe/Berlin"] {
                for days in [1, 30, 300, 3_000] {
                    let to = server.clock.now()
                    let path = API.getAuditActivity.request(
                        AuditActivityQuery(from: to - .days(Int64(days)), to: to, timeZone: name), NoBody()
                    ).target
                    let status = try await server.call("GET", path, as: family.guardian).status
                    #expect(status == (ZoneDatabase.system.zone(name) == nil ? 422 : 200), "\(name)")
                }
            }
        }
    }

    @Test("days, weeks and months of the activity begin where the zone's calendar has them")
    func starts() throws {
        let zone = try #require(ZoneDatabase.system.zone("America/New_York"))
        func starts(_ unit: AuditActivity.Unit, _ from: String, _ to: String) throws -> [String] {
            zone.starts(of: unit, from: try Timestamp(wireText: from), to: try Timestamp(wireText: to)).map(\.rfc3339)
        }
        #expect(
            try starts(.week, "2026-03-04T12:00:00Z", "2026-03-16T04:00:00Z")
                == ["2026-03-02T05:00:00.000Z", "2026-03-09T04:00:00.000Z"])
        #expect(
            try starts(.month, "2026-10-31T12:00:00Z", "2026-12-01T05:00:01Z")
                == ["2026-10-01T04:00:00.000Z", "2026-11-01T04:00:00.000Z", "2026-12-01T05:00:00.000Z"])
        #expect(
            try starts(.minute, "2026-03-04T12:00:30Z", "2026-03-04T12:02:00Z")
                == ["2026-03-04T12:00:00.000Z", "2026-03-04T12:01:00.000Z"])
        let kolkata = try #require(ZoneDatabase.system.zone("Asia/Kolkata"))
        let first = kolkata.starts(
            of: .hour, from: try Timestamp(wireText: "2026-03-04T12:00:00Z"),
            to: try Timestamp(wireText: "2026-03-04T12:30:00Z"))
        #expect(try first == [Timestamp(wireText: "2026-03-04T11:30:00Z")])
    }
}
