import Contract
import Domain
import JSON
import Postgres
import Reactor
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Purging deleted accounts")
struct AccountPurgeTests {
    /// A family whose child and participant have left traces, and whose participant and child are deleted.
    private static func deletedPair(_ server: TestServer) async throws -> Household {
        let family = try await server.family()
        let nag = try await server.nag(from: family.participant, to: family.child, in: family.id)
        try await server.call(
            API.submitExcuse, NagPath(nagID: nag), ExcuseCreate(text: "I forgot it all"), as: family.child)
        for person in [family.guardian, family.participant] {
            let own = try await server.nag(from: family.guardian, to: person)
            _ = try await server.complete(own.id, as: person, note: "Pages of \(person.id)")
        }
        for person in [family.participant, family.guardian] {
            try await server.sql(
                """
                INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, recipient_id, at, payload, sync_seq, sync_ts)
                SELECT \(family.id), gen_random_uuid(), \(nag), 'note_added', \(person.id), \(family.child.id), now(),
                       jsonb_build_object('text', \("Said by \(person.id)")::text, 'length', '44'), seq, ts
                FROM family_clock WHERE family_id = \(family.id)
                """)
        }
        for person in [family.participant, family.child] {
            try await server.call(
                API.updatePreferences, FamilyQuery(familyID: family.id),
                PreferenceUpdate(preferences: ["tone": "firm"]),
                as: person)
        }
        // Answers of the AI to both, and to a guardian, and a push-back, which is also others' history.
        for (person, kind) in [
            (family.participant, "coaching"), (family.child, "ask_coach"), (family.guardian, "coaching"),
            (family.participant, "push_back"),
        ] {
            try await server.sql(
                """
                INSERT INTO ai_mediation_events
                    (family_id, id, nag_id, prompt_type, tone, summary, actor_id, at, sync_seq, sync_ts)
                SELECT \(family.id), gen_random_uuid(), \(nag), \(kind), 'neutral', 'words', \(person.id), now(), seq, ts
                FROM family_clock WHERE family_id = \(family.id)
                """)
        }
        // The participant was an owner of the policy, by whatever way.
        let policy = try await server.policyID(family.id)
        try await server.approve(policy, "Mine", as: family.guardian)
        try await server.sql(
            """
            INSERT INTO policy_approvals (family_id, id, policy_id, approver_id, approved_at, comment)
            VALUES (\(family.id), \(nag), \(policy), \(family.participant.id), \(server.clock.now()), 'Theirs')
            """)
        for person in [family.child, family.participant] {
            let caller = person == family.child ? family.guardian : person
            try await server.call(API.deleteAccount, AccountPath(userID: person.id), as: caller)
        }
        return family
    }

    private static func purge(_ server: TestServer, days: Int = AccountPurge.standardDays) async throws -> Int {
        let (clock, random) = (server.clock, server.random)
        return try await server.database.run { database in
            let sealing = Sealing(TestServer.auditKeyring, random: random)
            let ledger = Ledger(database: database, random: random, sealing: sealing)
            return try await AccountPurge(database: database, ledger: ledger, days: days).run(SystemActor.commandLine) {
                CallContext(systemActAt: clock.now(), random)
            }
        }
    }

