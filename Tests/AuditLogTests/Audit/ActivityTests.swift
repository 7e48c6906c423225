import Contract
import Domain
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Activity by the calendar")
struct ActivityTests {
    private static func moment(_ text: String) throws -> Timestamp { try Timestamp(wireText: text) }

    @Test("a day of the activity is a day of the zone, also where clocks are changed")
    func days() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family()
            // In New York clocks go back on 1 November 2026: that day has 25 hours.
            for (number, at) in [
                "2026-11-01T03:59:59Z", "2026-11-01T04:00:00Z", "2026-11-02T04:59:59Z", "2026-11-02T05:00:00Z",
            ].enumerated() {
                try await server.sql(
                    """
                    INSERT INTO audit_entry
                        (family_id, n, at, kind, actor, trace, request, commit, prev, hash)
                    SELECT \(family.id), \(Int64(number + 1)), \(try Self.moment(at)), 'a', u, u, u, h, h, h
                    FROM (SELECT md5('u')::uuid AS u, sha256('h') AS h) s
                    """)
            }
            func activity(_ zone: String?, _ from: String, _ to: String) async throws -> AuditActivity {
                try await server.call(
                    API.getAuditActivity,
                    AuditActivityQuery(
                        from: try Self.moment(from), to: try Self.moment(to), timeZone: zone), as: family.guardian)
            }
            let local = try await activity("America/New_York", "2026-10-30T04:00:00Z", "2026-11-03T05:00:00Z")
            #expect(local.unit == .day && local.timeZone == "America/New_York")
            #expect(
                try local.starts
                    == [
                        "2026-10-30T04:00:00Z", "2026-10-31T04:00:00Z", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z",
                    ].map(Self.moment))
            #expect(local.series == [AuditSeries(kind: "a", counts: [0, 1, 2, 1])])
            let universal = try await activity(nil, "2026-10-30T04:00:00Z", "2026-11-03T05:00:00Z")
            #expect(
                try universal.starts
                    == [
                        "2026-10-30T04:00:00Z", "2026-10-31T00:00:00Z", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z",
                        "2026-11-03T00:00:00Z",
                    ].map(Self.moment))
            #expect(universal.series == [AuditSeries(kind: "a", counts: [0, 0, 2, 2, 0])])
            // Twenty-five hours of that day, none of them twice.
            let hours = try await activity("America/New_York", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z")
            #expect(hours.unit == .hour && Set(hours.starts).count == 25 && hours.starts.count == 25)
            #expect(hours.series.first?.counts.reduce(0, +) == 2)
            let years = try await activity("Asia/Kolkata", "2016-11-02T00:00:00Z", "2027-11-01T00:00:00Z")
            #expect(years.unit == .month && (130...133).contains(years.starts.count))
            #expect(years.series.first?.counts.reduce(0, +) == 4)
            for zone in ["Nowhere/City", "+05:00", "'; --", ""] {
                let error = try await refusal {
                    try await activity(zone, "2026-10-30T04:00:00Z", "2026-11-03T05:00:00Z")
                }
                #expect(error.code == .validationFailed && error.field == "time_zone")
            }
        }
    }
}
