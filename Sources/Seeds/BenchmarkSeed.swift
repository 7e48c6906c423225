import Audit
import Domain
import DomainSQL
import Foundation
import Postgres
import SQL
import Server

/// The data of deploy/bench: families of four (two guardians, two children) with a history of 90 days and about 1,300
/// rows each, as family coordination would produce them. The rows are written in the order of their times.
///
/// The IDs of families, people, sessions and nags are the MD5 of a letter and a number (family `f7`, person `u28`, nag
/// `n1750`), so that load scripts can compute them.
public enum BenchmarkSeed {
    /// The number of families that `nagz seed bench` creates by default.
    public static let standardFamilyCount = 1_000
    /// The maximum number of guardians in `targets.txt`.
    private static let maxTargets = 2_000

    /// Fills an empty, migrated database, and writes the files for load scripts into `folder`: `targets.txt` (a line
    /// for each of at most 2,000 guardians: access token, family and ten of its nags), `since.txt` (a time since
    /// which about ten rows of each family have changed), the pgbench scripts `w2.pgb`, `w3.pgb` and `w4.pgb`, and
    /// `pgoptions.txt` with the settings of their sessions.
    /// - Parameter families: the number of families.
    /// - Throws: `SeedFault.notEmpty` if the database has families.
    public static func run(
        databaseURL: String, tokens: Tokens, auditKeyring: AuditKeyring, families: Int, folder: String,
        progress: @escaping @Sendable (String) -> Void
    ) async throws {
        let now = SystemClock().now()
        let since = (now - .hours(16)).flooredToSecond
        let nowSQL = "timestamptz '\(now.rfc3339)'"
        let runSteps = { @Sendable (steps: [(title: String, sql: String)]) in
            try await Schema.withDatabase(databaseURL) { database in
                for step in steps {
                    progress(step.title)
                    try await database.transaction { try await $0.run(script: step.sql) }
                }
            }
        }
        try await requireNoFamilies(databaseURL)
        try await runSteps([("families and people", familiesAndPeopleSQL(families, nowSQL))])
        try await withThrowingTaskGroup { group in
            for part in parts(families) {
                group.addTask { try await runSteps(historySteps(of: part, nowSQL)) }
            }
            try await group.waitForAll()
        }
        try await runSteps([("totals, sessions and clocks", totalsAndSessionsSQL(families, nowSQL, since))])
        let (lines, scripts) = try await Schema.withDatabase(databaseURL) { database in
            progress("keys")
            try await storeSubjectKeys(auditKeyring, database)
            let scripts = try StatementScripts(
                tokens: tokens, database: database, now: now, since: since, families: families)
            return (try await targetLines(database, tokens, families, now), scripts.files)
        }
        for script in scripts {
            try script.content.write(toFile: "\(folder)/\(script.name)", atomically: true, encoding: .utf8)
        }
        try lines.joined(separator: "\n").appending("\n").write(
            toFile: "\(folder)/targets.txt", atomically: true, encoding: .utf8)
        try since.rfc3339.write(toFile: "\(folder)/since.txt", atomically: true, encoding: .utf8)
    }

    private static func requireNoFamilies(_ databaseURL: String) async throws {
        try await Schema.withDatabase(databaseURL) { database in
            guard try await database.query("SELECT count(*) AS n FROM families").onlyRow()["n"] == 0 else {
                throw SeedFault.notEmpty
            }
        }
    }

