import Audit
import Contract
import Domain
import JSON
import NagzAI
import Postgres
import Reactor
import SQL
import Testing

@testable import Server

/// A family whose whole history was made through the API and the command line, so that the audit log records all of it.
struct LivedFamily: Sendable {
    let server: TestServer
    let id: FamilyID
    let guardian: TestPerson
    let participant: TestPerson
    let child: TestPerson
    /// A person with an account, who is in no family.
    let stranger: TestPerson

    init(_ server: TestServer) async throws {
        self.server = server
        var guardian = try server.person(try await server.signUp("gia@example.org", name: "Gia"))
        let family = try await server.call(API.createFamily, FamilyCreate(name: "The Lived"), as: guardian)
        id = family.id
        guardian.familyID = family.id
        for type in [ConsentType.childAccountCreation, .aiMediation, .gamificationParticipation, .smsOptIn] {
            try await server.consent(type, in: family.id, as: guardian)
        }
        var participant = try server.person(try await server.signUp("pat@example.org", name: "Pat"))
        try await server.call(API.joinFamily, JoinRequest(inviteCode: family.inviteCode), as: participant)
        participant.familyID = family.id
        _ = try await server.call(
            API.createMember, FamilyPath(familyID: family.id),
            MemberCreateAndAdd(displayName: "Finn", role: .child, username: "finn", pin: try PIN(wireText: "0815")),
            as: guardian)
        var child = try server.person(try await server.childLogIn(family.childCode ?? "", "finn", "0815"))
        child.familyID = family.id
        stranger = try server.person(try await server.signUp("stan@example.org", name: "Stan"))
        (self.guardian, self.participant, self.child) = (guardian, participant, child)
        for person in [guardian, participant, child] {
            let reply = try await server.call(
                "PATCH", "/api/v1/preferences?family_id=\(family.id)", as: person,
                body: ["prefs_json": ["gamification_enabled": true]])
            #expect(reply.status == 200, "\(reply.text)")
        }
    }

    func nag(to recipient: TestPerson, every recurrence: Recurrence? = nil) async throws -> NagID {
        try await server.nag(from: guardian, to: recipient, every: recurrence).id
    }

    /// Creates nags with every outcome and with points, and a series.
    func liveWithNags() async throws {
        for _ in 0..<2 {
            let nag = try await nag(to: child)
            _ = try await server.complete(nag, as: child)
        }
        let late = try await nag(to: participant)
        let missed = try await nag(to: child)
        let series = try await nag(to: participant, every: .daily)
        let dismissed = try await nag(to: child)
        _ = try await server.call(API.dismissNag, NagPath(nagID: dismissed), as: child)
        let shown = try await nag(to: child)
        _ = try await server.call(API.dismissNag, NagPath(nagID: shown), as: child)
        _ = try await server.call(API.undismissNag, NagPath(nagID: shown), as: child)
        let moved = try await nag(to: participant)
        let due = server.clock.now() + .hours(5)
        let edit = try await server.call(
            "PATCH", "/api/v1/nags/\(moved)", as: guardian,
            body: ["due_at": .string(due.rfc3339), "category": "homework"])
        #expect(edit.status == 200, "\(edit.text)")
        let snooze = try await server.call(
            "PATCH", "/api/v1/nags/\(moved)", as: participant,
            body: ["due_at": .string((due + .minutes(10)).rfc3339)])
        #expect(snooze.status == 200, "\(snooze.text)")
        let promise = try await server.call(
            "PATCH", "/api/v1/nags/\(moved)", as: participant, body: ["committed_at": .string(due.rfc3339)])
        #expect(promise.status == 200, "\(promise.text)")
        server.clock.advance(by: .minutes(150))
        _ = try await server.complete(late, as: participant)
        _ = try await server.complete(series, as: participant)
        server.clock.advance(by: .hours(24))
        _ = try await miss(missed)
        let withdrawn = try await nag(to: child)
        _ = try await server.call(API.withdrawNag, NagPath(nagID: withdrawn), as: guardian)
    }

    /// Creates incentive rules of every kind, lets them act on two completions of the child, and changes two of them.
    func liveWithIncentives() async throws {
        var rules: [IncentiveRuleID] = []
        for (reward, mode) in [
            (.bonusPoints, .auto), (.bonusPoints, .guardianConfirmed), (.badge, .guardianConfirmed),
        ] as [(IncentiveReward, IncentiveApprovalMode)] {
            let rule = try await server.call(
                API.createIncentiveRule,
                IncentiveRuleCreate(
                    familyID: id, condition: IncentiveCondition(type: .nagCompleted, count: 1),
                    action: IncentiveAction(type: reward, amount: 30), approvalMode: mode), as: guardian)
            rules.append(rule.id)
        }
        for _ in 0..<2 {
            let done = try await nag(to: child)
            _ = try await server.complete(done, as: child)
            let events = try await server.incentives(done, as: guardian)
            for event in events.filter({ $0.actionType == .badge }) { try await server.approve(event.id, as: guardian) }
        }
        try await server.change(
            rules[0], IncentiveRuleUpdate(condition: IncentiveCondition(type: .streakReached, count: 9)), as: guardian)
        try await server.change(rules[1], IncentiveRuleUpdate(status: .retired), as: guardian)
    }

