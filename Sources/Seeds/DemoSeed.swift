import Audit
import Contract
import Domain
import DomainSQL
import Postgres
import SQL
import Server

/// The demo family: people of every role with a history of ninety days, so that every operation has something to
/// return.
///
/// Each sign-up, nag, completion, miss, excuse and refusal goes through the server's feature, with its own time within
/// those days. So sequence numbers, times, points, streaks and the audit log are as in real use. Only the notifications
/// are marked as sent directly. A last entry records that the data is a demo's. The events depend only on the time of
/// the run; IDs and secrets differ in every installation.
///
/// The seed is one transaction. If the process dies before the commit, nothing is left, and the next run starts again.
/// The sign-ins are announced just before the commit, so that no demo exists whose sign-ins were not announced.
public enum DemoSeed {
    static let dayCount = 90

    /// - Parameters:
    ///   - databaseURL: the URL of the database, as the owner of the schema.
    ///   - auditKeyring: the keys that seal the audit log's bodies about people; nil leaves them unsealed.
    ///   - clock: the clock whose present time is the end of the history.
    ///   - skipsNonEmpty: whether to do nothing, instead of throwing, if the database has data.
    ///   - progress: called with a text about the current step.
    ///   - announce: called with the sign-ins.
    /// - Throws: `SeedFault.notEmpty` if the database has data and `skipsNonEmpty` is false, `SeedFault.notRefused` if
    ///   the rules allow an act that the demo expects to be refused.
    public static func run(
        databaseURL: String, auditKeyring: AuditKeyring? = nil, clock: any WallClock = SystemClock(),
        cost: PasswordHashing.Cost = .interactive,
        skipsNonEmpty: Bool, progress: @escaping @Sendable (String) -> Void,
        announce: @escaping @Sendable ([DemoSignIn]) -> Void
    ) async throws {
        let end = clock.now()
        let demoClock = DemoClock(end - .days(Int64(dayCount)))
        try await FeatureTransaction.run(
            databaseURL: databaseURL, auditKeyring: auditKeyring, clock: demoClock, cost: cost
        ) {
            services in
            guard try await isUnused(services.database) else {
                guard skipsNonEmpty else { throw SeedFault.notEmpty }
                return progress(SeedFault.notEmpty.description)
            }
            let stage = DemoStage(services, demoClock, until: end)
            try await runDemo(stage, progress)
            announce(stage.people.finalMembers.map { DemoSignIn($0, childCode: stage.childCode) })
        }
    }

    /// Returns whether the database has no family, and no act outside families, such as a sign-up or a failed sign-in.
    /// After such an act the demo's acts would be too early, because the clock of the ledger never goes back.
    private static func isUnused(_ database: Database) async throws -> Bool {
        try await database.query(
            """
            SELECT NOT EXISTS (SELECT 1 FROM families) AND seq = 0 AS is_unused
            FROM family_clock WHERE family_id = \(FamilyID.outside)
            """
        ).onlyRow()["is_unused"]
    }

    private static func runDemo(_ stage: DemoStage, _ progress: (String) -> Void) async throws {
        DemoHistory.plan(on: stage)
        DemoRecentDays.plan(on: stage)
        stage.schedule(at: stage.end) { now in
            for person in stage.people.finalMembers { try await stage.signOut(person, at: now) }
            try await stage.services.markDemoDeliveriesAsSent(in: stage.family)
            // The entry shows readers of the audit log that these days are a demo's.
            try await stage.services.recordDemo(days: dayCount, in: stage.family, stage.context(now))
        }
        var lastProgressPeriod = -1
        try await stage.runScheduledActs { moment in
            let day = dayCount - Int((stage.end - moment).microseconds / Timestamp.Span.days(1).microseconds)
            guard day / 15 > lastProgressPeriod else { return }
            lastProgressPeriod = day / 15
            progress("day \(day) of \(dayCount)")
        }
    }
}

/// The sign-in of one of the demo family's people: one line of text.
public struct DemoSignIn: Sendable, CustomStringConvertible {
    public let name: String
    public let role: FamilyRole
    public let email: String?
    /// The password, or the PIN of a person without an email address.
    public let secret: String
    public let familyCode: String
    /// The child's username, also in the sign-ins of adults, who do not use it.
    public let childUsername: String

    init(_ person: DemoPerson, childCode: String) {
        name = person.name
        role = person.role
        email = person.email
        secret = person.secret
        familyCode = childCode
        childUsername = DemoHousehold.childUsername
    }

    public var description: String {
        let label = "\(name), \(role.rawValue):"
        let padding = String(repeating: " ", count: max(1, 21 - label.count))
        guard let email else {
            return "\(label)\(padding)family code \(familyCode)  name \(childUsername)  PIN \(secret)"
        }
        return "\(label)\(padding)\(email)  password \(secret)"
    }
}
