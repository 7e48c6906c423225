import Contract
import Domain
import Postgres
import SQL
import SeededNumbers
import Synchronization
import Testing

@testable import Server
@testable import ServerTestKit

/// Writers, readers and trouble over one family, and an account of what every reader ended up with.
///
/// The order of events is the machine's; what each part does is drawn from the seed. Everything is bounded by counts.
struct LossHarness: Sendable {
    /// How the harness is made to fail, to show that it can.
    enum Flaw: Sendable {
        /// Writers stamp rows with their own clock, and take the family's row only afterwards.
        case stampedBeforeTheLock
        /// Readers ask the usual way: rows changed since the last answer, a page of 500, and the wall clock as its time.
        case usualReader
    }

    var seed = 1
    var flaw: Flaw?
    var acts = 24

    /// What the run has come to.
    struct Account: Sendable {
        /// Rows of the database that a reader was entitled to and does not hold, or holds as they no longer are.
        var lost: [String] = []
        /// Whatever else did not hold.
        var faults: [String] = []
        var rows = 0
        var acknowledged = 0
        var inDoubt = 0
        var polls = 0

        var summary: String {
            "\(acknowledged) writes acknowledged, \(inDoubt) refused or in doubt, \(rows) rows, \(polls) polls, \(lost.count) lost"
        }
    }

    func run(_ server: TestServer) async throws -> Account {
        let home = try await server.family()
        let scene = LossScene(home: home, record: LossRecord())
        try await scene.prepare(server)
        let account = Mutex(Account())
        try await server.withPeers(2) { peers in
            let servers = [server] + peers
            let crew = LoadClients(scene: scene, servers: servers, seed: seed, acts: acts, flaw: flaw)
            var readers: [LossReader] = []
            for person in [home.guardian, home.participant, home.child] {
                for kind in flaw == .usualReader ? [LossReader.Kind.usual] : [.legacy, .exact] {
                    readers.append(LossReader(kind, try await server.anotherSession(of: person), home.id, servers))
                }
            }
            let ended = try await withThrowingTaskGroup(of: LossReader.self) { group in
                for (number, reader) in readers.enumerated() {
                    group.addTask {
                        var reader = reader
                        let dice = SeededNumbers(seed: UInt64(seed * 1_000 + number))
                        try await reader.readWhileWriting(scene.record, dice)
                        return reader
                    }
                }
                try await crew.work()
                scene.record.finish()
                return try await group.reduce(into: []) { $0.append($1) }
            }
            for var reader in ended {
                try await reader.catchUp()
                let (lost, faults) = try await scene.compare(reader, server)
                account.withLock {
                    $0.lost += lost
                    $0.faults += faults
                    $0.polls += reader.polls
                }
            }
        }
        var result = account.withLock { $0 }
        let left = try await scene.unkeptPromises(server)
        result.lost += left
        let figures = scene.record.figures
        (result.acknowledged, result.inDoubt) = (figures.acknowledged, figures.inDoubt)
        result.faults += figures.faults
        result.rows = try await server.feed(home.id).count
        // What the flawed writers left belongs to no act: the check at the end of every test would say so, rightly.
        if flaw == .stampedBeforeTheLock { try await server.sql("DELETE FROM nag_events WHERE sync_seq = 0") }
        return result
    }
}

/// What writers were told, shared by all tasks of a run.
final class LossRecord: Sendable {
    struct Figures: Sendable {
        var acknowledged = 0
        var inDoubt = 0
        var faults: [String] = []
        /// Events whose commit was told to a writer.
        var promised: Set<EventID> = []
        /// Events of transactions that were never committed.
        var abandoned: Set<EventID> = []
        var completed: Set<NagID> = []
    }

    private let state = Mutex(Figures())
    private let isOver = Atomic(false)

    var figures: Figures { state.withLock { $0 } }
    var isFinished: Bool { isOver.load(ordering: .acquiring) }
    func finish() { isOver.store(true, ordering: .releasing) }
    func note(_ change: (inout Figures) -> Void) { state.withLock { change(&$0) } }