    private func miss(_ nag: NagID) async throws -> NagResponse {
        let (random, now, id) = (server.random, server.clock.now(), id)
        return try await server.database.run { database in
            let services = try Services(
                standalone: database, clock: server.clock, random: random, tokens: server.tokens,
                hashing: PasswordHashing(
                    try BlockingPool(name: "test", threads: 0, queueLimitPerLane: 0), cost: .testing),
                auditKeyring: TestServer.auditKeyring)
            return try await Nags(services, Gamification(services)).miss(nag, in: id, at: now)
        }
    }

    /// Creates constraints of the family and of people, and orders, imports, changes and deletes some of them.
    func liveWithConstraints() async throws {
        var ids: [ConstraintID] = []
        for (scope, person) in [(.family, guardian), (.family, guardian), (.own, participant), (.own, child)]
            as [(ConstraintScope, TestPerson)]
        {
            let made = try await server.call(
                API.createConstraint, ConstraintCreate(familyID: id, terms: try .about("n", scope)), as: person)
            ids.append(made.constraint.id)
        }
        _ = try await server.call(API.orderConstraints, ConstraintOrderUpdate(ids: [ids[0], ids[1]]), as: guardian)
        _ = try await server.call(
            API.importConstraints, ConstraintImportQuery(familyID: id),
            ConstraintDocument(constraints: [try .about("i", .family, 1), try .about("j", .own, 1)]), as: guardian)
        try await server.change(ids[0], ConstraintUpdate(isEnabled: false, priority: 9), as: guardian)
        _ = try await server.call(API.deleteConstraint, ConstraintPath(constraintID: ids[1]), as: guardian)
    }

    /// Lets people leave the family, be removed from it, and delete their accounts as members and after their removal.
    func liveWithDepartures() async throws {
        try await server.consent(.aiMediation, in: id, as: participant)
        try await server.consent(.smsOptIn, in: id, as: participant)
        _ = try await nag(to: participant)
        _ = try await server.call(
            API.suspendRelationship, RelationshipPath(relationshipID: participant.id.retyped()), as: guardian)
        _ = try await server.call(API.leaveFamily, FamilyPath(familyID: id), as: participant)
        try await join(participant)
        try await server.consent(.aiMediation, in: id, as: participant)
        _ = try await server.call(API.removeMember, MemberPath(familyID: id, userID: participant.id), as: guardian)
        _ = try await server.call(API.deleteAccount, AccountPath(userID: participant.id), as: participant)

        let guest = try server.person(try await server.signUp("quinn@example.org", name: "Quinn"))
        try await server.consent(.smsOptIn, in: nil, as: guest)
        try await join(guest)
        _ = try await nag(to: guest)
        _ = try await server.call(API.deleteAccount, AccountPath(userID: guest.id), as: guest)
    }

    func join(_ person: TestPerson) async throws {
        let code = try await server.call(API.getFamily, FamilyPath(familyID: id), as: guardian).inviteCode
        _ = try await server.call(API.joinFamily, JoinRequest(inviteCode: code), as: person)
    }

    func makeAdministrators() async throws {
        let (url, keys, clock) = (server.database.url, try #require(TestServer.auditKeyring), server.clock)
        for email in ["root@example.org", "gone@example.org"] {
            _ = try await Admins.create(
                databaseURL: url, keys: keys, email: email, password: "plenty of 7 different letters", cost: .testing,
                clock: clock)
        }
        try await Admins.revoke(databaseURL: url, keys: keys, email: "gone@example.org", clock: clock)
    }
}

extension TestServer {
    /// Returns the person who signed in with this response.
    func person(_ answer: AuthResponse) throws -> TestPerson {
        let claims = try tokens.verify(answer.accessToken.wireText, at: clock.now())
        return TestPerson(
            id: claims.user, session: claims.session, pseudonym: Pseudonym(high: 0, low: 0),
            name: answer.user.displayName ?? "")
    }

    func consent(_ type: ConsentType, in family: FamilyID?, as person: TestPerson) async throws {
        _ = try await call(
            API.grantConsent, ConsentCreate(familyID: type == .smsOptIn ? nil : family, type: type), as: person)
    }

    /// Returns the report of `nagz audit reconcile`.
    func reconcile(_ family: FamilyID? = nil) async throws -> StateReport {
        try await Reconciliation(of: family).run(
            databaseURL: database.url, keys: try #require(Self.auditKeyring), clock: clock)
    }
}
