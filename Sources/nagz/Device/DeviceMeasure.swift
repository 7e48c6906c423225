import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import NagzAI

/// `nagz device measure`: measures a first sync into a new cache, the cache's size, and answers from the cache and
/// over HTTP. For benchmarks: the server records every answer that it gives.
enum DeviceMeasure {
    static func run(_ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let answerCount = try arguments.takeNumber("--answers", in: 10...100_000) ?? 2_000
        let requestCount = try arguments.takeNumber("--requests", in: 1...10_000) ?? 200
        try arguments.finish()
        let session = try context.requireSession()
        let family = try context.requireFamily(of: session)
        let path = context.folder.path + "/measure.db"
        try EventCache.remove(path)
        defer { try? EventCache.remove(path) }
        let cache = try EventCache(path: path, seal: try context.folder.loadOrCreateSeal())
        let client = try context.makeClient(session)
        let service = SyncService(cache: cache, outbox: nil, source: client, now: MachineClock.currentTime)
        let startMicroseconds = MachineClock.uptimeMicroseconds()
        let summary = try await service.run(family)
        let syncMicroseconds = MachineClock.uptimeMicroseconds() - startMicroseconds
        let nags = try cache.nags(of: family).map(\.id)
        guard let first = nags.first else { throw Stop(.notFound, "the family has no open nag to ask about") }

        let localService = LocalAIService(
            facts: CacheFacts(cache, family: family, now: MachineClock.currentTime),
            heuristics: Heuristics(phrasebook: try Phrasebook.english()), log: .silent(for: session.userID))
        let serverService = ServerAIService(client)
        _ = try await (localService.selectTone(nagID: first), localService.predictCompletion(nagID: first))
        let tone = try await measureMicroseconds(answerCount, nags) { _ = try await localService.selectTone(nagID: $0) }
        let prediction = try await measureMicroseconds(answerCount, nags) {
            _ = try await localService.predictCompletion(nagID: $0)
        }
        let request = try await measureMicroseconds(requestCount, nags) {
            _ = try await serverService.selectTone(nagID: $0)
        }
        let memberCount = max(1, try cache.counts().members)
        let size = try cache.usedBytes()
        // The data of deploy/bench covers three months.
        let bytesPerUserMonth = size / memberCount / 3
        if context.asJSON {
            return print(json: [
                "rows": .integer(Int64(summary.rowCount)), "pages": .integer(Int64(summary.pageCount)),
                "first_sync_ms": .double(Double(syncMicroseconds) / 1_000), "bytes": .integer(Int64(size)),
                "bytes_per_user_month": .integer(Int64(bytesPerUserMonth)), "tone_us": .integer(tone.median),
                "tone_p99_us": .integer(tone.p99), "prediction_us": .integer(prediction.median),
                "prediction_p99_us": .integer(prediction.p99), "tone_over_http_us": .integer(request.median),
            ])
        }
        print("first sync     \(summary.rowCount) rows in \(summary.pageCount) pages, \(syncMicroseconds / 1_000) ms")
        print("cache          \(size / 1_024) KB, \(bytesPerUserMonth / 1_024) KB a user-month of a quarter's data")
        print("tone           \(tone.median) µs here (99 % within \(tone.p99) µs), \(request.median) µs over HTTP")
        print("prediction     \(prediction.median) µs here (99 % within \(prediction.p99) µs)")
    }

    /// Asks `count` questions one after the other, and returns the median and the 99th percentile of their times in
    /// microseconds.
    private static func measureMicroseconds(
        _ count: Int, _ nags: [NagID], _ ask: (NagID) async throws -> Void
    ) async throws -> (median: Int64, p99: Int64) {
        var times: [Int64] = []
        for number in 0..<count {
            let startMicroseconds = MachineClock.uptimeMicroseconds()
            try await ask(nags[number % nags.count])
            times.append(MachineClock.uptimeMicroseconds() - startMicroseconds)
        }
        times.sort()
        return (times[count / 2], times[count * 99 / 100])
    }
}
