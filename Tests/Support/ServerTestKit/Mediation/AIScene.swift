import Contract
import Domain
import JSON
import NagzAI
import SQL
import Testing
import TimeZones

@testable import Server

/// A family with a nag about which the mediator is asked, and with the history that a test adds for the nag's
/// recipient.
struct AIScene: Sendable {
    let server: TestServer
    let home: Household
    /// From the guardian to the child, open, chores, due in 24 hours.
    let nag = NagID(high: 0xa1, low: 1)
    let heuristics: Heuristics

    init(_ server: TestServer, consents: [ConsentType] = [.aiMediation]) async throws {
        self.server = server
        home = try await server.family(consents: consents)
        heuristics = Heuristics(phrasebook: try Phrasebook.english())
        try await server.commit(
            [FeedRows.nag(nag, from: home.guardian, to: home.child, at: server.clock.now())], in: home.id)
    }

    var now: Timestamp { server.clock.now() }

    // MARK: History

    /// Adds a nag of a category with a status.
    /// - Parameter closed: the time at which the nag ended; nil for now. An open nag has none.
    func add(
        _ category: NagCategory, _ status: NagStatus, to recipient: TestPerson, due: Timestamp? = nil,
        closed: Timestamp? = nil
    ) async throws {
        let end = status == .open ? nil : closed ?? now
        let id: NagID = server.random.identifier(at: now)
        try await server.commit(
            [
                """
                INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, status, created_at,
                                  cycle_started_at, completed_at, closed_at, sync_seq, sync_ts)
                SELECT family_id, \(id), \(home.guardian.id), \(recipient.id), \(due ?? now), \(category), 'ack_only', \(status),
                       \(now), \(now), \(status == .completed ? end : nil), \(end), seq, ts FROM ledger_stamp
                """
            ], in: home.id)
    }

    func addMisses(_ moments: [Timestamp], of recipient: TestPerson) async throws {
        for moment in moments {
            // A nag has one outcome, so each miss is of another nag.
            try await server.commit(
                [
                    FeedRows.events(
                        of: server.random.identifier(at: now), for: recipient, by: home.guardian, type: "nag_missed",
                        at: moment)
                ], in: home.id)
        }
    }

    /// Adds missed nags of a recipient.
    func add(_ misses: [PatternFacts.Miss], of recipient: TestPerson) async throws {
        for miss in misses {
            let id: NagID = server.random.identifier(at: now)
            try await server.commit(
                [
                    """
                    INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, status,
                                      created_at, cycle_started_at, closed_at, sync_seq, sync_ts)
                    SELECT family_id, \(id), \(home.guardian.id), \(recipient.id), \(miss.dueAt), 'chores', 'ack_only',
                           'missed', \(now), \(now), \(miss.missedAt), seq, ts FROM ledger_stamp
                    """,
                    FeedRows.events(of: id, for: recipient, by: home.guardian, type: "nag_missed", at: miss.missedAt),
                ], in: home.id)
        }
    }

    func addStreak(_ days: Int, of person: TestPerson) async throws {
        try await server.commit(
            [
                """
                INSERT INTO gamification_events
                    (family_id, id, user_id, event_type, delta_points, streak_delta, at, sync_seq, sync_ts)
                SELECT family_id, gen_random_uuid(), \(person.id), 'bonus', 0, \(days), \(now), seq, ts FROM ledger_stamp
                """,
                """
                UPDATE member_totals SET streak = streak + \(days), events = events + 1
                FROM ledger_stamp WHERE member_totals.family_id = ledger_stamp.family_id AND user_id = \(person.id)
                """,
            ], in: home.id)
    }

    func addExcuse(_ category: ExcuseCategory, by person: TestPerson, at moment: Timestamp) async throws {
        try await server.sql(
            """
            INSERT INTO excuses (family_id, id, nag_id, author_id, summary, category, confidence, at)
            VALUES (\(home.id), gen_random_uuid(), \(nag), \(person.id), 'x', \(category), 0.9, \(moment))
            """)
    }

    /// Stores a person's preferences.
    /// - Parameter json: the JSON object of the preferences.
    func prefer(_ json: String, _ person: TestPerson) async throws {
        try await server.sql(
            """
            INSERT INTO preferences (family_id, user_id, prefs, updated_at) VALUES (\(home.id), \(person.id), \(SQLJSON(json)), \(now))
            ON CONFLICT (family_id, user_id) DO UPDATE SET prefs = excluded.prefs
            """)
    }

