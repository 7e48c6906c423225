import Contract
import Domain
import JSON
import Postgres

/// The family feed: what changed, in commit order, losing nothing for clients of either contract.
///
/// `server_time` is the family clock in the snapshot that the rows were read in, or, where an entity did not fit into the
/// page, the stamp of its last row: never the wall clock. A client that floors it to the second and sends it back meets
/// every row again that it may not have seen. A `cursor` pages exactly, without repeats.
final class Feed {
    private let backend: Backend

    init(_ backend: Backend) { self.backend = backend }

    func read(_ caller: Caller, _ call: Call<SyncQuery, NoBody>) async throws -> [UInt8] {
        let family = call.parameters.familyID
        let request = FeedRequest(call.parameters)
        let statement = SyncStatements.page(
            family, for: caller, standing: backend.access.standing(caller), from: request.start,
            withFacts: call.parameters.facts)
        // Who comes from a place mostly gets a few rows. The rows have no name here: a named value would live on, half a
        // megabyte of them, while the grant waits.
        let page = try FeedPage(
            request.start.isBeginning
                ? await backend.database.query(statement) : await backend.database.read(statement),
            family, request, at: call.now, checkpoint: backend.trailHead.now.note)
        // What a legacy client gets it brings back; development tokens have no session to note it for.
        if request.isLegacy, !page.isGranted, let session = caller.sessionID {
            _ = try await backend.database.query(SyncStatements.grant(page.grant, to: session, in: family))
        }
        return page.json
    }
}

/// Which of the two contracts a request speaks, and where it says it is.
struct FeedRequest {
    let start: FeedStart
    let isLegacy: Bool
    /// The request named a place that cannot be this family's.
    let isForeign: Bool

    init(_ query: SyncQuery) {
        if let text = query.cursor {
            isLegacy = false
            let cursor = Cursor(text)
            if let cursor, cursor.family == query.familyID {
                start = .after(cursor)
                isForeign = false
            } else {
                start = .beginning
                isForeign = true
            }
        } else {
            isLegacy = true
            isForeign = false
            start = query.since.map { .second($0.seconds) } ?? .beginning
        }
    }
}
