import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Retention")
struct RetentionTests {
    /// Names of the rules that count what is due.
    private static let counted = Retention.rules.filter { $0.countDue != nil }.map(\.name)

    private func due(_ server: TestServer) async throws -> [String: Int] {
        let found = try await server.database.run { database in
            try await Retention.countDueRows(database, at: server.clock.now()).map { ($0.rule.name, $0.rows) }
        }
        return Dictionary(uniqueKeysWithValues: found).filter { $0.value > 0 }
    }

    private func sweep(_ server: TestServer) async throws -> [String: Int] {
        let counters = RetentionCounters()
        _ = try await server.database.run {
            try await Housekeeping.applyRetention($0, counting: counters, at: server.clock.now())
        }
        return Dictionary(uniqueKeysWithValues: counters.rows.map { ($0.name, $0.rows) }).filter {
            $0.value > 0 && Self.counted.contains($0.key)
        }
    }

    /// A family with a row of every kind, made at the present time.
    private func live(_ server: TestServer) async throws -> LivedFamily {
        let family = try await LivedFamily(server)
        try await family.liveWithNags()
        try await family.liveWithIncentives()
        let nag = try await family.nag(to: family.child)
        _ = try await server.call(
            API.submitExcuse, NagPath(nagID: nag), ExcuseCreate(text: "the bus"), as: family.child)
        try await server.approve(try await server.policyID(family.id), "Fine", as: family.guardian)
        let now = server.clock.now()
        try await server.sql("UPDATE sessions SET expires_at = \(now + .days(3_650))")
        try await server.sql("UPDATE nags SET completion_note = 'done' WHERE status = 'completed'")
        try await server.sql(
            """
            INSERT INTO deliveries (family_id, id, nag_id, nag_event_id, user_id, channel, status, created_at)
            VALUES (\(family.id), gen_random_uuid(), \(nag), gen_random_uuid(), \(family.child.id), 'push', 'sent', \(now))
            """)
        for status in ["open", "resolved", "dismissed"] {
            try await server.sql(
                """
                INSERT INTO abuse_reports (id, reporter_id, target_id, reason, status, created_at, updated_at)
                VALUES (gen_random_uuid(), \(family.child.id), \(family.participant.id), 'rude', \(status), \(now), \(now))
                """)
        }
        try await server.sql(
            """
            INSERT INTO enrichments (family_id, event_id, kind, body, source, made_at)
            SELECT family_id, event_id, 'summary', '{}', 'system', \(now) FROM inputs
            WHERE event_id IS NOT NULL LIMIT 1
            """)
        try await server.sql(
            """
            INSERT INTO ai_mediation_events (family_id, id, nag_id, prompt_type, tone, summary, actor_id, at, sync_seq,
                                             sync_ts)
            SELECT family_id, gen_random_uuid(), \(nag), 'coaching', 'neutral', 'x', \(family.child.id), at, n, at
            FROM audit_entry WHERE family_id = \(family.id) ORDER BY n LIMIT 1
            """)
        let closed = try await server.rows("SELECT id FROM nags WHERE status <> 'open' LIMIT 1")
        let id = try #require(closed.first?["id"]?.stringValue)
        _ = try await server.insertAttachment(of: family.guardian, for: NagID(wireText: id), in: family.id)
        try await server.sql("UPDATE nags SET has_attachments = true WHERE id = \(try NagID(wireText: id))")
        try await server.upload(as: family.guardian)
        return family
    }

    /// The rules that end a part of a table's rows or columns, and the table.
    private static let partial = [
        "nag_words": "nags", "approval_comments": "policy_approvals", "unused_attachments": "attachments",
    ]
    /// The tables without a rule, and what ends their rows.
    private static let ruleless = [
        "refresh_tokens": "their session", "ai_session_turns": "their session", "nag_attachments": "their attachment",
        "live_sockets": "the socket, or its server",
        "users": "purged after the account's deletion", "devices": "signing out", "admins": "nagz admin",
        "ai_keys": "their person", "blocks": "kept for safety", "connections": "kept as their audit entries are",
        "families": "kept with the audit log", "family_clock": "its family", "memberships": "its family",
        "relationships": "its family", "child_credentials": "the child's account", "child_settings": "the purge",
        "consents": "kept as proof", "preferences": "the purge", "policies": "their family",
        "sync_grants": "their session", "resolved_nags": "counts without words", "ai_constraints": "who set them",
        "member_totals": "sums, one a member", "badges": "one of a kind for a member", "incentive_rules": "guardians",
        "report_snapshots": "nothing writes it", "scheduler_plan": "one row", "schema_migrations": "one a migration",
        "audit_entry": "nagz audit prune", "audit_payload": "nagz audit prune", "audit_leaf": "kept as proof",
        "audit_node": "kept as proof", "audit_checkpoint": "kept as proof", "audit_key": "kept as proof",
        "audit_findings": "kept as proof", "audit_pass": "one row", "audit_prune": "kept as proof",
        "audit_subject_key": "erasure",
    ]

