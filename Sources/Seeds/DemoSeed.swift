import Audit
import Contract
import Domain
import DomainSQL
import Postgres
import SQL
import Server

/// The demo family: people of every role with ninety days behind them, so that every answer has something to say.
///
/// The history is lived, not written: each sign-up, nag, completion, miss, excuse and refusal goes through the feature
/// that serves it to clients, at its own moment of those days. So stamps, points, streaks and the audit log are what
/// they would be, and the audit log ends by saying that it was a demo's. What happens is the same in every
/// installation; ids and secrets are not.
///
/// All of it is one transaction. If the process dies before the commit, nothing is left and the next run begins anew.
/// The sign-ins are told just before the commit: a demo that exists was told, and one that was told and does not exist
/// is good for nothing.
public enum DemoSeed {
    static let days = 90

    /// - Parameters:
    ///   - databaseURL: of the schema's owner.
    ///   - auditKeyring: seal what the audit log records of the people; nil leaves it open.
    ///   - clock: its present is where the history ends.
    ///   - skipsUsed: does nothing, instead of throwing, when the database is in use.
    ///   - progress: told what is being done.
    ///   - announce: given how to sign in.
    /// - Throws: `SeedFault.notEmpty` when anything has ever been written to the database.
    public static func run(
        databaseURL: String, auditKeyring: AuditKeyring? = nil, clock: any WallClock = SystemClock(),
        cost: PasswordHashing.Cost = .interactive,
        skipsUsed: Bool, progress: @escaping @Sendable (String) -> Void,
        announce: @escaping @Sendable ([DemoSignIn]) -> Void
    ) async throws {
        let end = clock.now()
        let story = StoryClock(end - .days(Int64(days)))
        try await FeatureTransaction.run(databaseURL: databaseURL, auditKeyring: auditKeyring, clock: story, cost: cost)
        {
            services in
            guard try await isUnused(services.database) else {
                if skipsUsed { return }
                throw SeedFault.notEmpty
            }
            let stage = DemoStage(services, story, until: end)
            try await play(stage, progress)
            announce(stage.people.members.map { DemoSignIn($0, childCode: stage.childCode) })
        }
    }

    /// Whether no family was ever founded and no account opened or tried. An act outside families would also have set a
    /// clock that cannot go back.
    private static func isUnused(_ database: Database) async throws -> Bool {
        try await database.query(
            """
            SELECT NOT EXISTS (SELECT 1 FROM families) AND seq = 0 AS is_unused
            FROM family_clock WHERE family_id = \(FamilyID.outside)
            """
        ).one()["is_unused"]
    }

    private static func play(_ stage: DemoStage, _ progress: (String) -> Void) async throws {
        DemoHistory.plan(on: stage)
        DemoRecentDays.plan(on: stage)
        stage.at(stage.end) { now in
            for person in stage.people.members { try await stage.signOut(person, at: now) }
            try await stage.services.endDemoDeliveries(in: stage.family)
            // Whoever reads the audit log learns that these days were a demo's.
            try await stage.services.recordDemo(days: days, in: stage.family, stage.context(now))
        }
        var told = -1
        try await stage.play { moment in
            let day = days - Int((stage.end - moment).microseconds / Timestamp.Span.days(1).microseconds)
            guard day / 15 > told else { return }
            told = day / 15
            progress("day \(day) of \(days)")
        }
    }
}

/// The sign-in of one of the demo family's people: one line of text.
public struct DemoSignIn: Sendable, CustomStringConvertible {
    public let name: String
    public let role: FamilyRole
    public let email: String?
    /// The password, or the PIN of who has no email.
    public let secret: String
    public let familyCode: String
    public let username: String

    init(_ person: DemoPerson, childCode: String) {
        name = person.name
        role = person.role
        email = person.email
        secret = person.secret
        familyCode = childCode
        username = DemoHousehold.childName
    }

    public var description: String {
        let who = "\(name), \(role.rawValue):"
        let padding = String(repeating: " ", count: max(1, 21 - who.count))
        guard let email else { return "\(who)\(padding)family code \(familyCode)  name \(username)  PIN \(secret)" }
        return "\(who)\(padding)\(email)  password \(secret)"
    }
}
