import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import NagzAI

/// `nagz device measure`: times a first sync into a new cache, its size, and answers from it beside the same answers
/// over HTTP. For benchmarks: the server records every answer it gives.
enum DeviceMeasure {
    static func run(_ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let answers = try arguments.number("--answers", in: 10...100_000) ?? 2_000
        let requests = try arguments.number("--requests", in: 1...10_000) ?? 200
        try arguments.finish()
        let session = try context.session()
        let family = try context.family(of: session)
        let path = context.folder.path + "/measure.db"
        try EventCache.remove(path)
        defer { try? EventCache.remove(path) }
        let cache = try EventCache(path: path, seal: try context.folder.seal())
        let client = try context.client(session)
        let service = SyncService(cache: cache, outbox: nil, source: client, now: MachineClock.moment)
        let began = MachineClock.microseconds()
        let summary = try await service.run(family)
        let syncTime = MachineClock.microseconds() - began
        let nags = try cache.nags(of: family).map(\.id)
        guard let first = nags.first else { throw Stop(.unknownThing, "the family has no open nag to ask about") }

        let local = LocalAIService(
            facts: CacheFacts(cache, family: family, now: MachineClock.moment),
            heuristics: Heuristics(phrasebook: try Phrasebook.english()), log: .silent(for: session.userID))
        let remote = ServerAIService(client)
        _ = try await (local.selectTone(nagID: first), local.predictCompletion(nagID: first))
        let tone = try await times(answers, nags) { _ = try await local.selectTone(nagID: $0) }
        let prediction = try await times(answers, nags) { _ = try await local.predictCompletion(nagID: $0) }
        let request = try await times(requests, nags) { _ = try await remote.selectTone(nagID: $0) }
        let members = max(1, try cache.counts().members)
        let size = try cache.size()
        let perUserMonth = size / members / 3
        if context.asJSON {
            return print(json: [
                "rows": .integer(Int64(summary.rows)), "pages": .integer(Int64(summary.pages)),
                "first_sync_ms": .double(Double(syncTime) / 1_000), "bytes": .integer(Int64(size)),
                "bytes_per_user_month": .integer(Int64(perUserMonth)), "tone_us": .integer(tone.median),
                "tone_p99_us": .integer(tone.p99), "prediction_us": .integer(prediction.median),
                "prediction_p99_us": .integer(prediction.p99), "tone_over_http_us": .integer(request.median),
            ])
        }
        print("first sync     \(summary.rows) rows in \(summary.pages) pages, \(syncTime / 1_000) ms")
        print("cache          \(size / 1_024) KB, \(perUserMonth / 1_024) KB a user-month of a quarter's data")
        print("tone           \(tone.median) µs here (99 % within \(tone.p99) µs), \(request.median) µs over HTTP")
        print("prediction     \(prediction.median) µs here (99 % within \(prediction.p99) µs)")
    }

    /// Returns median and 99th percentile in microseconds.
    private static func times(
        _ count: Int, _ nags: [NagID], _ ask: (NagID) async throws -> Void
    ) async throws -> (median: Int64, p99: Int64) {
        var times: [Int64] = []
        for number in 0..<count {
            let began = MachineClock.microseconds()
            try await ask(nags[number % nags.count])
            times.append(MachineClock.microseconds() - began)
        }
        times.sort()
        return (times[count / 2], times[count * 99 / 100])
    }
}
