import Contract
import Domain
import HTTP
import JSON
import Postgres
import SQL

/// The family feed: changes in commit order, without loss for clients of both contracts, `since` and `cursor`.
///
/// `server_time` is never the wall clock. It is the family clock in the snapshot of the rows or, if the rows of one
/// type did not fit into the page, the stamp of the last one that did. A client that floors it to the second and sends
/// it back gets every row that it may have missed, and some rows again. A `cursor` pages exactly, without repeated
/// rows.
final class Feed {
    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Registers the operations of the tag `sync`: the family feed.
    func register(in routes: RouteTable) {
        routes.signedInWriting(API.syncEvents, read)
    }

    func read(_ caller: Caller, _ call: Call<SyncQuery, NoBody>) async throws -> [UInt8] {
        let family = call.parameters.familyID
        let request = FeedRequest(call.parameters)
        var memory: MemoryReservation?
        let page = try await page(
            caller, family, request, withFacts: call.parameters.includesFacts, caller.now, reserving: &memory)
        // A legacy client sends the page's `server_time` back, so the session stores it as a valid position.
        // Development tokens have no session.
        if request.isLegacy, !page.isAlreadyGranted, let session = caller.sessionID {
            _ = try await services.database.query(SyncStatements.insertGrant(page.grant, to: session, in: family))
        }
        return page.json
    }

    /// Reads the rows, reserves memory for the answer, and builds the page.
    /// - Throws: 503 if there is no memory for the answer.
    private func page(
        _ caller: Caller, _ family: FamilyID, _ request: FeedRequest, withFacts: Bool, _ now: Timestamp,
        reserving memory: inout MemoryReservation?
    ) async throws -> FeedPage {
        // The rows are released when this function returns. Otherwise half a megabyte of them would stay in memory
        // while the grant is stored.
        let rows = try await rows(caller, family, request, withFacts: withFacts, now)
        memory = services.answerMemory.reserve(rows.memoryShare, for: caller.context.remote)
        guard memory != nil else { throw APIError.noMemoryForAnswer }
        return try FeedPage(rows, family, request, at: now, checkpoint: services.checkpointStatus.current.note)
    }

    private func rows(
        _ caller: Caller, _ family: FamilyID, _ request: FeedRequest, withFacts: Bool, _ now: Timestamp
    ) async throws -> PageRows {
        let start = request.start
        if let standby = services.standby, start.mayHaveManyRows(at: now), standby.admitRead() {
            let primaryStatement = SyncStatements.page(
                family, for: caller, from: start, request.size, withEntities: false,
                withFacts: withFacts)
            if let rows = try await rowsFromStandby(caller, family, request, primaryStatement, standby) { return rows }
        }
        let statement = SyncStatements.page(
            family, for: caller, from: start, request.size, withFacts: withFacts)
        // A client with a position usually gets a few rows, which need no bulk read.
        let database = services.database
        return PageRows(try await start.isBeginning ? database.bulkRead(statement) : database.read(statement))
    }

    /// Returns the rows of a page whose entities come from a standby; nil when the standby cannot give them.
    ///
    /// The primary is asked first. It decides whether the caller may read, from which position and what they may see,
    /// and it gives everything that can change without the family clock. The standby's rows are used only if its family
    /// clock equals the primary's, so both are one snapshot of the family: the page is the one that the primary would
    /// have given at that moment. So a caller gets no state older than their position, nothing after their access has
    /// ended, and no write that is not acknowledged yet.
    private func rowsFromStandby(
        _ caller: Caller, _ family: FamilyID, _ request: FeedRequest, _ primaryStatement: SQL, _ standby: Standby
    ) async throws -> PageRows? {
        let rows = try await services.database.read(primaryStatement)
        let gate = try FeedGate(rows)
        let stamp = gate.isPositionValid ? request.start.stamp : nil
        // Nothing has changed since the client's position.
        if let stamp, stamp > gate.clockTime { return PageRows(rows) }
        let entities = SyncStatements.entitiesFromStandby(
            family, for: caller, at: gate, from: stamp.map { .valid($0) } ?? .beginning, request.size)
        return await standby.readRows(of: entities).map { PageRows(rows, entities: $0) }
    }
}

/// The position that a request claims, and whether it uses the legacy contract.
struct FeedRequest {
    let start: FeedStart
    /// Whether the request pages by `since` rather than by `cursor`.
    let isLegacy: Bool
    /// Whether the request has a cursor that is invalid or of another family.
    let hasUnusableCursor: Bool

    var size: FeedPageSize { isLegacy ? .legacy : .exact }

    init(_ query: SyncQuery) {
        if let text = query.cursor {
            isLegacy = false
            let cursor = Cursor(text)
            if let cursor, cursor.family == query.familyID {
                start = .after(cursor)
                hasUnusableCursor = false
            } else {
                start = .beginning
                hasUnusableCursor = true
            }
        } else {
            isLegacy = true
            hasUnusableCursor = false
            start = query.since.map { .sinceSecond($0.seconds) } ?? .beginning
        }
    }
}
