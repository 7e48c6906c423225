import Audit
import Testing

@testable import ServerTestKit

/// Something changed in the database by hand, and what has to be named for it.
struct Tampering: Sendable, CustomTestStringConvertible {
    let name: String
    let subject: StateFinding.Subject
    let problem: StateFinding.Problem
    let statements: [String]

    init(
        _ name: String, _ subject: StateFinding.Subject, _ problem: StateFinding.Problem, _ statements: String...
    ) {
        self.name = name
        self.subject = subject
        self.problem = problem
        self.statements = statements
    }

    var testDescription: String { name }

    private static let disarm = "SET session_replication_role = replica"
    private static let entry = "at, kind, actor, subject, resource, trace, request, commit, prev, hash"

    static let all: [Tampering] = [
        // Consents
        Tampering(
            "a consent granted", .consent, .noEntry,
            """
            INSERT INTO consents (id, user_id, family_id, consent_type, granted_at)
            SELECT gen_random_uuid(), user_id, family_id, 'ai_mediation', now() FROM memberships WHERE role = 'participant'
            """),
        Tampering(
            "a consent revoked", .consent, .differs,
            "UPDATE consents SET revoked_at = granted_at WHERE consent_type = 'ai_mediation'"),
        Tampering(
            "a consent deleted", .consent, .noRow, "DELETE FROM consents WHERE consent_type = 'ai_mediation'"),
        Tampering(
            "a consent given another giver", .consent, .differs,
            """
            UPDATE consents SET user_id = (SELECT user_id FROM memberships WHERE role = 'participant')
            WHERE consent_type = 'ai_mediation'
            """),
        Tampering(
            "a personal consent granted", .consent, .noEntry,
            """
            INSERT INTO consents (id, user_id, consent_type, granted_at)
            SELECT gen_random_uuid(), user_id, 'sms_opt_in', now() FROM memberships WHERE role = 'participant'
            """),
        Tampering(
            "a personal consent revoked", .consent, .differs,
            "UPDATE consents SET revoked_at = granted_at WHERE consent_type = 'sms_opt_in'"),
        // Memberships, roles, relationships, policies
        Tampering(
            "a role raised", .membership, .differs,
            "UPDATE memberships SET role = 'guardian' WHERE role = 'participant'"),
        Tampering(
            "a membership added", .membership, .noEntry,
            """
            INSERT INTO memberships (family_id, user_id, role, status, joined_at)
            SELECT f.id, u.id, 'guardian', 'active', now() FROM families f, users u WHERE u.email = 'stan@example.org'
            """),
        Tampering(
            "a membership ended", .membership, .differs,
            "UPDATE memberships SET status = 'removed', removed_at = now() WHERE role = 'participant'"),
        Tampering(
            "a membership deleted", .membership, .noRow, disarm, "DELETE FROM memberships WHERE role = 'participant'"),
        Tampering(
            "a suspension lifted", .relationship, .differs,
            "UPDATE relationships SET status = 'active' WHERE status = 'suspended'"),
        Tampering("a relationship deleted", .relationship, .noRow, "DELETE FROM relationships"),
        Tampering("a policy changed", .policy, .differs, "UPDATE policies SET daily_cap = 1"),
        Tampering(
            "a policy handed over", .policy, .differs,
            "UPDATE policies SET owners = ARRAY[(SELECT user_id FROM memberships WHERE role = 'participant')]"),
        Tampering(
            "a policy given a second owner", .policy, .differs,
            """
            UPDATE policies SET owners = owners || (SELECT user_id FROM memberships WHERE role = 'participant')
            """),
        Tampering(
            "a policy's owner named twice", .policy, .differs, "UPDATE policies SET owners = owners || owners[1]"),
        Tampering(
            "a policy's other names changed", .policy, .differs, "UPDATE policies SET constraints = '{\"a\": 1}'"),
        Tampering(
            "a block on widening a policy set", .policy, .differs, "UPDATE policies SET awaits_co_owner = true"),
        Tampering("a policy's version changed", .policy, .differs, "UPDATE policies SET version = version + 1"),
        Tampering(
            "a change of a policy proposed", .policy, .differs,
            """
            UPDATE policies SET proposal_id = gen_random_uuid(), proposed_by = owners[1], proposed_at = now(),
                proposed_owners = owners, proposed_constraints = '{}'
            """),
        Tampering("a policy deleted", .policy, .noRow, disarm, "DELETE FROM policies"),
        // Nags and points
        Tampering(
            "a nag's status changed", .nag, .differs,
            "UPDATE nags SET status = 'withdrawn', closed_at = now() WHERE status = 'open'"),
        Tampering("a nag's due time moved", .nag, .differs, "UPDATE nags SET due_at = due_at + interval '1 hour'"),
        Tampering(
            "a nag given to somebody else", .nag, .differs,
            """
            UPDATE nags SET recipient_id = (SELECT user_id FROM memberships WHERE role = 'participant')
            WHERE status = 'missed'
            """),
        Tampering(
            "a nag added", .nag, .noEntry,
            """
            INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, status,
                              created_at, cycle_started_at, sync_seq, sync_ts)
            SELECT family_id, gen_random_uuid(), creator_id, recipient_id, due_at, category, done_definition, 'open',
                   created_at, cycle_started_at, sync_seq, sync_ts FROM nags WHERE status = 'open' LIMIT 1
            """),
        Tampering("a nag deleted", .nag, .noRow, "DELETE FROM nags WHERE status = 'withdrawn'"),
        Tampering("points added to the sums", .totals, .differs, "UPDATE member_totals SET points = points + 100"),
        Tampering("sums deleted", .totals, .noRow, disarm, "DELETE FROM member_totals"),
        Tampering(
            "points changed with their sums", .points, .differs,
            "UPDATE gamification_events SET delta_points = delta_points + 100 WHERE event_type = 'nag_completed'",
            """
            UPDATE member_totals t SET points = (SELECT sum(delta_points) FROM gamification_events g
                                                 WHERE g.user_id = t.user_id)
            """),
        Tampering(
            "points added with their sums", .points, .noEntry,
            """
            INSERT INTO gamification_events (family_id, id, user_id, event_type, delta_points, streak_delta, at, sync_seq,
                                             sync_ts)
            SELECT family_id, gen_random_uuid(), user_id, 'bonus', 100, 0, now(), 1, now() FROM memberships
            WHERE role = 'participant'
            """,
            """
            UPDATE member_totals t SET points = points + 100, events = events + 1 FROM memberships m
            WHERE m.user_id = t.user_id AND m.role = 'participant'
            """),
        Tampering(
            "a missed nag's score made a completion's", .points, .differs,
            "UPDATE gamification_events SET event_type = 'nag_completed' WHERE event_type = 'nag_missed'",
            """
            UPDATE member_totals t SET completions = (SELECT count(*) FROM gamification_events g
                                                      WHERE g.user_id = t.user_id AND g.event_type = 'nag_completed')
            """),
        Tampering("points deleted", .points, .noRow, "DELETE FROM gamification_events WHERE event_type = 'nag_missed'"),
        Tampering(
            "a badge added", .badge, .noEntry,
            """
            INSERT INTO badges (family_id, user_id, badge_type, id, earned_at)
            SELECT family_id, user_id, 'century_club', gen_random_uuid(), now() FROM memberships WHERE role = 'child'
            """),
        Tampering("a badge taken", .badge, .noRow, "DELETE FROM badges"),
        // Incentives
        Tampering(
            "an incentive rule changed", .incentiveRule, .differs,
            "UPDATE incentive_rules SET action = action || '{\"amount\": 1000}' WHERE status = 'active'"),
        Tampering(
            "a retired incentive rule made active", .incentiveRule, .differs,
            "UPDATE incentive_rules SET status = 'active' WHERE status = 'retired'"),
        Tampering(
            "an incentive rule added", .incentiveRule, .noEntry,
            """
            INSERT INTO incentive_rules (family_id, id, version, condition, action, approval_mode, status, created_at,
                                         created_by)
            SELECT family_id, gen_random_uuid(), 1, condition, action, 'auto', 'active', created_at, created_by
            FROM incentive_rules LIMIT 1
            """),
        Tampering(
            "an incentive promised", .incentive, .noEntry,
            """
            INSERT INTO incentive_events (family_id, id, nag_id, rule_id, rule_version, user_id, action_type, at)
            SELECT n.family_id, gen_random_uuid(), n.id, r.id, r.version, n.recipient_id, 'bonus_points', now()
            FROM nags n JOIN incentive_rules r ON r.family_id = n.family_id
            WHERE n.status = 'open' AND r.version = 1 LIMIT 1
            """),
        Tampering(
            "an incentive given", .incentive, .differs,
            "UPDATE incentive_events SET applied_at = now() WHERE applied_at IS NULL"),
        Tampering(
            "an incentive's points changed with their sums", .points, .differs,
            "UPDATE gamification_events SET delta_points = delta_points + 1 WHERE event_type = 'bonus_points'",
            """
            UPDATE member_totals t SET points = (SELECT sum(delta_points) FROM gamification_events g
                                                 WHERE g.user_id = t.user_id)
            """),
        Tampering(
            "a score written twice with its sums", .points, .noEntry,
            """
            INSERT INTO gamification_events (family_id, id, user_id, event_type, delta_points, streak_delta, nag_id, at,
                                             sync_seq, sync_ts)
            SELECT family_id, gen_random_uuid(), user_id, 'again', delta_points, 0, nag_id, at, sync_seq, sync_ts
            FROM gamification_events WHERE event_type = 'nag_completed' AND delta_points = 4
            """,
            """
            UPDATE member_totals t SET points = points + 4, events = events + 1
            WHERE EXISTS (SELECT FROM gamification_events g WHERE g.user_id = t.user_id AND g.event_type = 'again')
            """),
        // People
        Tampering(
            "an administrator inserted", .administrator, .noEntry,
            "INSERT INTO admins (user_id, created_at) SELECT id, now() FROM users WHERE email = 'stan@example.org'"),
        Tampering(
            "an administrator restored", .administrator, .differs, "UPDATE admins SET revoked_at = NULL"),
        Tampering(
            "an administrator deleted", .administrator, .noRow, "DELETE FROM admins WHERE revoked_at IS NOT NULL"),
        Tampering(
            "an account inserted", .account, .noEntry,
            """
            INSERT INTO users (id, status, pseudonym, created_at)
            VALUES (gen_random_uuid(), 'active', gen_random_uuid(), now())
            """),
        Tampering(
            "an account deleted by hand", .account, .differs,
            "UPDATE users SET status = 'deleted' WHERE email = 'stan@example.org'"),
        Tampering(
            "a deleted account brought back", .account, .differs,
            "UPDATE users SET status = 'active', deleted_at = NULL WHERE status = 'deleted'"),
        Tampering(
            "stand-ins of two members swapped", .account, .differs,
            """
            CREATE TABLE kept AS SELECT u.id, u.pseudonym FROM users u JOIN memberships m ON m.user_id = u.id
                WHERE m.role IN ('guardian', 'participant')
            """,
            "UPDATE users SET pseudonym = gen_random_uuid() WHERE id IN (SELECT id FROM kept)",
            """
            UPDATE users u SET pseudonym = o.pseudonym FROM kept k, kept o WHERE u.id = k.id AND o.id <> k.id
            """),
        Tampering(
            "the way from a stand-in to a person cut", .account, .differs,
            "UPDATE users SET status = 'deleted', pseudonym = NULL WHERE email = 'stan@example.org'"),
        // The log
        Tampering(
            "a clock deleted", .clock, .noRow, disarm,
            "DELETE FROM family_clock WHERE family_id IN (SELECT id FROM families)"),
        Tampering(
            "a clock set back", .clock, .differs,
            "UPDATE family_clock SET seq = seq - 1 WHERE family_id IN (SELECT id FROM families)"),
        Tampering(
            "an entry numbered 0", .entry, .broken, "ALTER TABLE audit_entry DROP CONSTRAINT audit_entry_number",
            "INSERT INTO audit_entry (family_id, n, \(entry)) SELECT family_id, 0, \(entry) FROM audit_entry WHERE n = 1"
        ),
        Tampering(
            "an entry of an unknown family", .clock, .noRow,
            """
            INSERT INTO audit_entry (family_id, n, at, kind, actor, trace, request, commit, prev, hash)
            SELECT family, 1, '2026-01-01', 'x', family, family, family, sha256('x'), sha256(''),
                   sha256('\\x01'::bytea || sha256('') || uuid_send(family) || int8send(1)
                       || timestamptz_send('2026-01-01') || '\\x00000001'::bytea || 'x'::bytea
                       || '\\x00000010'::bytea || uuid_send(family) || '\\xffffffff'::bytea || '\\xffffffff'::bytea
                       || '\\x00000010'::bytea || uuid_send(family) || '\\x00000010'::bytea || uuid_send(family)
                       || '\\x00000020'::bytea || sha256('x'))
            FROM (SELECT '00000000-0000-dead-0000-000000000001'::uuid AS family) one
            """),
        Tampering(
            "an entry changed", .entry, .broken, "ALTER TABLE audit_entry DISABLE TRIGGER append_only",
            "UPDATE audit_entry SET kind = 'x' WHERE n = 3"),
        Tampering(
            "a leaf changed", .entry, .broken, "ALTER TABLE audit_leaf DISABLE TRIGGER append_only",
            "UPDATE audit_leaf SET hash = sha256('x') WHERE position = 3"),
        Tampering(
            "a leaf taken from the middle", .entry, .broken, "ALTER TABLE audit_leaf DISABLE TRIGGER append_only",
            "DELETE FROM audit_leaf WHERE n = 2 AND family_id IN (SELECT id FROM families)"),
        Tampering(
            "a leaf without an entry", .entry, .broken,
            """
            INSERT INTO audit_leaf (position, family_id, n, hash)
            SELECT (SELECT max(position) + 1 FROM audit_leaf), id, 1000, sha256('x') FROM families LIMIT 1
            """),
        Tampering(
            "a body without an entry", .entry, .broken,
            """
            INSERT INTO audit_payload (family_id, n, salt, body)
            SELECT id, 1000, sha256('x'), '' FROM families LIMIT 1
            """),
        Tampering(
            "an act with another act's body, with hashes that fit", .entry, .broken,
            """
            WITH source AS (
                SELECT e.commit, p.salt, p.body, p.key_id FROM audit_entry e JOIN audit_payload p USING (family_id, n)
                WHERE n = 2 AND family_id = (SELECT id FROM families ORDER BY id LIMIT 1)
            ), ledger_stamp AS (
                UPDATE family_clock c SET seq = seq + 1, ts = ts + interval '1 second', prev_head = head,
                    head = sha256('\\x01'::bytea || c.head || uuid_send(c.family_id) || int8send(c.seq + 1)
                        || timestamptz_send(ts + interval '1 second') || '\\x00000001'::bytea || 'x'::bytea
                        || '\\x00000010'::bytea || uuid_send(family_id) || '\\xffffffff'::bytea || '\\xffffffff'::bytea
                        || '\\x00000010'::bytea || uuid_send(family_id) || '\\x00000010'::bytea || uuid_send(family_id)
                        || '\\x00000020'::bytea || (SELECT commit FROM source))
                WHERE family_id = (SELECT id FROM families ORDER BY id LIMIT 1) RETURNING *
            ), entry AS (
                INSERT INTO audit_entry (family_id, n, at, kind, actor, trace, request, commit, prev, hash)
                SELECT family_id, seq, ts, 'x', family_id, family_id, family_id, (SELECT commit FROM source),
                       prev_head, head FROM ledger_stamp
            )
            INSERT INTO audit_payload (family_id, n, salt, body, key_id)
            SELECT family_id, seq, salt, source.body, key_id FROM ledger_stamp, source
            """),
        Tampering(
            "a body erased without its record", .entry, .broken, disarm, "DELETE FROM audit_payload WHERE n = 2"),
        Tampering(
            "an act that nobody did, with hashes that fit", .entry, .broken,
            """
            WITH ledger_stamp AS (
                UPDATE family_clock c SET seq = seq + 1, ts = ts + interval '1 second', prev_head = head,
                    head = sha256('\\x01'::bytea || c.head || uuid_send(c.family_id) || int8send(c.seq + 1)
                        || timestamptz_send(ts + interval '1 second') || '\\x00000001'::bytea || 'x'::bytea
                        || '\\x00000010'::bytea || uuid_send(family_id) || '\\xffffffff'::bytea || '\\xffffffff'::bytea
                        || '\\x00000010'::bytea || uuid_send(family_id) || '\\x00000010'::bytea || uuid_send(family_id)
                        || '\\x00000020'::bytea || sha256('\\x02'::bytea || sha256('salt')))
                WHERE family_id IN (SELECT id FROM families) RETURNING *
            ), entry AS (
                INSERT INTO audit_entry (family_id, n, at, kind, actor, trace, request, commit, prev, hash)
                SELECT family_id, seq, ts, 'x', family_id, family_id, family_id, sha256('\\x02'::bytea || sha256('salt')),
                       prev_head, head FROM ledger_stamp
            )
            INSERT INTO audit_payload (family_id, n, salt, body) SELECT family_id, seq, sha256('salt'), '' FROM ledger_stamp
            """),
        // Its guards
        Tampering(
            "a trigger's function replaced", .schema, .noEntry,
            """
            CREATE OR REPLACE FUNCTION audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN RETURN NEW; END $$
            """),
        Tampering("a trigger off", .schema, .noRow, "ALTER TABLE audit_entry DISABLE TRIGGER append_only"),
        Tampering("a trigger dropped", .schema, .noRow, "DROP TRIGGER only_pruned ON audit_entry"),
        Tampering(
            "a grant added", .schema, .noEntry, "GRANT DELETE ON audit_entry TO nagz_server"),
        Tampering("a column's grant added", .schema, .noEntry, "GRANT UPDATE (kind) ON audit_entry TO nagz_server"),
        Tampering("another owner", .schema, .noEntry, "ALTER TABLE audit_entry OWNER TO nagz_server"),
        Tampering(
            "a function's other owner", .schema, .noEntry,
            "ALTER FUNCTION audit_is_append_only() OWNER TO nagz_server"),
        Tampering("foreign keys off", .schema, .noEntry, "ALTER TABLE excuses DISABLE TRIGGER ALL"),
        Tampering(
            "an event trigger", .schema, .noEntry, "CREATE SCHEMA elsewhere",
            """
            CREATE FUNCTION elsewhere.nothing() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN END $$
            """,
            "CREATE EVENT TRIGGER nothing ON ddl_command_end EXECUTE FUNCTION elsewhere.nothing()"),
        Tampering(
            "triggers off in sessions to come", .schema, .noEntry,
            """
            DO $$ BEGIN
                EXECUTE format('ALTER DATABASE %I SET session_replication_role = replica', current_database());
            END $$
            """),
        Tampering(
            "a rule added", .schema, .noEntry, "CREATE RULE quiet AS ON INSERT TO audit_payload DO INSTEAD NOTHING"),
        Tampering("a policy dropped", .schema, .noRow, "DROP POLICY has_clock ON audit_entry"),
        Tampering(
            "a table in front of another", .schema, .noEntry, "CREATE SCHEMA nagz_server",
            "CREATE TABLE nagz_server.consents (LIKE public.consents)"),
        Tampering("row security off", .schema, .noRow, "ALTER TABLE audit_entry DISABLE ROW LEVEL SECURITY"),
        Tampering(
            "a constraint dropped", .schema, .noRow, "ALTER TABLE audit_leaf DROP CONSTRAINT audit_leaf_family_id_n_key"
        ),
    ]
}
