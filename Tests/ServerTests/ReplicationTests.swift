import Domain
import Foundation
import Postgres
import Reactor
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The database's standbys and its clock")
struct ReplicationTests {
    private static func status(
        _ written: Int, _ replayed: Int?, standbys: Int = 1, hasDetails: Bool = true
    ) -> ReplicationStatus {
        ReplicationStatus(
            hasDetails: hasDetails, standbys: standbys, synchronousStandbys: 0, writtenPosition: written,
            replayedPosition: replayed)
    }

    @Test("a standby's lag is the time since the primary wrote what it has not replayed")
    func lag() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var lag = ReplicationLag()
        func update(_ seconds: Int, _ written: Int, _ replayed: Int?) -> [Double] {
            let (bytes, time) = lag.update(Self.status(written, replayed), at: start + .seconds(seconds))
            return [Double(bytes), time / .seconds(1)]
        }
        #expect(update(0, 100, 100) == [0, 0])
        #expect(update(5, 150, 120) == [30, 0])
        #expect(update(10, 200, 140) == [60, 5])
        // An idle primary makes it no better.
        #expect(update(15, 200, 140) == [60, 10])
        // What was written at 5 s is replayed, that of 10 s is not.
        #expect(update(20, 210, 160) == [50, 10])
        #expect(update(25, 210, 210) == [0, 0])
        #expect(update(30, 300, 210) == [90, 0])
        #expect(update(35, 300, nil) == [0, 0], "no standby is left")
        #expect(update(40, 310, 300) == [10, 0])
        // After a failover the new primary's log ends earlier.
        #expect(update(45, 305, 290) == [15, 0])
        #expect(update(50, 305, 290) == [15, 5])
    }

    @Test("a standby that lags for days uses a limited amount of memory, and its time stays right")
    func longLag() {
        let start = MonotonicTime(nanoseconds: 1_000_000_000)
        var lag = ReplicationLag()
        for round in 0...5_000 {
            let (bytes, time) = lag.update(Self.status(round + 1, 0), at: start + .seconds(5 * round))
            #expect(bytes == round + 1 && time == .seconds(5 * round))
        }
        let caughtUp = lag.update(Self.status(5_001, 5_001), at: start)
        #expect(caughtUp.bytes == 0 && caughtUp.time == .zero)
    }

    @Test("the server's login alone may call the function, which reveals nothing hidden from the owner")
    func function() async throws {
        try await TestCluster.shared.withDatabase { url in
            let session = try await TestDatabase(url: TestLogin.server.url(url))
            let seen = try await session.rows("SELECT * FROM \(ReplicationStatus.source)") { try ReplicationStatus($0) }
            await session.close()
            #expect(seen.count == 1)
            #expect(try #require(seen.first).writtenPosition > 0 && seen.first?.replayedPosition == nil)
            let database = try await TestDatabase(url: url)
            let rights: [[Bool]] = try await database.rows(
                """
                SELECT has_function_privilege('public', 'replication_status()', 'EXECUTE') AS everybody,
                       pg_has_role(\(TestLogin.owner.name), 'pg_read_all_stats', 'USAGE') AS owner
                """
            ) { [try $0["everybody"], try $0["owner"]] }
            await database.close()
            #expect(rights == [[false, try #require(seen.first).hasDetails]])
        }
    }

    @Test("nagz doctor names the missing right where a standby's lag is hidden, and nothing without standbys")
    func doctor() throws {
        #expect(ReplicationCheck.result(Self.status(10, nil, standbys: 0), owner: "nagz") == nil)
        let hidden = try #require(
            ReplicationCheck.result(Self.status(10, nil, standbys: 2, hasDetails: false), owner: "nagz"))
        #expect(hidden.status == .warning && hidden.text.hasPrefix("2 standbys"))
        #expect(hidden.advice?.contains("GRANT pg_read_all_stats TO nagz") == true)
        let seen = try #require(ReplicationCheck.result(Self.status(30, 10), owner: "nagz"))
        #expect(seen.status == .ok && seen.text == "one standby, 0 of them synchronous, 20 bytes behind at most")
    }

    @Test("metrics have the clock's offset and standbys, and no lag where it is hidden")
    func metrics() async throws {
        func text(_ figures: DatabaseFigures?) -> String {
            let telemetry = Telemetry(loops: 1)
            telemetry.setDatabaseFigures(figures)
            return PrometheusText(telemetry, CheckpointStatus(isOn: false), at: ManualClock.start).text
        }
        func figures(_ status: ReplicationStatus) -> DatabaseFigures {
            DatabaseFigures(
                serverClockLead: .milliseconds(-1_500), replication: status, lag: (20, .milliseconds(2_500)))
        }
        let seen = text(figures(Self.status(30, 10)))
        for line in [
            "nagz_clock_offset_seconds -1.5", "nagz_replication_standbys 1", "nagz_replication_lag_bytes 20",
            "nagz_replication_lag_seconds 2.5", "nagz_replication_synchronous_standbys 0",
        ] { #expect(seen.contains("\n\(line)\n"), "\(line)") }
        let hidden = text(figures(Self.status(30, nil, hasDetails: false)))
        #expect(hidden.contains("\nnagz_replication_standbys 1\n") && !hidden.contains("replication_lag"))
        #expect(!text(nil).contains("nagz_replication") && !text(nil).contains("nagz_clock_offset"))
    }

    @Test("a server measures how far its clock is ahead of the database's")
    func clockOffset() async throws {
        try await TestServer.run { server in
            var offset: Double?
            while offset == nil {
                let lines = try await server.metrics().text.split(separator: "\n")
                offset = lines.first { $0.hasPrefix("nagz_clock_offset_seconds ") }
                    .flatMap { Double($0.split(separator: " ")[1]) }
            }
            let expected = Double((server.clock.now() - SystemClock().now()).microseconds) / 1e6
            #expect(abs(try #require(offset) - expected) < 60)
        }
    }
}
