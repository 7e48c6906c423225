import Audit
import Contract
import Domain
import Postgres
import Reactor
import SQL

@testable import Server

extension TestServer {
    /// Writes acts through the server's own ledger, for tests that need a history without calls of other features.
    /// - Parameter statements: the statements of each act, as in `Act.statements`.
    func write(
        _ kinds: [AuditKind], by actor: TestPerson, about subject: TestPerson? = nil, resource: ResourceID? = nil,
        statements: [SQL] = [],
        in family: FamilyID
    ) async throws {
        let context = CallContext(
            now: clock.now(), trace: random.identifier(at: clock.now()), request: random.identifier(at: clock.now()),
            idempotency: nil, ifMatch: nil)
        let random = random
        try await database.run { database in
            let sealing = Sealing(TestServer.auditKeyring, random: random)
            let ledger = Ledger(database: database, random: random, sealing: sealing)
            for kind in kinds {
                let act = Act(
                    kind: kind, basis: .nothing, actor: actor.pseudonym, subject: subject?.pseudonym,
                    resource: resource,
                    details: ["who": actor.name], stampedRows: statements.isEmpty ? 0 : 1, statements: statements)
                let _: NoAnswer = try await ledger.write(context, in: family) { _ in .perform(act, NoAnswer()) }
            }
        }
    }

    /// Adds audit entries of the mediator, without other rows.
    func addEntries(_ count: Int, in family: FamilyID) async throws {
        let (clock, random) = (clock, random)
        try await database.run { database in
            let ledger = Ledger(database: database, random: random)
            for _ in 0..<count {
                let act = Act(kind: .aiSelectTone, basis: .nothing, actor: SystemActor.mediator, stampedRows: 0)
                _ = try await database.query(ledger.statement(act, in: family, .ofTest(at: clock.now(), random)))
            }
        }
    }

    /// Inserts an open nag with its event, through the ledger. By default it is due in two hours.
    func nag(from creator: TestPerson, to recipient: TestPerson, in family: FamilyID, due: Timestamp? = nil)
        async throws
        -> NagID
    {
        let now = clock.now()
        let id: NagID = random.identifier(at: now)
        let event: EventID = random.identifier(at: now)
        try await write(
            [.nagCreated], by: creator, about: recipient, resource: id.retyped(),
            statements: [
                """
                INSERT INTO nags (family_id, id, creator_id, recipient_id, due_at, category, done_definition, status,
                                  created_at, cycle_started_at, sync_seq, sync_ts)
                SELECT family_id, \(id), \(creator.id), \(recipient.id), \(due ?? now + .hours(2)), 'chores', 'ack_only',
                       'open', \(now), \(now), seq, ts FROM ledger_stamp
                """,
                """
                INSERT INTO nag_events (family_id, id, nag_id, event_type, actor_id, recipient_id, at, sync_seq, sync_ts)
                SELECT family_id, \(event), \(id), 'nag_created', \(creator.id), \(recipient.id), \(now), seq, ts FROM ledger_stamp
                """,
            ],
            in: family)
        return id
    }
}