    private static func targetLines(
        _ database: Database, _ tokens: Tokens, _ families: Int, _ now: Timestamp
    ) async throws -> [String] {
        let rows = try await database.query(
            """
            SELECT m.user_id, m.family_id, md5('s' || u)::uuid AS session_id,
                   (SELECT string_agg(md5('n' || (f * 250 + (u * 37 + k * 23) % 250))::uuid::text, ',')
                    FROM generate_series(0, 9) k) AS nags
            FROM generate_series(0, \(families * 4 - 1)) u CROSS JOIN LATERAL (SELECT u / 4 AS f) x
            JOIN memberships m ON m.user_id = md5('u' || u)::uuid
            WHERE m.role = 'guardian' ORDER BY m.user_id LIMIT \(maxTargets)
            """)
        return try rows.map { row in
            let claims = Tokens.Claims(user: try row["user_id"], session: try row["session_id"])
            let family: FamilyID = try row["family_id"]
            let nags: String = try row["nags"]
            return "\(tokens.accessToken(claims, at: now)) \(family) \(nags)"
        }
    }

    /// Stores a sealing key for each person. In real use people's acts store them.
    private static func storeSubjectKeys(_ keys: AuditKeyring, _ database: Database) async throws {
        guard let master = keys.masterKeys.first else { return }
        let random = SystemRandomness()
        let people: [Pseudonym] = try await database.query("SELECT pseudonym FROM users").map { row in
            try row["pseudonym"]
        }
        let wrapped = people.map { person in
            master.wrap(SubjectKey(id: person, secret: random.bytes(32)), nonce: random.bytes(24))
        }
        _ = try await database.query(
            """
            INSERT INTO audit_subject_key (id, master, wrapped)
            SELECT id, \(master.id), wrapped
            FROM unnest(\(SQLList(people)), \(SQLList(wrapped))) AS k (id, wrapped)
            """)
    }

    /// Families whose history one session writes.
    private struct Part {
        let number: Int
        let families: Range<Int>

        /// The statement that makes random numbers repeatable, with a different sequence for each part.
        var randomSeedSQL: String { "SELECT setseed(0.42 + \(number) / 10.0);" }
        /// The name of the table with the random choices for the part's nags.
        var choicesTable: String { "seed_nag_\(number)" }

        /// Returns the SQL that generates the numbers of the part's rows, of which each family has `count`.
        func rowNumbersSQL(_ count: Int) -> String {
            "generate_series(\(families.lowerBound * count), \(families.upperBound * count - 1))"
        }
    }

    /// Divides the families into two halves, which are written at the same time by two sessions.
    private static func parts(_ families: Int) -> [Part] {
        [Part(number: 1, families: 0..<families / 2), Part(number: 2, families: families / 2..<families)]
    }

    private static func historySteps(of part: Part, _ nowSQL: String) -> [(title: String, sql: String)] {
        [
            ("nags, part \(part.number)", nagsSQL(part, nowSQL)),
            ("events, part \(part.number)", eventsSQL(part, nowSQL)),
            ("mediation and points, part \(part.number)", mediationAndPointsSQL(part, nowSQL)),
        ]
    }

    private static func familiesAndPeopleSQL(_ families: Int, _ now: String) -> String {
        """
        SELECT setseed(0.42);
        INSERT INTO families (id, name, invite_code, child_code, created_at)
            SELECT md5('f' || f)::uuid, 'Family ' || f, 'INVITE' || f, 'C' || lpad(f::text, 6, '0'), \(now) - interval '95 days'
            FROM generate_series(0, \(families - 1)) f;
        INSERT INTO family_clock (family_id) SELECT id FROM families;
        INSERT INTO users (id, email, display_name, status, pseudonym, created_at)
            SELECT md5('u' || u)::uuid, 'person' || u || '@example.org', 'Person ' || u, 'active', md5('p' || u)::uuid,
                   \(now) - interval '95 days'
            FROM generate_series(0, \(families * 4 - 1)) u;
        INSERT INTO memberships (family_id, user_id, role, status, joined_at)
            SELECT md5('f' || u / 4)::uuid, md5('u' || u)::uuid, CASE WHEN u % 4 < 2 THEN 'guardian' ELSE 'child' END,
                   'active', \(now) - interval '95 days'
            FROM generate_series(0, \(families * 4 - 1)) u;
        INSERT INTO relationships (family_id, id, party_a, party_b, status)
            SELECT a.family_id, gen_random_uuid(), a.user_id, b.user_id, 'active'
            FROM memberships a JOIN memberships b ON b.family_id = a.family_id AND a.user_id < b.user_id;
        INSERT INTO policies (family_id, id, owners, is_default, created_at)
            SELECT family_id, gen_random_uuid(), array_agg(user_id), true, \(now) - interval '95 days'
            FROM memberships WHERE role = 'guardian' GROUP BY family_id;
        INSERT INTO consents (id, user_id, family_id, consent_type, granted_at)
            SELECT md5('c' || m.user_id || t)::uuid, m.user_id, m.family_id, t, \(now) - interval '95 days'
            FROM memberships m, unnest(ARRAY['ai_mediation', 'gamification_participation', 'child_account_creation']) t
            WHERE m.role = 'guardian';
        INSERT INTO preferences (family_id, user_id, prefs, updated_at)
            SELECT family_id, user_id, '{"ai_server_enabled": true, "gamification_enabled": true, "theme": "auto"}',
                   \(now) - interval '95 days'
            FROM memberships;
        """
    }

