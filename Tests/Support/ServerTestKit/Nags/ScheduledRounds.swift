import Contract
import Domain
import JSON
import NagzAI
import Postgres
import Reactor
import SQL
import Testing

@testable import Server

/// A scheduler with its own sessions, like that of another server. A test runs its rounds.
final class ScheduledRounds: Sendable {
    private let database: TestDatabase
    private let scheduler: LoopBound<Scheduler>
    private let nags: LoopBound<Nags>
    let status = SchedulerStatus()

    init(
        _ server: TestServer, plan: EscalationPlan, clock: any WallClock, log: Log,
        reach: @escaping @Sendable (Scheduler.Point) throws -> Void
    ) async throws {
        let (random, tokens, status) = (server.random, server.tokens, status)
        database = try await TestDatabase(url: TestLogin.server.url(server.database.url), sessions: 4)
        let made = try await database.run { database in
            let services = try Services(
                standalone: database, clock: clock, random: random, tokens: tokens,
                hashing: PasswordHashing(
                    try BlockingPool(name: "test", threads: 0, queueLimitPerLane: 0), cost: .testing),
                auditKeyring: TestServer.auditKeyring,
                escalationPlan: plan)
            let scheduler = Scheduler(services, status: status, log: log, reach: reach)
            return (LoopBound(value: scheduler), LoopBound(value: Nags(services, Gamification(services))))
        }
        (scheduler, nags) = made
    }

    /// Runs one round, and returns whether more was due than the round took.
    @discardableResult
    func runRound() async throws -> Bool {
        let scheduler = scheduler
        return try await database.run { _ in try await scheduler.value.runRound() }
    }

    /// Runs rounds until nothing is due.
    func run() async throws {
        while try await runRound() {}
    }

    /// Tries once to escalate a nag, without a round and its lock.
    func escalate(_ nag: NagID, in family: FamilyID, _ now: Timestamp) async throws -> EscalationResult {
        let nags = nags
        return try await database.run { _ in try await nags.value.escalate(nag, in: family, at: now) }
    }

    func close() async { await database.close() }
}

/// A step of escalation, by the nag's events. `name` is the phase, or `missed`.
struct TakenStep: Hashable, Sendable {
    let nag: NagID
    let name: String
}

extension TestServer {
    /// Runs `body` with a scheduler beside this server.
    func withScheduler<Value>(
        plan: EscalationPlan = .standard, log: Log = Log(.off),
        reach: @escaping @Sendable (Scheduler.Point) throws -> Void = { _ in },
        _ body: (ScheduledRounds) async throws -> Value
    ) async throws -> Value {
        let rounds = try await ScheduledRounds(self, plan: plan, clock: clock, log: log, reach: reach)
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await body(rounds)) } catch { outcome = .failure(error) }
        await rounds.close()
        return try outcome.get()
    }

    /// Returns the steps of escalation of all nags, in the order of the feed.
    func steps() async throws -> [TakenStep] {
        try await database.rows(
            """
            SELECT nag_id, coalesce(payload->>'phase', 'missed') AS name FROM nag_events
            WHERE event_type IN ('nag_escalated', 'nag_missed') ORDER BY sync_ts, id
            """
        ) { TakenStep(nag: try $0["nag_id"], name: try $0["name"]) }
    }

    /// Returns the numbers of the phases of one nag's steps; `missed` for the last one.
    func steps(of nag: NagID) async throws -> [String] {
        try await steps().filter { $0.nag == nag }.map { step in
            EscalationPhase(rawValue: step.name).map { "\($0.number)" } ?? step.name
        }
    }

    /// Returns the deliveries about the phases of a nag in the order of their events, each as `Cleo 3 push pending`.
    func escalationDeliveries(of nag: NagID) async throws -> [String] {
        try await database.rows(
            """
            SELECT u.display_name || ' ' || substr(e.payload->>'phase', 7, 1) || ' ' || d.channel || ' ' || d.status AS told
            FROM deliveries d JOIN users u ON u.id = d.user_id
            JOIN nag_events e ON e.family_id = d.family_id AND e.id = d.nag_event_id AND e.nag_id = d.nag_id
            WHERE d.nag_id = \(nag) ORDER BY e.sync_ts
            """
        ) { try $0["told"] }
    }

    /// Returns the time at which the scheduler will read a nag next.
    func nextStepAt(at nag: NagID) async throws -> Timestamp {
        let moments: [Timestamp] = try await database.rows("SELECT next_step_at FROM nags WHERE id = \(nag)") {
            try $0["next_step_at"]
        }
        return try #require(moments.first)
    }

    func phase(of nag: NagID, as person: TestPerson) async throws -> Int {
        try await call(API.getEscalation, NagPath(nagID: nag), as: person).currentPhase.number
    }

    func prefer(_ wishes: JSONObject, as person: TestPerson) async throws {
        guard let family = person.familyID else { return }
        let reply = try await call(
            "PATCH", "/api/v1/preferences?family_id=\(family)", as: person, body: ["prefs_json": .object(wishes)])
        #expect(reply.status == 200, "\(reply.text)")
    }

    func setQuietHours(of child: TestPerson, _ start: JSONValue, _ end: JSONValue, as guardian: TestPerson) async throws
    {
        guard let family = child.familyID else { return }
        let reply = try await call(
            "PATCH", "/api/v1/families/\(family)/children/\(child.id)/settings", as: guardian,
            body: ["quiet_hours_start": start, "quiet_hours_end": end])
        #expect(reply.status == 200, "\(reply.text)")
    }
}