    func setPolicy(maxPushBack: Int = 2, cooldownMinutes: Int = 60) async throws {
        try await server.sql(
            """
            UPDATE policies SET max_pushback = \(maxPushBack), cooldown_minutes = \(cooldownMinutes)
            WHERE family_id = \(home.id) AND is_default
            """)
    }

    // MARK: What the rules make of it

    /// Returns the facts about the nag without a history, after `change`.
    func facts(_ change: (inout NagFacts) -> Void = { _ in }) -> NagFacts {
        var facts = NagFacts(
            nag: NagSnapshot(
                id: nag, familyID: home.id, recipientID: home.child.id, category: .chores, status: .open,
                dueAt: ManualClock.start + .hours(24), createdAt: ManualClock.start))
        change(&facts)
        return facts
    }

    func snapshot(_ facts: NagFacts, zone: String = "America/New_York") -> Snapshot<NagFacts> {
        Snapshot(facts, now: now, zone: ZoneDatabase.system.zone(zone) ?? UniversalTime())
    }

    func pushBack(as person: TestPerson? = nil, on peer: TestServer? = nil) async throws -> PushBackResponse {
        try await (peer ?? server).call(API.evaluatePushBack, PushBackRequest(nagID: nag), as: person ?? home.guardian)
    }
}

/// An AI operation, with one request for it.
enum MediatedCall: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case summarizeExcuse, selectTone, coaching, patterns, digest, predictCompletion, pushBack, askCoach

    var testDescription: String { rawValue }
    var isAboutANag: Bool { ![.patterns, .digest, .askCoach].contains(self) }
    /// The kind of the audit entry.
    var kind: String { "ai.\(operation)" }
    /// The name of the operation in the audit entry and in the feed's event.
    var operation: String {
        switch self {
        case .summarizeExcuse: "summarize_excuse"
        case .selectTone: "select_tone"
        case .predictCompletion: "predict_completion"
        case .pushBack: "push_back"
        case .askCoach: "ask_coach"
        case .coaching, .patterns, .digest: rawValue
        }
    }

    /// Returns whether the specification lets a person ask about the scene's nag and its recipient. The role matrix is
    /// not used.
    func isOpen(to person: TestPerson, _ scene: AIScene) -> Bool {
        if person.familyID != scene.home.id || person == scene.home.removed { return false }
        switch self {
        case .digest, .askCoach: return true
        case .pushBack: return person.role == .guardian
        case .summarizeExcuse, .selectTone, .coaching, .patterns, .predictCompletion:
            return person.role == .guardian || person == scene.home.child
        }
    }

    @discardableResult
    func send(
        _ scene: AIScene, as person: TestPerson?, about nag: NagID? = nil, in family: FamilyID? = nil,
        on peer: TestServer? = nil
    ) async throws -> Reply {
        let server = peer ?? scene.server
        let nag = nag ?? scene.nag
        let family = family ?? scene.home.id
        func post(_ path: String, _ more: JSONObject = [:]) async throws -> Reply {
            var body = more
            body["nag_id"] = .string(nag.description)
            return try await server.call("POST", "/api/v1/ai/\(path)", as: person, body: .object(body))
        }
        func get(_ path: String) async throws -> Reply {
            try await server.call("GET", "/api/v1/ai/\(path)", as: person)
        }
        switch self {
        case .summarizeExcuse:
            return try await post("summarize-excuse", ["text": "the Zanzibar bus was busy, I forgot"])
        case .selectTone: return try await post("select-tone")
        case .coaching: return try await post("coaching")
        case .pushBack: return try await post("push-back")
        case .patterns: return try await get("patterns?user_id=\(scene.home.child.id)&family_id=\(family)")
        case .askCoach:
            return try await server.call(
                "POST", "/api/v1/ai/ask", as: person,
                body: ["family_id": .string(family.description), "text": "What is due, Zanzibar?"])
        case .digest: return try await get("digest?family_id=\(family)")
        case .predictCompletion: return try await get("predict-completion?nag_id=\(nag)")
        }
    }
}