    private static func nagsSQL(_ part: Part, _ now: String) -> String {
        """
        \(part.randomSeedSQL)
        CREATE UNLOGGED TABLE \(part.choicesTable) AS
            SELECT n, n / 250 AS f, n / 250 * 4 + (random() * 1.999)::int % 2 AS creator,
                   n / 250 * 4 + floor(random() * 4)::int AS recipient, \(now) - interval '90 days' * random() AS made,
                   random() AS fate
            FROM \(part.rowNumbersSQL(250)) n;
        INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, description, status,
                          created_at, completed_at, closed_at, cycle_started_at, completion_note, sync_seq, sync_ts)
            SELECT md5('f' || f)::uuid, md5('n' || n)::uuid, md5('u' || creator)::uuid, md5('u' || recipient)::uuid,
                   made + interval '1 day', (ARRAY['chores', 'homework', 'meds', 'appointments', 'other'])[1 + n % 5],
                   (ARRAY['ack_only', 'binary_check', 'binary_with_note'])[1 + n % 3],
                   'Please remember to ' || (ARRAY['take out the bins before the truck comes',
                       'finish the maths worksheet and put it in the bag', 'take the allergy pill after breakfast',
                       'be ready for the dentist at four', 'put the bike back into the garage'])[1 + n % 5],
                   CASE WHEN fate < 0.7 THEN 'completed' WHEN fate < 0.85 THEN 'missed' ELSE 'open' END, made,
                   CASE WHEN fate < 0.7 THEN least(\(now), made + interval '20 hours' * fate) END,
                   CASE WHEN fate < 0.85 THEN least(\(now), made + interval '20 hours' * fate) END, made,
                   CASE WHEN fate < 0.7 THEN 'done' END, 0, least(\(now), made + interval '20 hours' * fate)
            FROM \(part.choicesTable) ORDER BY made;
        """
    }