    @Test("every table has a retention rule of its own name, or is listed with what ends its rows")
    func tables() async throws {
        let rules = Retention.rules.map(\.name)
        #expect(Set(rules).count == rules.count)
        let ruled = Set(rules.map { Self.partial[$0] ?? $0 })
        try await TestServer.run { server in
            let rows = try await server.rows(
                "SELECT relname::text AS name FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
            )
            let tables = Set(rows.compactMap { $0["name"]?.stringValue })
            #expect(tables.subtracting(ruled).subtracting(Self.ruleless.keys) == [], "neither a rule nor a reason")
            #expect(ruled.subtracting(tables) == [], "a rule without a table")
            #expect(Set(Self.ruleless.keys).subtracting(tables.subtracting(rules)) == [], "a reason for nothing")
        }
    }

    @Test("nothing is due a day before its time; what is due is counted and deleted in batches, once")
    func rounds() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            _ = try await live(server)
            let start = server.clock.now()
            #expect(try await due(server) == [:])
            server.clock.set(to: start + Retention.year - .days(1))
            #expect(try await due(server) == ["unused_attachments": 1])
            #expect(try await sweep(server) == ["unused_attachments": 1])
            server.clock.set(to: start + Retention.year + .days(1))
            #expect(try await due(server) == ["deliveries": 1])
            #expect(try await sweep(server) == ["deliveries": 1])
            server.clock.set(to: start + Retention.twoYears + .days(1))
            let twoYears = try await due(server)
            #expect(
                Set(twoYears.keys)
                    == Set(Self.counted).subtracting(["deliveries", "abuse_reports", "unused_attachments", "inputs"])
                    .union(
                        twoYears["inputs"] == nil ? [] : ["inputs"]), "\(twoYears)")
            let inputs = try await server.rows("SELECT id FROM inputs").count
            var swept = try await sweep(server)
            // An input that something was found out about goes with it.
            #expect(swept["inputs"] == inputs && inputs > twoYears["inputs"] ?? 0)
            swept["inputs"] = twoYears["inputs"]
            #expect(swept == twoYears)
            #expect(try await due(server) == [:])
            #expect(try await sweep(server) == [:])
            for table in [
                "nag_events", "gamification_events", "incentive_events", "ai_mediation_events", "excuses", "inputs",
                "enrichments",
            ] {
                let rows = try await server.rows("SELECT * FROM \(SQL(unsafeSQL: table))")
                #expect(rows.isEmpty, "\(table)")
            }
            let words = try await server.rows(
                "SELECT id FROM nags WHERE status <> 'open' AND (description IS NOT NULL OR completion_note IS NOT NULL)"
            )
            #expect(words.isEmpty)
            #expect(try await server.rows("SELECT id FROM policy_approvals WHERE comment IS NULL").count == 1)
            server.clock.set(to: start + Retention.threeYears + .days(1))
            #expect(try await due(server) == ["abuse_reports": 2])
            #expect(try await sweep(server) == ["abuse_reports": 2])
            #expect(try await server.rows("SELECT status FROM abuse_reports") == [["status": "open"]])
        }
    }

    @Test(
        "each batch of retention uses an index in the order of age, over empty tables and full ones",
        arguments: [0, 20_000])
    func plans(rows: Int) async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await server.family()
            let (now, child) = (server.clock.now(), family.child.id)
            try await server.sql(
                """
                INSERT INTO gamification_events
                    (family_id, id, user_id, event_type, delta_points, streak_delta, at, sync_seq, sync_ts)
                SELECT \(family.id), gen_random_uuid(), \(child), 'adjusted', 1, 0, at, i, at
                FROM (SELECT i, \(now) + i * interval '1 minute' AS at FROM generate_series(1, \(rows)) i) i
                """)
            try await server.sql("VACUUM ANALYZE")
            let plans = try await server.database.run { database in
                try await database.transaction { transaction in
                    let planned = PlannedQueries(transaction)
                    for rule in Retention.rules { _ = try await planned.query(rule.clearDue(10, now + .days(1))) }
                    return planned.plans
                }
            }
            #expect(plans.count == Retention.rules.count)
            for (rule, plan) in zip(Retention.rules, plans) {
                #expect(!plan.text.contains("Seq Scan on"), "\(rule.name): \(plan.text)")
                guard rule.countDue != nil else { continue }
                let index = /Index (Only )?Scan using ([a-z_]+_by_age|nags_with_words|closed_abuse_reports)/
                #expect(plan.text.contains(index), "\(rule.name): \(plan.text)")
                #expect(plan.pages < 1_000, "\(rule.name): \(plan.pages) pages, \(plan.text)")
            }
        }
    }

    @Test("after retention sums stay true and the audit log explains them; points deleted early are named")
    func sums() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await live(server)
            func totals() async throws -> [GamificationSummary] {
                var found: [GamificationSummary] = []
                for person in [family.child, family.participant] {
                    found.append(
                        try await server.call(API.getGamificationSummary, FamilyQuery(familyID: family.id), as: person))
                }
                return found
            }
            let before = try await totals()
            #expect(before[0].totalPoints > 0)
            let start = server.clock.now()
            server.clock.set(to: start + .days(600))
            #expect(try await sweep(server)["gamification_events"] == nil)
            let report = try await server.reconcile()
            #expect(report.findings.filter { $0.subject == .points || $0.subject == .totals } == [])

            // Deleted like retention does, but too early.
            try await server.database.run { database in
                let rule = GamificationStatements.retention
                _ = try await database.query(rule.clearDue(1, start))
            }
            let early = try await server.reconcile(family.id)
            #expect(early.findings.contains { $0.subject == .points && $0.problem == .noRow })
            server.clock.set(to: start + Retention.twoYears + .days(2))
            #expect(try await sweep(server)["gamification_events"] ?? 0 > 3)
            #expect(try await totals() == before)
            let later = try await server.reconcile(family.id)
            let points: Set<StateFinding.Subject> = [.points, .totals, .incentive]
            #expect(later.findings.filter { points.contains($0.subject) } == [] && later.gaps[.pruned] ?? 0 > 0)

            // New points add to what was dropped.
            let nag = try await family.nag(to: family.child)
            _ = try await server.complete(nag, as: family.child)
            #expect(try await totals()[0].totalPoints == before[0].totalPoints + 10)
            #expect(try await totals()[0].currentStreak == before[0].currentStreak + 1)
            let newest = try await server.reconcile(family.id)
            #expect(newest.findings.filter { points.contains($0.subject) } == [])
            try await server.sql("UPDATE member_totals SET points = points + 5, dropped_points = dropped_points + 5")
            let forged = try await server.reconcile(family.id)
            #expect(forged.findings.contains { $0.subject == .totals && $0.field == "dropped_points" })
        }
    }

    @Test("two instances that run retention at once delete each row once")
    func atOnce() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            _ = try await live(server)
            let events = try await server.rows("SELECT id FROM gamification_events").count
            server.clock.advance(by: .days(2 * 366 + 2))
            let ended = try await together(4) { _ in try await self.sweep(server)["gamification_events"] ?? 0 }
            #expect(ended.reduce(0, +) == events)
            let dropped = try await server.rows("SELECT sum(dropped_events)::integer AS events FROM member_totals")
            #expect(dropped == [["events": .integer(Int64(events))]])
        }
    }

    @Test("the dry run of retention counts and deletes nothing; without it due rows are gone and metrics count them")
    func command() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            _ = try await live(server)
            server.clock.advance(by: .days(2 * 366 + 2))
            let before = try await server.digests()
            let lines = try await RetentionCommand.run(
                databaseURL: server.database.url, isDryRun: true, clock: server.clock)
            #expect(lines.map(\.name) == Self.counted && lines.contains { $0.dueRows > 0 })
            #expect(lines.first { $0.name == "abuse_reports" }?.days == 1_098)
            #expect(try await server.digests() == before)
            _ = try await RetentionCommand.run(databaseURL: server.database.url, isDryRun: false, clock: server.clock)
            let after = try await RetentionCommand.run(
                databaseURL: server.database.url, isDryRun: true, clock: server.clock)
            #expect(after.allSatisfy { $0.dueRows == 0 })
            #expect(try await server.metrics().text.contains(#"nagz_retention_rows_total{data="nag_events"} 0"#))
        }
    }
}