    /// Runs a write and counts what became of it. Refusals and faults that say "try again" are part of the trouble.
    func attempt(_ write: () async throws -> Void) async -> Bool {
        do {
            try await write()
            note { $0.acknowledged += 1 }
            return true
        } catch let error as APIError where [403, 409, 429, 503].contains(error.status) {
            note { $0.inDoubt += 1 }
        } catch let error as PostgresError where error.sqlState != "23505" {
            note { $0.inDoubt += 1 }
        } catch is Abandoned {
            // Meant to come to nothing.
        } catch {
            note { $0.faults.append("a write: \(error)") }
        }
        return false
    }
}

/// The family under test.
struct LossScene: Sendable {
    let home: Household
    let record: LossRecord
    /// Nags that exist before the trouble begins; the writers complete, edit and cancel them.
    let nags = (1...60).map { NagID(high: 0x1055, low: UInt64($0)) }

    /// Every third is the participant's.
    func recipient(ofNagAt index: Int) -> TestPerson { index % 3 == 0 ? home.participant : home.child }

    func prepare(_ server: TestServer) async throws {
        let now = server.clock.now()
        for (index, nag) in nags.enumerated() {
            try await server.commit(
                [FeedRows.nag(nag, from: home.guardian, to: recipient(ofNagAt: index), at: now)], in: home.id)
        }
    }

    /// What a reader holds against what it was entitled to.
    func compare(_ reader: LossReader, _ server: TestServer) async throws -> (lost: [String], faults: [String]) {
        let person = reader.person
        let seesAll = person.role == .guardian
        let truth = try await server.database.rows(
            """
            SELECT 'nag' AS entity, id, status FROM nags
            WHERE family_id = \(home.id) AND (\(seesAll) OR creator_id = \(person.id) OR recipient_id = \(person.id))
            UNION ALL
            SELECT 'event', id, '' FROM nag_events e WHERE family_id = \(home.id) AND (\(seesAll) OR EXISTS (
                SELECT FROM nags n WHERE n.family_id = e.family_id AND n.id = e.nag_id
                    AND (creator_id = \(person.id) OR recipient_id = \(person.id))))
            UNION ALL
            SELECT 'mediation', id, '' FROM ai_mediation_events WHERE family_id = \(home.id)
                AND actor_id = \(person.id)
            UNION ALL
            SELECT 'points', id, '' FROM gamification_events WHERE family_id = \(home.id)
            """
        ) { row in HeldKey(entity: try row["entity"], id: try row["id"], status: try row["status"]) }
        let expected = Set(truth)
        let abandoned = record.figures.abandoned
        let who = "\(reader.kind) \(person.name)"
        let lost = expected.subtracting(reader.keys).map { "\(who) lacks \($0.entity) \($0.id) \($0.status)" }
        var faults = reader.faults.map { "\(who): \($0)" }
        for key in reader.keys.subtracting(expected) {
            faults.append("\(who) holds what is not there: \(key.entity) \(key.id)")
        }
        for event in reader.everSeen.intersection(abandoned) { faults.append("\(who) saw the uncommitted \(event)") }
        return (lost, faults)
    }

    /// What a writer was told is done and the database does not have.
    func unkeptPromises(_ server: TestServer) async throws -> [String] {
        let figures = record.figures
        let events: [EventID] = try await server.database.rows("SELECT id FROM nag_events") { try $0["id"] }
        let open: [NagID] = try await server.database.rows("SELECT id FROM nags WHERE status = 'open'") { try $0["id"] }
        return figures.promised.subtracting(events).map { "promised event \($0) is gone" }
            + figures.completed.intersection(open).map { "completed nag \($0) is open" }
    }
}

/// One row of the feed by what matters of it.
struct HeldKey: Hashable, Sendable {
    var entity: String
    var id: EventID
    var status: String
}
