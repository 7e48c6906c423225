import Contract
import Domain
import Postgres
import SQL
import SeededNumbers
import Testing

@testable import Server
@testable import ServerTestKit

/// Those who write, and those who make trouble.
struct LoadClients: Sendable {
    let scene: LossScene
    let servers: [TestServer]
    let seed: Int
    let acts: Int
    let flaw: LossHarness.Flaw?

    private var home: Household { scene.home }
    private var record: LossRecord { scene.record }

    /// Returns when all have done their acts.
    func work() async throws {
        try await withThrowingTaskGroup { group in
            for number in 0..<2 { group.addTask { await useEndpoints(generator(10 + number), part: number) } }
            for number in 0..<3 { group.addTask { try await writeSQL(generator(20 + number)) } }
            group.addTask { try await burst(generator(30)) }
            group.addTask { try await takeConsentAway() }
            for (number, server) in servers.enumerated() {
                group.addTask { try await jump(server.clock, generator(40 + number)) }
            }
            group.addTask { try await killSessions(generator(50)) }
            try await group.waitForAll()
        }
    }

    private func generator(_ part: Int) -> SeededNumbers { SeededNumbers(seed: UInt64(seed * 100 + part)) }

    // MARK: Writers

    /// Real endpoints: new nags, completions, due times moved, tones, push-backs, withdrawals.
    private func useEndpoints(_ generator: SeededNumbers, part: Int) async {
        var generator = generator
        for number in 0..<acts {
            let server = servers.randomElement(using: &generator) ?? servers[0]
            let nag = scene.nags[(number * 2 + part) % scene.nags.count]
            let recipient = scene.recipient(ofNagAt: (number * 2 + part) % scene.nags.count)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0:
                let order = NagCreate(
                    familyID: home.id, recipientID: home.child.id, dueAt: server.clock.now() + .hours(30),
                    category: .meds,
                    doneDefinition: .acknowledgeOnly)
                _ = await record.attempt { _ = try await server.call(API.createNag, order, as: home.guardian) }
            case 1, 2:
                let isDone = await record.attempt {
                    _ = try await server.call(
                        API.updateNagStatus, NagPath(nagID: nag), NagStatusUpdate(status: .completed), as: recipient)
                }
                if isDone { record.note { $0.completed.insert(nag) } }
            case 3:
                let change = NagUpdate(dueAt: server.clock.now() + .hours(Int64.random(in: 2...90, using: &generator)))
                _ = await record.attempt {
                    _ = try await server.call(API.updateNag, NagPath(nagID: nag), change, as: home.guardian)
                }
            case 4:
                _ = await record.attempt {
                    _ = try await server.call(API.selectTone, ToneSelectRequest(nagID: nag), as: home.guardian)
                }
            default:
                _ = await record.attempt {
                    _ = try await server.call(API.withdrawNag, NagPath(nagID: nag), as: home.guardian)
                }
            }
        }
    }

    /// The ledger's own statement in a transaction that sleeps with the family's row in its hands, and then commits, rolls
    /// back, or is cut off.
    private func writeSQL(_ generator: SeededNumbers) async throws {
        var generator = generator
        var session = try await TestDatabase(url: servers[0].database.url)
        for _ in 0..<acts {
            let server = servers.randomElement(using: &generator) ?? servers[0]
            let event: EventID = server.random.identifier(at: server.clock.now())
            let nag = scene.nags.randomElement(using: &generator) ?? scene.nags[0]
            let fate = Int.random(in: 0..<6, using: &generator)
            let pause = Double.random(in: 0...0.02, using: &generator)
            let (now, random, home, flaw) = (server.clock.now(), server.random, home, flaw)
            if fate < 2 { record.note { $0.abandoned.insert(event) } }
            let isDone = await record.attempt {
                try await session.run { database in
                    try await database.transaction { transaction in
                        if flaw == .stampedBeforeTheLock {
                            _ = try await transaction.query("SELECT pg_sleep(\(pause * 5))")
                            _ = try await transaction.query(LossRows.misstamped(event, of: nag, home, at: now))
                        } else {
                            let ledger = Ledger(database: database, random: random)
                            let act = Act.ofTest([LossRows.event(event, of: nag, home, at: now)])
                            let rows = try await transaction.query(
                                ledger.statement(act, in: home.id, .ofTest(at: now, random)))
                            guard !rows.isEmpty else { throw Abandoned() }
                        }
                        _ = try await transaction.query("SELECT pg_sleep(\(pause))")
                        if fate == 0 { throw Abandoned() }
                        // The session goes away under the transaction, as when a process dies.
                        if fate == 1 { database.close() }
                    }
                }
            }
            if isDone { record.note { $0.promised.insert(event) } }
            if fate == 1 {
                await session.close()
                session = try await TestDatabase(url: servers[0].database.url)
            }
        }
        await session.close()
    }

    /// 2,000 events in a moment, and a pause.
    private func burst(_ generator: SeededNumbers) async throws {
        var generator = generator
        let session = try await TestDatabase(url: servers[0].database.url)
        for round in 0..<8 {
            let server = servers[0]
            let now = server.clock.now()
            let count = Int.random(in: 200...400, using: &generator)
            let index = Int.random(in: 0..<scene.nags.count, using: &generator)
            let (nag, recipient) = (scene.nags[index], scene.recipient(ofNagAt: index))
            let (home, random) = (home, server.random)
            _ = await record.attempt {
                try await session.run { database in
                    let _: StatusAnswer = try await Ledger(database: database, random: random).write(
                        .ofTest(at: now, random), in: home.id
                    ) { _ in
                        .perform(
                            .ofTest(
                                [FeedRows.events(count, of: nag, for: recipient, by: home.guardian, at: now)],
                                stampedRows: count), StatusAnswer(status: "ok"))
                    }
                }
            }
            if round == 5 { try await Task.sleep(for: .milliseconds(50)) }
        }
        await session.close()
    }

    // MARK: Trouble

    /// Revokes and grants, and between the two looks from every server whether anything is still shown.
    private func takeConsentAway() async throws {
        for _ in 0..<max(2, acts / 6) {
            let server = servers[0]
            let consents: [ConsentID] = try await server.database.rows(
                "SELECT id FROM consents WHERE consent_type = 'ai_mediation' AND revoked_at IS NULL"
            ) { try $0["id"] }
            guard let consent = consents.first else { break }
            let isRevoked = await record.attempt {
                _ = try await server.call(
                    API.updateConsent, ConsentPath(consentID: consent), ConsentUpdate(isRevoked: true),
                    as: home.guardian)
            }
            if isRevoked {
                for peer in servers {
                    let answer = try? await peer.page(SyncQuery(familyID: home.id), as: home.secondGuardian)
                    if answer?.aiMediationEvents.isEmpty == false {
                        record.note { $0.faults.append("mediation was seen without consent") }
                    }
                }
            }
            try await Task.sleep(for: .milliseconds(20))
            while try await !isConsentInForce() {
                _ = await record.attempt {
                    _ = try await server.call(
                        API.grantConsent, ConsentCreate(familyID: home.id, type: .aiMediation), as: home.guardian)
                }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func isConsentInForce() async throws -> Bool {
        let count: [Int] = try await servers[0].database.rows(
            "SELECT count(*)::bigint AS n FROM consents WHERE consent_type = 'ai_mediation' AND revoked_at IS NULL"
        ) { try $0["n"] }
        return count != [0]
    }

    /// A clock that runs forwards and backwards by seconds.
    private func jump(_ clock: ManualClock, _ generator: SeededNumbers) async throws {
        var generator = generator
        for _ in 0..<acts * 3 {
            clock.advance(by: .milliseconds(Int64.random(in: -3_000...3_500, using: &generator)))
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...10, using: &generator)))
        }
    }

    /// Ends sessions of the database, whoever has them.
    private func killSessions(_ generator: SeededNumbers) async throws {
        var generator = generator
        for _ in 0..<max(2, acts / 4) {
            try await Task.sleep(for: .milliseconds(Int.random(in: 10...60, using: &generator)))
            try await servers[0].sql(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client services'
                ORDER BY md5(pid::text || \(Int.random(in: 0..<1_000_000, using: &generator))::text) LIMIT 2
                """)
        }
    }
}

/// A writer that changed its mind.
struct Abandoned: Error {}

/// Rows of the SQL writers.
private enum LossRows {
    /// An event is for its nag's recipient.
    private static func recipient(_ nag: NagID, _ home: Household) -> SQL {
        "coalesce((SELECT n.recipient_id FROM nags n WHERE n.id = \(nag)), \(home.child.id))"
    }

    static func event(_ id: EventID, of nag: NagID, _ home: Household, at now: Timestamp) -> SQL {
        """
        INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, recipient_id, at, source, sync_seq, sync_ts)
        SELECT family_id, \(id), \(nag), 'reminder_sent', \(home.guardian.id), \(recipient(nag, home)), \(now), 'system', seq, ts
        FROM ledger_stamp
        """
    }

    /// The same without the ledger: the time is the writer's own, taken before anything was waited for.
    static func misstamped(_ id: EventID, of nag: NagID, _ home: Household, at now: Timestamp) -> SQL {
        """
        INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, recipient_id, at, source, sync_seq, sync_ts)
        VALUES (\(home.id), \(id), \(nag), 'reminder_sent', \(home.guardian.id), \(recipient(nag, home)), \(now), 'system', 0, \(now))
        """
    }
}