    /// Returns the statements for 2.8 events a nag on average: its creation, its outcome and a reminder. The last one
    /// drops the table of random choices.
    private static func eventsSQL(_ part: Part, _ now: String) -> String {
        """
        INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, creator_id, recipient_id, at, payload, source,
                                sync_seq, sync_ts)
            SELECT md5('f' || f)::uuid, md5('e' || n || '-' || k)::uuid, md5('n' || n)::uuid, event,
                   CASE WHEN event IN ('nag_missed', 'reminder_sent') THEN '\(SystemActor.scheduler)'::uuid
                        ELSE md5('u' || CASE WHEN event = 'nag_created' THEN creator ELSE recipient END)::uuid END,
                   md5('u' || creator)::uuid, md5('u' || recipient)::uuid, least(\(now), at), '{"channel": "app", "strategy": "friendly_reminder"}',
                   CASE WHEN event IN ('nag_missed', 'reminder_sent') THEN 'system' ELSE 'text' END, 0, least(\(now), at)
            FROM (SELECT n, f, creator, recipient, 1 AS k, 'nag_created' AS event, made AS at FROM \(part.choicesTable)
                  UNION ALL SELECT n, f, creator, recipient, 2,
                      CASE WHEN fate < 0.7 THEN 'nag_completed' ELSE 'nag_missed' END, made + interval '20 hours' * fate
                      FROM \(part.choicesTable) WHERE fate < 0.85
                  UNION ALL SELECT n, f, creator, recipient, 3, 'reminder_sent', made + interval '6 hours'
                      FROM \(part.choicesTable) WHERE n % 20 <> 0) e
            ORDER BY at;
        DROP TABLE \(part.choicesTable);
        """
    }

    private static func mediationAndPointsSQL(_ part: Part, _ now: String) -> String {
        """
        \(part.randomSeedSQL)
        INSERT INTO ai_mediation_events (family_id, id, nag_id, prompt_type, tone, summary, actor_id, at, sync_seq, sync_ts)
            SELECT md5('f' || i / 150)::uuid, md5('a' || i)::uuid,
                   md5('n' || i / 150 * 250 + floor(random() * 250)::int)::uuid, 'select_tone',
                   (ARRAY['neutral', 'firm', 'supportive'])[1 + i % 3], 'Tone chosen from recent history of the recipient',
                   md5('u' || i / 150 * 4)::uuid, at, 0, at
            FROM (SELECT i, \(now) - interval '90 days' * random() AS at FROM \(part.rowNumbersSQL(150)) i) x
            ORDER BY at;
        INSERT INTO gamification_events (family_id, id, user_id, event_type, delta_points, streak_delta, at, sync_seq, sync_ts)
            SELECT md5('f' || i / 250)::uuid, md5('g' || i)::uuid, md5('u' || i / 250 * 4 + floor(random() * 4)::int)::uuid,
                   CASE WHEN r < 0.8 THEN 'nag_completed' ELSE 'nag_missed' END, CASE WHEN r < 0.8 THEN 10 ELSE 0 END,
                   CASE WHEN r < 0.8 THEN 1 ELSE -3 END, at, 0, at
            FROM (SELECT i, random() AS r, \(now) - interval '90 days' * random() AS at
                  FROM \(part.rowNumbersSQL(250)) i) x
            ORDER BY at;
        """
    }

    private static func totalsAndSessionsSQL(_ families: Int, _ now: String, _ since: Timestamp) -> String {
        """
        INSERT INTO member_totals (family_id, user_id, points, streak, events, completions)
            SELECT family_id, user_id, sum(delta_points), greatest(0, sum(streak_delta)), count(*),
                   count(*) FILTER (WHERE event_type = 'nag_completed')
            FROM gamification_events GROUP BY family_id, user_id;
        UPDATE family_clock SET ts = \(now) WHERE family_id IN (SELECT id FROM families);
        INSERT INTO sessions (id, user_id, created_at, expires_at)
            SELECT md5('s' || u)::uuid, md5('u' || u)::uuid, \(now), \(now) + interval '60 days'
            FROM generate_series(0, \(families * 4 - 1)) u;
        INSERT INTO sync_grants (session_id, family_id, places)
            SELECT md5('s' || u)::uuid, md5('f' || u / 4)::uuid,
                   ARRAY[floor(extract(epoch FROM c.ts))::bigint * 8 + visibility, \(since.seconds)::bigint * 8 + visibility]
            FROM (SELECT u, CASE WHEN u % 4 < 2 THEN 7 ELSE 6 END AS visibility
                  FROM generate_series(0, \(families * 4 - 1)) u) p
            JOIN family_clock c ON c.family_id = md5('f' || u / 4)::uuid;
        """
    }
}
