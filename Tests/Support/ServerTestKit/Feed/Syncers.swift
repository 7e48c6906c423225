import Contract
import Domain
import Testing

@testable import Server

/// A client of the old contract: one request a poll, `server_time` floored to the second and sent back, rows kept by id,
/// nothing ever dropped.
struct LegacySyncer {
    let person: TestPerson
    let family: FamilyID
    private(set) var since: Timestamp?
    private(set) var held = HeldRows()
    /// What did not hold so far.
    private(set) var faults: [String] = []
    private(set) var polls = 0

    init(_ person: TestPerson, _ family: FamilyID) {
        self.person = person
        self.family = family
    }

    /// Asks once.
    @discardableResult
    mutating func poll(_ server: TestServer, isResync: Bool = false) async throws -> SyncResponse {
        let answer = try await server.page(SyncQuery(familyID: family, since: since?.flooredToSecond), as: person)
        take(answer, isResync: isResync)
        return answer
    }

    mutating func take(_ answer: SyncResponse, isResync: Bool = false) {
        polls += 1
        if let since, !isResync {
            if answer.serverTime < since {
                faults.append("server_time went back from \(since.rfc3339) to \(answer.serverTime.rfc3339)")
            }
            if answer.isFull, answer.serverTime.seconds <= since.seconds {
                faults.append("a full page did not advance")
            }
        }
        held.upsert(answer)
        since = answer.serverTime
    }

    /// Asks until nothing more is cut off.
    mutating func catchUp(_ server: TestServer) async throws {
        while try await poll(server).hasMore { try #require(polls < 1_000) }
    }
}

/// A client that pages by cursor and counts how often each row came.
struct CursorSyncer {
    let person: TestPerson
    let family: FamilyID
    private(set) var cursor: String?
    private(set) var held = HeldRows()
    private(set) var refetches = 0

    init(_ person: TestPerson, _ family: FamilyID) {
        self.person = person
        self.family = family
    }

    @discardableResult
    mutating func poll(_ server: TestServer) async throws -> SyncResponse {
        let answer = try await server.page(SyncQuery(familyID: family, cursor: cursor ?? "start"), as: person)
        take(answer)
        return answer
    }

    mutating func take(_ answer: SyncResponse) {
        if answer.mustRefetch {
            refetches += 1
            held = HeldRows()
        }
        held.upsert(answer)
        cursor = answer.cursor
    }

    mutating func catchUp(_ server: TestServer) async throws {
        var pages = 0
        while try await poll(server).hasMore {
            pages += 1
            try #require(pages < 1_000)
        }
    }
}

/// What a client holds of a family, and how often it was given each row.
struct HeldRows {
    private(set) var nags: [NagID: SyncedNag] = [:]
    private(set) var events: [EventID: SyncedNagEvent] = [:]
    private(set) var mediations: [EventID: SyncedAIMediationEvent] = [:]
    private(set) var points: [EventID: SyncedGamificationEvent] = [:]
    /// Rows that came again although they had not changed.
    private(set) var repeats = 0

    mutating func upsert(_ answer: SyncResponse) {
        for row in answer.nags where nags.updateValue(row, forKey: row.id) == row { repeats += 1 }
        for row in answer.nagEvents where events.updateValue(row, forKey: row.id) != nil { repeats += 1 }
        for row in answer.aiMediationEvents where mediations.updateValue(row, forKey: row.id) != nil { repeats += 1 }
        for row in answer.gamificationEvents where points.updateValue(row, forKey: row.id) != nil { repeats += 1 }
    }

    var count: Int { nags.count + events.count + mediations.count + points.count }
}

extension SyncResponse {
    /// Whether an entity fills its page.
    /// Whether the page is as large as one can be.
    var isFull: Bool {
        [nags.count, nagEvents.count, aiMediationEvents.count, gamificationEvents.count].contains { count in
            [FeedPageSize.exact, .legacy].contains { $0.rows == count }
        }
    }
    var count: Int { nags.count + nagEvents.count + aiMediationEvents.count + gamificationEvents.count }
}
