import ChildProcesses
import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import SQL
import SeededNumbers
import Testing

@testable import Server
@testable import ServerTestKit

/// The real program, killed with SIGKILL again and again while it syncs; its files must lose nothing and double nothing.
///
/// NAGZ_DEVICE_KILLS says how many times; a few dozen when it does not.
@Suite("A device that is killed")
struct DeviceKillTests {
    private static let kills = ProcessInfo.processInfo.environment["NAGZ_DEVICE_KILLS"].flatMap { Int($0) } ?? 36

    @Test("after a kill at any moment the next sync goes on: every row once, every act once")
    func kills() async throws {
        let program = try #require(NagzProgram.url)
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                server.clock.set(to: SystemClock().now())
                let home = try await server.family()
                let nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                let device = try TestDevice(server, home.child, in: folder)
                var (dice, notes, killed, round) = (SeededNumbers(seed: 110), 0, 0, 0)
                while killed < Self.kills {
                    // A person may add fifty notes a day: those of the rounds before are of other days.
                    try await server.sql(
                        "UPDATE nag_events SET at = at - interval '1 day' WHERE event_type = 'note_added'")
                    // Something to fetch, and something to hand in. Every tenth round begins at the beginning.
                    let now = server.clock.now()
                    let count = round < 100 ? 40 + round % 7 : 2
                    try await server.commit(
                        [FeedRows.events(count, of: nag, for: home.child, by: home.guardian, at: now)], in: home.id,
                        stampedRows: count)
                    for _ in 0..<3 {
                        try device.act(.note(text: "note \(notes)"), on: nag)
                        notes += 1
                    }
                    if round % 10 == 9 { try device.cache.remove(home.id) }
                    let process = try ChildProcess(program, ["device", "sync", "--home", folder], in: repository)
                    // Any moment from before its first request to after its last. On a machine so slow that no round gets
                    // to its first request one is let through now and then, or the day's fifty notes would not do.
                    try await Task.sleep(for: .milliseconds(Int.random(in: 0..<110, using: &dice)))
                    if process.isRunning, try device.outbox.totalWaitingCount() < 40 {
                        process.send(SIGKILL)
                        killed += 1
                    }
                    process.wait()
                    round += 1
                }
                try await device.sync()
                let sent = try await server.rows(
                    "SELECT payload->>'text' AS text FROM nag_events WHERE event_type = 'note_added' ORDER BY sync_ts")
                #expect(sent.compactMap { $0["text"]?.stringValue } == (0..<notes).map { "note \($0)" })
                #expect(try device.outbox.totalWaitingCount() == 0 && device.outbox.unappliedItems().isEmpty)
                let rows = try await server.rows("SELECT count(*) AS n FROM nag_events")[0]["n"]?.integerValue
                #expect(try Int64(device.cache.counts().nagEvents) == rows)
                let left = try EventCache(
                    path: device.folder.cachePath, seal: device.folder.loadOrCreateSeal(), checksPages: true)
                #expect(!left.wasRebuilt)
                print("killed \(killed) times in \(round) rounds, \(rows ?? 0) rows, \(notes) acts")
            }
        }
    }
}