    @Test("a purge erases personal data after 28 days, once, with an entry, and keeps what others' history needs")
    func purges() async throws {
        try await TestServer.run { server in
            let family = try await Self.deletedPair(server)
            server.clock.advance(by: .seconds(28 * 86_400 - 1))
            let early = try await server.expectOnly { try await Self.purge(server) }
            server.clock.advance(by: .seconds(1))
            let purged = try await server.expectOnly(audit: ["account.purged", "account.purged"]) {
                try await Self.purge(server)
            }
            let again = try await server.expectOnly { try await Self.purge(server) }
            #expect([early, purged, again] == [0, 2, 0])
            let users = SQLList([family.participant.id, family.child.id])
            let left = try await server.rows(
                """
                SELECT num_nonnulls(email, display_name, password_hash, date_of_birth, phone) AS personal,
                       pseudonym IS NOT NULL AS has_pseudonym, purged_at IS NOT NULL AS is_purged
                FROM users WHERE id = ANY(\(users))
                """)
            #expect(left == Array(repeating: ["personal": 0, "has_pseudonym": true, "is_purged": true], count: 2))
            for table in ["preferences", "child_settings", "known_addresses"] {
                let statement = SQL(unsafeSQL: "SELECT user_id FROM \(table) WHERE user_id IN ")
                let rows = try await server.rows("\(statement) (SELECT unnest(\(users)))")
                #expect(rows.isEmpty, "\(table)")
            }
            let excuses = try await server.rows("SELECT text, summary <> '' AS has_summary FROM excuses")
            #expect(excuses == [["text": .null, "has_summary": true]])
            let answers = try await server.rows(
                "SELECT actor_id, prompt_type FROM ai_mediation_events ORDER BY prompt_type")
            #expect(answers.map { $0["prompt_type"] } == ["coaching", "push_back"])
            let askers = [family.guardian.id, family.participant.id].map { JSONValue.string($0.description) }
            #expect(answers.map { $0["actor_id"] } == askers)
            let notes = try await server.rows("SELECT completion_note FROM nags WHERE completion_note IS NOT NULL")
            #expect(notes == [["completion_note": .string("Pages of \(family.guardian.id)")]])
            let noteTexts = try await server.rows(
                """
                SELECT payload->>'text' AS text, payload->>'length' AS length FROM nag_events
                WHERE event_type = 'note_added'
                """)
            #expect(Set(noteTexts.map { $0["text"] }) == [.null, .string("Said by \(family.guardian.id)")])
            #expect(noteTexts.allSatisfy { $0["length"] == "44" })
            // Nothing else of an event can be changed.
            for change in ["payload = '{}'", "payload = payload || '{\"text\": \"x\"}'"] {
                await #expect(throws: (any Error).self) {
                    try await server.sql(SQL(unsafeSQL: "UPDATE nag_events SET \(change)"))
                }
            }
            let comments = try await server.rows("SELECT comment FROM policy_approvals ORDER BY comment")
            #expect(comments == [["comment": "Mine"], ["comment": .null]])
            #expect(try await server.rows("SELECT user_id FROM memberships WHERE user_id = ANY(\(users))").count == 2)
            let nags = try await server.call(API.listNags, NagListQuery(familyID: family.id), as: family.guardian)
            let ofDeleted = nags.items.filter { $0.creatorID == family.participant.id }
            #expect(nags.total == 3 && ofDeleted.count == 1 && ofDeleted[0].creatorDisplayName == nil)
            let others = try await server.rows(
                "SELECT id FROM users WHERE display_name IS NOT NULL AND id = \(family.guardian.id)")
            #expect(others.count == 1)
            let subjects = try await server.audit(.outside).filter { $0.kind == "account.purged" }.compactMap(\.subject)
            #expect(Set(subjects) == [family.participant.pseudonym, family.child.pseudonym])
        }
    }

    @Test("several purges at once purge each account once")
    func atOnce() async throws {
        try await TestServer.run { server in
            for number in 0..<20 {
                let account = try await server.signUp("pia\(number)@example.org", name: "Pia")
                let reply = try await server.call(
                    "DELETE", "/api/v1/accounts/\(account.user.id)", token: account.accessToken.wireText)
                #expect(reply.status == 200)
            }
            server.clock.advance(by: .days(30))
            let purged = try await together(4) { _ in try await Self.purge(server, days: 30) }
            #expect(purged.reduce(0, +) == 20)
            #expect(try await server.audit(.outside).count { $0.kind == "account.purged" } == 20)
        }
    }

    @Test("a purge whose batch another one has erased meanwhile still erases the rest")
    func contended() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let child = family.child.id
            _ = try await server.nag(from: family.guardian, to: family.child)
            try await server.sql(
                """
                INSERT INTO ai_mediation_events
                    (family_id, id, nag_id, prompt_type, tone, summary, actor_id, at, sync_seq, sync_ts)
                SELECT \(family.id), gen_random_uuid(), gen_random_uuid(), 'coaching', 'neutral', 'words', \(child), now(),
                       seq, ts
                FROM family_clock, generate_series(0, \(AccountPurge.rowsPerBatch)) WHERE family_id = \(family.id)
                """)
            _ = try await server.call(API.deleteAccount, AccountPath(userID: child), as: family.guardian)
            server.clock.advance(by: .days(28))
            let rows = AIStatements.answersToPerson
            let (url, clock) = (server.database.url, server.clock)
            let keys = try #require(TestServer.auditKeyring)
            let purge = try await server.database.run { database in
                try await database.transaction { other in
                    _ = try await other.query(rows.erase(rows.keys(child, AccountPurge.rowsPerBatch)))
                    let purge = Task {
                        try await AccountPurgeCommand.run(
                            databaseURL: url, keys: keys, days: AccountPurge.standardDays,
                            isDryRun: false, clock: clock
                        ) { _, _ in }
                    }
                    try await other.waitUntilBlocking("the purge does not wait for the other one's rows")
                    return purge
                }
            }
            #expect(try await purge.value == 1)
            #expect(try await server.rows("SELECT id FROM ai_mediation_events") == [])
        }
    }

    @Test("the server's own database login may purge accounts")
    func asServer() async throws {
        try await TestServer.run { server in
            _ = try await Self.deletedPair(server)
            server.clock.advance(by: .days(29))
            let (clock, random) = (server.clock, server.random)
            let purged = try await server.database.run { database in
                _ = try await database.query("SET ROLE nagz_server")
                let ledger = Ledger(
                    database: database, random: random, sealing: Sealing(TestServer.auditKeyring, random: random))
                let purge = AccountPurge(database: database, ledger: ledger, days: 28)
                let count = try await purge.run(SystemActor.scheduler.retyped()) {
                    CallContext(systemActAt: clock.now(), random)
                }
                _ = try await Housekeeping.applyRetention(database, at: clock.now())
                _ = try await database.query("RESET ROLE")
                return count
            }
            #expect(purged == 2)
        }
    }

    @Test("the purge command's dry run lists accounts without changes, and without it they are purged")
    func commandLine() async throws {
        try await TestServer.run { server in
            let family = try await Self.deletedPair(server)
            server.clock.advance(by: .days(29))
            let keys = try #require(TestServer.auditKeyring)
            let clock = server.clock
            let url = server.database.url
            @Sendable func run(isDryRun: Bool, days: Int = 28) async throws -> (count: Int, users: Set<UserID>) {
                let seen = Locked(Set<UserID>())
                let count = try await AccountPurgeCommand.run(
                    databaseURL: url, keys: keys, days: days, isDryRun: isDryRun, clock: clock
                ) { user, _ in seen.withLock { _ = $0.insert(user) } }
                return (count, seen.withLock { $0 })
            }
            let due = try await server.expectOnly { try await run(isDryRun: true) }
            #expect(due.count == 2 && due.users == [family.participant.id, family.child.id])
            #expect(try await run(isDryRun: true, days: 30).count == 0)
            let purged = try await server.expectOnly(audit: ["account.purged", "account.purged"]) {
                try await run(isDryRun: false)
            }
            #expect(purged.count == 2)
            #expect(try await run(isDryRun: true).count == 0)
        }
    }
}
