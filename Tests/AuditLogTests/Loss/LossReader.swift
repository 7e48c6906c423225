import Contract
import Domain
import Postgres
import SQL
import SeededNumbers
import Testing

@testable import Server
@testable import ServerTestKit

/// A client that polls whichever server it meets, and keeps what it is given.
struct LossReader: Sendable {
    enum Kind: Sendable {
        /// `server_time` floored and sent back, rows by id.
        case legacy
        /// By cursor.
        case exact
        /// The usual feed: no server of ours, the same rows asked for the usual way.
        case usual
    }

    let kind: Kind
    let person: TestPerson
    private let family: FamilyID
    private let servers: [TestServer]
    private var legacy: LegacySyncer
    private var exact: CursorSyncer
    private var usual = HeldRows()
    private var usualSince = Timestamp.epoch
    private var lastSight: FeedVisibility?
    private(set) var everSeen: Set<EventID> = []
    private(set) var polls = 0

    init(_ kind: Kind, _ person: TestPerson, _ family: FamilyID, _ servers: [TestServer]) {
        self.kind = kind
        self.person = person
        self.family = family
        self.servers = servers
        legacy = LegacySyncer(person, family)
        exact = CursorSyncer(person, family)
    }

    var faults: [String] { legacy.faults }

    var keys: Set<HeldKey> {
        let held =
            switch kind {
            case .legacy: legacy.held
            case .exact: exact.held
            case .usual: usual
            }
        var keys = Set(held.nags.values.map { HeldKey(entity: "nag", id: $0.id.retyped(), status: $0.status) })
        keys.formUnion(held.events.keys.map { HeldKey(entity: "event", id: $0, status: "") })
        keys.formUnion(held.mediations.keys.map { HeldKey(entity: "mediation", id: $0, status: "") })
        keys.formUnion(held.points.keys.map { HeldKey(entity: "points", id: $0, status: "") })
        return keys
    }

    /// Polls until the writers are done.
    mutating func readWhileWriting(_ record: LossRecord, _ generator: SeededNumbers) async throws {
        var generator = generator
        while !record.isFinished {
            try await poll(servers.randomElement(using: &generator) ?? servers[0])
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...25, using: &generator)))
        }
    }

    /// Polls until nothing more comes.
    mutating func catchUp() async throws {
        for _ in 0..<200 {
            guard let answer = try await poll(servers[0]) else { continue }
            if !answer.hasMore { return }
        }
    }

    /// Nil when the server could not answer just now.
    @discardableResult
    private mutating func poll(_ server: TestServer) async throws -> SyncResponse? {
        polls += 1
        if kind == .usual { return try await pollTheUsualWay(server) }
        let query =
            kind == .exact
            ? SyncQuery(familyID: family, cursor: exact.cursor ?? "start")
            : SyncQuery(familyID: family, since: legacy.since?.flooredToSecond)
        let answer: SyncResponse
        do {
            answer = try await server.page(query, as: person)
        } catch let error as APIError where error.status == 503 {
            return nil
        }
        everSeen.formUnion(answer.nagEvents.map(\.id))
        // With another visibility there is a full resync, which starts over.
        let visibility = Cursor(answer.cursor)?.visibility
        let isResync = visibility != lastSight
        lastSight = visibility
        if kind == .exact { exact.take(answer) } else { legacy.take(answer, isResync: isResync) }
        return answer
    }

    private mutating func pollTheUsualWay(_ server: TestServer) async throws -> SyncResponse {
        let now = server.clock.now()
        let (family, since) = (family, usualSince)
        let seesAll = person.role == .guardian
        let events = try await server.database.rows(
            """
            SELECT id, nag_id, event_type, actor_id, at FROM nag_events e
            WHERE family_id = \(family) AND sync_ts >= \(since) AND (\(seesAll) OR EXISTS (
                SELECT FROM nags n WHERE n.family_id = e.family_id AND n.id = e.nag_id
                    AND (creator_id = \(person.id) OR recipient_id = \(person.id))))
            ORDER BY sync_ts, id LIMIT 500
            """
        ) { row in
            SyncedNagEvent(
                id: try row["id"], nagID: try row["nag_id"], eventType: try row["event_type"],
                actorID: try row["actor_id"],
                at: try row["at"], payload: [:])
        }
        let answer = SyncResponse(
            nags: [], nagEvents: events, aiMediationEvents: [], gamificationEvents: [], serverTime: now, cursor: "",
            hasMore: false, deleted: [], mustRefetch: false)
        usual.upsert(answer)
        usualSince = now.flooredToSecond
        return answer
    }
}
