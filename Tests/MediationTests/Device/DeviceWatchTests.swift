import Contract
import Device
import Domain
import LocalAI
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("A device that watches")
struct DeviceWatchTests {
    /// Waits only end when they are cancelled, so every round has a cause.
    private struct NeverClock: DeviceClock {
        let clock: ManualClock

        func now() -> Timestamp { clock.now() }

        func sleep(for span: Timestamp.Span) async throws {
            let (never, end) = AsyncStream.makeStream(of: Never.self)
            for await _ in never {}
            withExtendedLifetime(end) {}
            throw CancellationError()
        }
    }

    @Test(
        "a watching device is notified of a nag over a WebSocket and fetches it at once, without polling",
        .timeLimit(.minutes(5)))
    func told() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let family = try await server.family()
                let device = try TestDevice(server, family.child, in: folder)
                let (rounds, report) = AsyncStream.makeStream(of: SyncSummary.self)
                let (clock, id, client, home) = (server.clock, family.id, device.client, device.folder)
                let watching = Task {
                    let cache = try EventCache(path: folder + "/watched.db", seal: home.loadOrCreateSeal())
                    let service = SyncService(cache: cache, outbox: nil, source: client, now: { clock.now() })
                    try await service.watch(
                        id, changes: client, schedule: SyncSchedule(), clock: NeverClock(clock: clock),
                        random: { 0.5 }, retryDelaySeconds: { _ in nil }
                    ) { result in
                        if case .success(let summary) = result { report.yield(summary) }
                    }
                }
                var summaries = rounds.makeAsyncIterator()
                // The first round, and the one that follows the socket's opening.
                _ = await summaries.next()
                _ = await summaries.next()
                for _ in 0..<3 {
                    let nag = try await server.nag(from: family.guardian, to: family.child, in: family.id)
                    var isFetched = false
                    while !isFetched, let summary = await summaries.next() {
                        isFetched = summary.latestNags.contains { $0.id == nag }
                    }
                }
                watching.cancel()
                await #expect(throws: CancellationError.self) { try await watching.value }
            }
        }
    }
}
