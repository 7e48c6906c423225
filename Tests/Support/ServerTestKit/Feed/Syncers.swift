import Contract
import Domain
import Testing

@testable import Server

/// A client of the old contract. Each poll is one request with the previous `server_time`, floored to the second. Rows
/// are stored by their ID, and never deleted.
struct LegacySyncer {
    let person: TestPerson
    let family: FamilyID
    private(set) var since: Timestamp?
    private(set) var held = HeldRows()
    /// The violations of the contract that were found so far.
    private(set) var faults: [String] = []
    private(set) var polls = 0

    init(_ person: TestPerson, _ family: FamilyID) {
        self.person = person
        self.family = family
    }

    /// Polls the server once.
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

    /// Polls the server until a page says that there are no more rows.
    mutating func catchUp(_ server: TestServer) async throws {
        while try await poll(server).hasMore { try #require(polls < 1_000) }
    }
}

/// A client that pages by cursor, and counts the rows that came again.
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

/// The rows of a family that a client has stored, and the number of those that came again.
struct HeldRows {
    private(set) var nags: [NagID: SyncedNag] = [:]
    private(set) var events: [EventID: SyncedNagEvent] = [:]
    private(set) var mediations: [EventID: SyncedAIMediationEvent] = [:]
    private(set) var points: [EventID: SyncedGamificationEvent] = [:]
    /// The number of nags that came again unchanged, and of other rows that came again.
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
    /// Whether one of the page's lists has as many rows as a page may have.
    var isFull: Bool {
        [nags.count, nagEvents.count, aiMediationEvents.count, gamificationEvents.count].contains { count in
            [FeedPageSize.exact, .legacy].contains { $0.rowsPerPart == count }
        }
    }
    var count: Int { nags.count + nagEvents.count + aiMediationEvents.count + gamificationEvents.count }
}
