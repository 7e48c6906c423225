import Audit
import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import Synchronization

/// A folder of the test's own that is gone when `body` is through.
func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
    let folder = FileManager.default.temporaryDirectory.appending(path: "nagz-device-\(UUID().uuidString)").path()
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await body(folder)
}

extension TextSeal {
    /// With a key that all tests share.
    static let test = TextSeal(key(7))

    static func key(_ byte: UInt8) -> SealingKey {
        guard let key = SealingKey([UInt8](repeating: byte, count: 32)) else { preconditionFailure("32 bytes") }
        return key
    }
}

let start = Timestamp(seconds: 1_773_144_000)
let homeFamily = FamilyID(high: 0xfa, low: 1)
let me = UserID(high: 0xaa, low: 1)
let sibling = UserID(high: 0xaa, low: 2)

func syncedNag(
    _ number: UInt64, status: String = "open", to recipient: UserID = me, from creator: UserID = sibling
) -> SyncedNag {
    SyncedNag(
        id: NagID(high: 1, low: number), familyID: homeFamily, creatorID: creator, recipientID: recipient,
        dueAt: start + .hours(5), category: "chores", doneDefinition: "ack_only", description: "Nag \(number)",
        status: status, createdAt: start, committedAt: nil)
}

func syncedEvent(_ number: UInt64, _ type: String = "nag_created", at: Timestamp = start) -> SyncedNagEvent {
    SyncedNagEvent(
        id: EventID(high: 2, low: number), nagID: NagID(high: 1, low: number), eventType: type, actorID: me, at: at,
        payload: [:])
}

func facts(role: FamilyRole = .guardian, allowsMediation: Bool = true, allowsOnDevice: Bool = true) -> FamilyFacts {
    FamilyFacts(
        timeZone: "UTC", maxPushBack: 2, cooldownMinutes: 60, allowsMediation: allowsMediation,
        members: [
            MemberFacts(
                userID: me, displayName: "Me", role: role, status: .active, timeZone: "UTC", quietHours: nil,
                pushBackMode: .bounded, allowsOnDeviceAI: allowsOnDevice, streak: 4,
                resolvedCounts: [ResolvedNags(category: .chores, total: 3, completed: 2)])
        ])
}

func page(
    nags: [SyncedNag] = [], events: [SyncedNagEvent] = [], mediations: [SyncedAIMediationEvent] = [], cursor: String,
    hasMore: Bool = false,
    mustRefetch: Bool = false, time: Timestamp = start, facts: FamilyFacts? = nil, deleted: [DeletedEntity] = [],
    checkpoint: String? = nil
) -> SyncResponse {
    SyncResponse(
        nags: nags, nagEvents: events, aiMediationEvents: mediations, gamificationEvents: [], serverTime: time,
        cursor: cursor,
        hasMore: hasMore, deleted: deleted, mustRefetch: mustRefetch, facts: facts,
        checkpoint: checkpoint)
}

/// A clock that goes on only when somebody waits.
final class WaitingClock: DeviceClock {
    private let state = Mutex((now: start, waits: [Timestamp.Span]()))
    var waits: [Timestamp.Span] { state.withLock { $0.waits } }

    func now() -> Timestamp { state.withLock { $0.now } }

    func sleep(for span: Timestamp.Span) async throws {
        state.withLock {
            $0.now = $0.now + span
            $0.waits.append(span)
        }
        try Task.checkCancellation()
    }
}

/// A clock whose waits do not end until they are cancelled.
struct NeverClock: DeviceClock {
    func now() -> Timestamp { start }

    func sleep(for span: Timestamp.Span) async throws {
        let (never, end) = AsyncStream.makeStream(of: Never.self)
        for await _ in never {}
        withExtendedLifetime(end) {}
        throw CancellationError()
    }
}

/// A clock that goes on when somebody waits, for as long as the limit at most; longer waits end when they are cancelled.
final class ImpatientClock: DeviceClock {
    private let limit: Timestamp.Span
    private let clock = WaitingClock()
    var waits: [Timestamp.Span] { clock.waits }

    init(limit: Timestamp.Span) { self.limit = limit }

    func now() -> Timestamp { clock.now() }

    func sleep(for span: Timestamp.Span) async throws {
        if span > limit { try await NeverClock().sleep(for: span) }
        try await clock.sleep(for: span)
    }
}

/// Tells of changes when the test says so.
final class ScriptedChanges: ChangeSource {
    private let stream = AsyncStream.makeStream(of: Void.self)
    private let heard = Mutex<[FamilyID]>([])
    var families: [FamilyID] { heard.withLock(\.self) }

    func tell() { stream.continuation.yield() }

    func listen(
        to family: FamilyID, onOpen: @escaping @Sendable () -> Void, onChange: @escaping @Sendable () -> Void
    ) async throws(TransportError) {
        heard.withLock { $0.append(family) }
        onOpen()
        for await _ in stream.stream { onChange() }
    }
}

/// A server that answers by a script and remembers what it was asked.
final class ScriptedSource: FeedSource {
    private struct State {
        var queries: [SyncQuery] = []
        var uploads: [OutboxUpload] = []
    }
    private let state = Mutex(State())
    /// The audit log it shows; none when nil.
    let log: ShownLog?
    private let pages: @Sendable (SyncQuery, Int) throws -> SyncResponse
    private let answers: @Sendable (OutboxUpload, Int) throws -> OutboxAnswer

    init(
        pages: @escaping @Sendable (SyncQuery, Int) throws -> SyncResponse,
        answers: @escaping @Sendable (OutboxUpload, Int) throws -> OutboxAnswer = { upload, _ in
            OutboxAnswer(
                results: upload.items.map {
                    InputResult(clientID: $0.clientID, outcome: .applied, eventID: EventID(high: 9, low: 9), error: nil)
                })
        },
        log: ShownLog? = nil
    ) {
        self.log = log
        self.pages = pages
        self.answers = answers
    }

    var queries: [SyncQuery] { state.withLock { $0.queries } }
    var uploads: [OutboxUpload] { state.withLock { $0.uploads } }
    var clockAhead: Timestamp.Span? { get async { .seconds(3) } }

    func newestCheckpoint() async throws -> String? { log?.newest }
    func consistencyProof(from old: Int64, to new: Int64) async throws -> [[UInt8]]? { log?.proof(from: old, to: new) }
    func logKeys() async throws -> [AuditKey] { log?.keys ?? [] }

    func fetchPage(_ query: SyncQuery) async throws -> SyncResponse {
        let number = state.withLock { state in
            state.queries.append(query)
            return state.queries.count
        }
        return try pages(query, number)
    }

    func upload(_ upload: OutboxUpload) async throws -> OutboxAnswer {
        let number = state.withLock { state in
            state.uploads.append(upload)
            return state.uploads.count
        }
        return try answers(upload, number)
    }
}
