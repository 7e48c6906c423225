import Audit
import Contract
import Domain
import LocalAI
import NagzAI

/// The server's operations that sync needs: pages of the feed, uploads, and the operations of the audit log.
public protocol FeedSource: LogSource {
    func fetchPage(_ query: SyncQuery) async throws -> SyncResponse
    func upload(_ upload: OutboxUpload) async throws -> OutboxAnswer
    /// The time by which this device's clock is ahead of the server's, by the latest answer with a date; negative if it
    /// is behind, nil before the first such answer.
    var clockAhead: Timestamp.Span? { get async }
}

extension ServerClient: FeedSource {
    public func fetchPage(_ query: SyncQuery) async throws -> SyncResponse { try await call(API.syncEvents, query) }
    public func upload(_ upload: OutboxUpload) async throws -> OutboxAnswer {
        try await call(API.uploadEvents, upload)
    }
}

/// The way in which a sync requests the pages of the feed.
public enum SyncMode: String, Sendable, CaseIterable {
    /// Pages by cursors, with every row once.
    case cursor
    /// Pages by `server_time`, which the next request sends back as `since`, as the public clients do. Rows of the
    /// second in `since` are sent again.
    case timestamps
}

/// The result of one round of sync.
public struct SyncSummary: Hashable, Sendable {
    public var pageCount = 0
    /// The number of downloaded nags and events.
    public var rowCount = 0
    /// The latest 20 nags of the round, for display.
    public var latestNags: [SyncedNag] = []
    /// The number of items of the outbox that the server answered.
    public var uploadedCount = 0
    /// The server's results for items that it did not apply.
    public var unappliedResults: [InputResult] = []
    /// Whether the server began the feed anew in this round: at the first sync by cursors, or because it could not
    /// continue from the stored position.
    public var wasRefetched = false
    /// Whether the consent `ai_mediation` ended in this round, so that this device no longer answers.
    public var wasMediationConsentWithdrawn = false

    public init() {}
}

/// Syncs a device with its server: first uploads the outbox, then fetches the feed.
///
/// A page and its end position are stored in one transaction, and the server answers each item of an upload by the ID
/// that the device gave it. If the process dies at any moment, the next round continues from the stored position, and
/// nothing is lost or applied twice.
public struct SyncService {
    private let cache: EventCache
    private let outbox: Outbox?
    private let source: any FeedSource
    private let logFollower: LogFollower
    private let mode: SyncMode
    private let now: @Sendable () -> Timestamp

    /// The maximum number of pages of one round. A server with more is considered faulty.
    private static let maxPagesPerRound = 100_000

    /// - Parameter logKey: a key of the server's audit log that did not come from the server.
    public init(
        cache: EventCache, outbox: Outbox?, source: any FeedSource, mode: SyncMode = .cursor,
        logKey: VerifierKey? = nil, now: @escaping @Sendable () -> Timestamp
    ) {
        self.cache = cache
        self.outbox = outbox
        self.source = source
        logFollower = LogFollower(cache: cache, source: source, pinnedKey: logKey)
        self.mode = mode
        self.now = now
    }

    /// Runs one round, to the end of the feed.
    /// - Parameter progress: called after every stored page and upload.
    /// - Throws: the source's errors, `SQLiteError`, `SyncFault`, `CancellationError` between two uploads or pages;
    ///   `LogFault` if the audit log was tampered with. The log is checked before the first upload and before each page
    ///   is stored, so after this fault the round uploads and stores nothing more.
    public func run(_ family: FamilyID, progress: (SyncSummary) -> Void = { _ in }) async throws -> SyncSummary {
        var summary = SyncSummary()
        let allowedMediationBefore = try cache.cachedFamily(family)?.allowsMediation
        do {
            try await upload(family, &summary, progress)
            try await download(family, &summary, progress)
        } catch let error as ClientError {
            try recordContact(error.serverFailure)
            throw error
        }
        try recordContact(nil)
        summary.wasMediationConsentWithdrawn =
            try allowedMediationBefore == true && cache.cachedFamily(family)?.allowsMediation == false
        return summary
    }

