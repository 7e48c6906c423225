import Audit
import Contract
import Domain
import Postgres
import SQL

@testable import Server

extension TestServer {
    /// Commits one act with a test's statements through the ledger, with its number, its time and its audit entry.
    func commit(
        _ statements: [SQL], in family: FamilyID, stampedRows: Int = 1, changesRights: Bool = false,
        at now: Timestamp? = nil
    ) async throws {
        let context = CallContext.ofTest(at: now ?? clock.now(), random)
        let (random, act) = (random, Act.ofTest(statements, stampedRows: stampedRows, changesRights: changesRights))
        try await database.run { database in
            let _: StatusAnswer = try await Ledger(database: database, random: random).write(context, in: family) { _ in
                .perform(act, StatusAnswer(status: "ok"))
            }
        }
    }
}

extension Act {
    /// Returns an act of the mediator. By default nothing must hold when it is committed.
    static func ofTest(
        _ statements: [SQL], kind: AuditKind = .aiSelectTone, basis: Basis = .nothing, stampedRows: Int = 1,
        changesRights: Bool = false
    ) -> Act {
        Act(
            kind: kind, basis: basis, actor: SystemActor.mediator, changesRights: changesRights,
            stampedRows: stampedRows,
            statements: statements)
    }
}

extension CallContext {
    /// Returns the context of a request that no person sent.
    static func ofTest(at now: Timestamp, _ random: any Randomness, key: IdempotencyKey? = nil) -> CallContext {
        CallContext(
            now: now, trace: random.identifier(at: now), request: random.identifier(at: now), idempotency: key,
            ifMatch: nil)
    }
}

/// The statements for rows of the feed, which tests commit in acts.
enum FeedRows {
    static func nag(
        _ id: NagID, from creator: TestPerson, to recipient: TestPerson, description: String? = nil, at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, description, status,
                          created_at, cycle_started_at, sync_seq, sync_ts)
        SELECT family_id, \(id), \(creator.id), \(recipient.id), \(now + .hours(24)), 'chores', 'ack_only', \(description),
               'open', \(now), \(now), seq, ts FROM ledger_stamp
        """
    }

    static func nags(
        _ count: Int, from creator: TestPerson, to recipient: TestPerson, description: String? = nil, at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, description, status,
                          created_at, cycle_started_at, sync_seq, sync_ts)
        SELECT family_id, gen_random_uuid(), \(creator.id), \(recipient.id), \(now + .hours(24)), 'meds', 'binary_check',
               \(description), 'open', \(now), \(now), seq, ts FROM ledger_stamp, generate_series(1, \(count))
        """
    }

    static func close(_ nag: NagID, as status: NagStatus, at now: Timestamp) -> SQL {
        """
        UPDATE nags SET status = \(status), closed_at = \(now), completed_at = \(status == .completed ? now : nil),
            sync_seq = ledger_stamp.seq, sync_ts = ledger_stamp.ts
        FROM ledger_stamp WHERE nags.family_id = ledger_stamp.family_id AND id = \(nag)
        """
    }

    static func events(
        _ count: Int = 1, of nag: NagID, from creator: TestPerson? = nil, for recipient: TestPerson,
        by actor: TestPerson,
        type: String = "reminder_sent", at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, creator_id, recipient_id, at, payload, source,
                                sync_seq, sync_ts)
        SELECT family_id, gen_random_uuid(), \(nag), \(type), \(actor.id), \(creator?.id), \(recipient.id), \(now),
               '{"channel": "app", "quote": "\\"é\\" 👍"}', 'system', seq, ts
        FROM ledger_stamp, generate_series(1, \(count))
        """
    }

    static func mediations(
        _ count: Int = 1, about nag: NagID = NagID(high: 0, low: 0), by actor: TestPerson, at now: Timestamp
    ) -> SQL {
        """
        INSERT INTO ai_mediation_events (family_id, id, nag_id, prompt_type, tone, summary, actor_id, at, sync_seq, sync_ts)
        SELECT family_id, gen_random_uuid(), \(nag), 'select_tone', 'neutral', 'A test', \(actor.id), \(now), seq, ts
        FROM ledger_stamp, generate_series(1, \(count))
        """
    }

    /// Returns the statements for events with points, and for their sum.
    static func points(_ count: Int = 1, for person: TestPerson, at now: Timestamp) -> [SQL] {
        [
            """
            INSERT INTO gamification_events
                (family_id, id, user_id, event_type, delta_points, streak_delta, at, sync_seq, sync_ts)
            SELECT family_id, gen_random_uuid(), \(person.id), 'bonus', 5, 0, \(now), seq, ts
            FROM ledger_stamp, generate_series(1, \(count))
            """,
            """
            UPDATE member_totals SET points = points + 5 * \(count), events = events + \(count)
            FROM ledger_stamp WHERE member_totals.family_id = ledger_stamp.family_id AND user_id = \(person.id)
            """,
        ]
    }
}
