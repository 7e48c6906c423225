import Contract
import Device
import Domain
import FamilyHistories
import Foundation
import LocalAI
import NagzAI
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// A device of one person, with its real cache and outbox in a folder of its own, over a real socket to a test server.
final class TestDevice {
    let server: TestServer
    let person: TestPerson
    let family: FamilyID
    let folder: DeviceFolder
    let cache: EventCache
    let outbox: Outbox
    let client: ServerClient

    init(_ server: TestServer, _ person: TestPerson, in folder: String) throws {
        self.server = server
        self.person = person
        family = try #require(person.familyID)
        self.folder = DeviceFolder(path: folder)
        try self.folder.create()
        cache = try EventCache(path: self.folder.cachePath, seal: self.folder.loadOrCreateSeal())
        outbox = try Outbox(path: self.folder.outboxPath, seal: self.folder.loadOrCreateSeal())
        let address = try #require(ServerAddress("http://127.0.0.1:\(server.port)"))
        let session = DeviceSession(
            server: address, userID: person.id, displayName: person.name, familyID: family, role: person.role,
            accessToken: Secret(server.token(person)), refreshToken: Secret("none"))
        try self.folder.sessionFile.save(session)
        let clock = server.clock
        client = ServerClient(
            session, keptIn: self.folder.sessionFile, over: try HTTPTransport(address), now: { clock.now() })
    }

    @discardableResult
    func sync(_ mode: SyncMode = .cursor) async throws -> SyncSummary {
        let clock = server.clock
        return try await SyncService(
            cache: cache, outbox: outbox, source: client, mode: mode, now: { clock.now() }
        ).run(family)
    }

    /// The rules over this device's cache.
    func heuristics() throws -> HeuristicAIService<CacheFacts> {
        let clock = server.clock
        return HeuristicAIService(
            source: CacheFacts(
                cache, family: family, outboxCompletions: try outbox.waitingCompletions(in: family),
                now: { clock.now() }),
            heuristics: Heuristics(phrasebook: try Phrasebook.english()))
    }

    /// Puts an act into the outbox.
    func act(_ act: InputAct, on nag: NagID) throws {
        try outbox.add(
            OutboxItem(
                clientID: server.random.identifier(at: server.clock.now()), nagID: nag, act: act,
                madeAt: server.clock.now()), of: family)
    }
}

extension TestServer {
    /// Writes a random past through the ledger, oldest first, so that its stamps are those of its time.
    func load(_ history: FamilyHistory, of home: Household) async throws {
        var statements: [SQL] = [
            "UPDATE families SET time_zone = \(history.timeZone) WHERE id = \(home.id)",
            """
            UPDATE policies SET max_pushback = \(history.maxPushBack)::integer,
                cooldown_minutes = \(history.cooldownMinutes)::integer WHERE family_id = \(home.id)
            """,
        ]
        for member in history.members {
            statements.append("UPDATE users SET display_name = \(member.name) WHERE id = \(member.id)")
            statements.append(
                """
                INSERT INTO preferences (family_id, user_id, prefs, updated_at)
                VALUES (\(home.id), \(member.id), \(SQLJSON(member.document)), \(history.now))
                """)
            statements.append(
                """
                UPDATE member_totals SET streak = \(history.streak(of: member.id))::integer,
                    events = \(history.scores.count { $0.user == member.id })
                WHERE family_id = \(home.id) AND user_id = \(member.id)
                """)
        }
        for statement in statements { try await sql(statement) }
        var acts: [(at: Timestamp, rows: [SQL])] = []
        for nag in history.nags { acts.append((nag.createdAt, [nag.row])) }
        for event in history.events { acts.append((event.at, [event.row])) }
        for excuse in history.excuses { acts.append((excuse.at, [excuse.row(in: home.id)])) }
        for pushBack in history.pushBacks { acts.append((pushBack.at, [pushBack.row])) }
        for score in history.scores { acts.append((score.at, [score.row])) }
        // A nag comes before what hangs on it.
        let sorted = acts.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
        for act in sorted { try await commit(act.element.rows, in: home.id, at: act.element.at) }
    }
}

extension FamilyHistory.Member {
    /// The preferences as a document.
    fileprivate var document: String {
        var parts = [#""pushback_mode":"\#(pushBackMode.rawValue)""#, #""tone":"\#(tone.rawValue)""#]
        if let timeZone { parts.append(#""timezone":"\#(timeZone)""#) }
        if let quietHours {
            parts.append(#""quiet_hours_enabled":true,"quiet_hours_start":"\#(quietHours.start)""#)
            parts.append(#""quiet_hours_end":"\#(quietHours.end)""#)
        }
        return "{\(parts.joined(separator: ","))}"
    }
}

extension FamilyHistory.Nag {
    fileprivate var row: SQL {
        """
        INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, status, created_at,
                          cycle_started_at, completed_at, closed_at, sync_seq, sync_ts)
        SELECT family_id, \(id), \(creator), \(recipient), \(dueAt), \(category), 'ack_only', \(status), \(createdAt),
               \(cycleStartedAt), \(status == .completed ? closedAt : nil), \(closedAt), seq, ts FROM ledger_stamp
        """
    }
}

extension FamilyHistory.Event {
    fileprivate var row: SQL {
        """
        INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, recipient_id, at, payload, sync_seq, sync_ts)
        SELECT family_id, \(id), \(nag), \(type), \(actor), \(recipient), \(at),
               \(SQLJSON(String(decoding: payload.jsonBytes, as: UTF8.self))), seq, ts FROM ledger_stamp
        """
    }
}

extension FamilyHistory.Excuse {
    fileprivate func row(in family: FamilyID) -> SQL {
        """
        INSERT INTO excuses (family_id, id, nag_id, author_id, summary, category, confidence, at)
        SELECT family_id, gen_random_uuid(), \(nag), \(author), 'x', \(category), 0.9, \(at) FROM ledger_stamp
        """
    }
}

extension FamilyHistory.PushBack {
    fileprivate var row: SQL {
        """
        INSERT INTO ai_mediation_events (family_id, id, nag_id, prompt_type, tone, summary, actor_id, at, sync_seq, sync_ts)
        SELECT family_id, \(id), \(nag), 'push_back', 'neutral', 's', \(FamilyHistory.system), \(at), seq, ts FROM ledger_stamp
        """
    }
}

extension FamilyHistory.Score {
    fileprivate var row: SQL {
        """
        INSERT INTO gamification_events
            (family_id, id, user_id, event_type, delta_points, streak_delta, at, sync_seq, sync_ts)
        SELECT family_id, \(id), \(user), 'test', 0, \(streakDelta), \(at), seq, ts FROM ledger_stamp
        """
    }
}