    /// Records the failure in the cache if the server was unreachable, nothing for a cancelled call, and otherwise that
    /// the server answered.
    private func recordContact(_ failure: ServerFailure?) throws {
        switch failure {
        case .unreachable(let isConnectionFault):
            try cache.record(NetworkWatch.Fault(at: now(), isConnectionFault: isConnectionFault))
        case .cancelled: break
        case .consentMissing, nil: try cache.recordServerAnswer()
        }
    }

    private func upload(
        _ family: FamilyID, _ summary: inout SyncSummary, _ progress: (SyncSummary) -> Void
    ) async throws {
        guard let outbox, try !outbox.waitingItems(of: family, limit: 1).isEmpty else { return }
        // Nothing is uploaded to a server that may have lost earlier uploads.
        try await logFollower.follow(try await source.newestCheckpoint())
        while true {
            try Task.checkCancellation()
            let items = try outbox.waitingItems(of: family)
            if items.isEmpty { return }
            let answer = try await source.upload(OutboxUpload(familyID: family, items: items))
            // Only answers to this upload's items count. Without any, the upload would be repeated forever.
            let uploadedIDs = Set(items.map(\.clientID))
            let results = answer.results.filter { uploadedIDs.contains($0.clientID) }
            guard !results.isEmpty else { throw SyncFault.unanswered }
            try outbox.record(results)
            summary.uploadedCount += results.count
            summary.unappliedResults += results.filter { $0.outcome == .conflict || $0.outcome == .refused }
            progress(summary)
        }
    }

    private func download(
        _ family: FamilyID, _ summary: inout SyncSummary, _ progress: (SyncSummary) -> Void
    ) async throws {
        var refetchCount = 0
        for _ in 0..<Self.maxPagesPerRound {
            try Task.checkCancellation()
            let position = try position(family)
            let page = try await source.fetchPage(position.query(family))
            try await logFollower.follow(page.checkpoint)
            guard
                try cache.apply(
                    page, of: family, requestedFrom: position, at: now(), clockAhead: await source.clockAhead)
            else { continue }
            summary.pageCount += 1
            summary.rowCount += page.rowCount
            summary.latestNags = Array((summary.latestNags + page.nags).suffix(20))
            summary.wasRefetched = summary.wasRefetched || page.mustRefetch
            progress(summary)
            if !page.hasMore { return }
            // A server that repeatedly rejects positions that it has just given is faulty.
            refetchCount += page.mustRefetch ? 1 : 0
            guard refetchCount <= 2 else { throw SyncFault.noProgress }
            guard try self.position(family) != position else { throw SyncFault.noProgress }
        }
        throw SyncFault.noProgress
    }

    private func position(_ family: FamilyID) throws -> FeedPosition {
        let cachedFamily = try cache.cachedFamily(family)
        return switch mode {
        case .cursor: .cursor(cachedFamily?.cursor)
        case .timestamps: .since(cachedFamily?.since)
        }
    }
}

/// A breach of the contract by the server.
public enum SyncFault: Error, Hashable, Sendable {
    /// The feed does not end: the server says that there are more rows but gives the same position again, repeatedly
    /// begins anew, or sends more than the maximum number of pages.
    case noProgress
    /// The server accepted an upload, but answered none of its items.
    case unanswered
}

extension FeedPosition {
    fileprivate func query(_ family: FamilyID) -> SyncQuery {
        switch self {
        // Without a cursor the server would use the older contract. For a cursor that is not valid, such as `start`, it
        // begins at the beginning of the feed.
        case .cursor(let cursor): SyncQuery(familyID: family, cursor: cursor ?? "start", includesFacts: true)
        case .since(let since): SyncQuery(familyID: family, since: since, includesFacts: true)
        }
    }
}

extension SyncResponse {
    /// The number of nags and events. A device does not store the connections.
    var rowCount: Int { nags.count + nagEvents.count + aiMediationEvents.count + gamificationEvents.count }
}
