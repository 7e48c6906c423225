import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Invitations between adults of different families")
struct InvitationTests {
    @Test("after an accepted invitation both see each other, and the connection's chain has it")
    func acceptance() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (inviter, invitee) = (family.guardian, family.stranger)
            let sent = try await server.expectOnly(audit: ["connection.invited"]) {
                try await server.invite(" " + (invitee.email ?? "").uppercased(), as: inviter)
            }
            let made = server.clock.now()
            #expect(
                sent
                    == ConnectionResponse(
                        id: sent.id, inviterID: inviter.id, inviteeID: nil, inviteeEmail: invitee.email ?? "",
                        status: .pending, caregiver: false, createdAt: made, respondedAt: nil,
                        otherPartyEmail: invitee.email, otherPartyDisplayName: nil))
            #expect(try await server.connections(of: inviter, .pending) == [sent])
            #expect(try await server.pending(of: inviter).isEmpty)
            var received = sent
            received.inviteeID = invitee.id
            (received.otherPartyEmail, received.otherPartyDisplayName) = (inviter.email, inviter.name)
            #expect(try await server.pending(of: invitee) == [received])
            #expect(try await server.connections(of: invitee) == [received])

            server.clock.advance(by: .minutes(1))
            let accepted = try await server.expectOnly(audit: ["connection.accepted"]) {
                try await server.accept(sent, as: invitee)
            }
            (received.status, received.respondedAt) = (.active, server.clock.now())
            #expect(accepted == received)
            var seen = sent
            (seen.status, seen.respondedAt, seen.inviteeID) = (.active, server.clock.now(), invitee.id)
            seen.otherPartyDisplayName = invitee.name
            #expect(try await server.connections(of: inviter, .active) == [seen])
            #expect(try await server.connections(of: invitee, .active) == [received])
            #expect(try await server.pending(of: invitee).isEmpty)

            let log = try await server.audit(sent.id.retyped())
            #expect(log.map(\.kind) == ["connection.invited", "connection.accepted"] && log.map(\.n) == [1, 2])
            #expect(log[0].actor == inviter.pseudonym && log[0].subject == nil)
            #expect(log[0].resource == sent.id.retyped() && log[0].details == ["caregiver": "false"])
            #expect(log[1].actor == invitee.pseudonym && log[1].subject == inviter.pseudonym)
            #expect(try await server.audit(family.id).isEmpty)
        }
    }

    @Test("the invitee alone answers a pending invitation; either party ends it, and a second end changes nothing")
    func answers() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (inviter, invitee, other) = (family.guardian, family.stranger, family.secondGuardian)
            let sent = try await server.invite(invitee, as: inviter)
            for (kind, answer) in [("accept", server.accept), ("decline", server.decline)] {
                let refusal = try await server.expectOnly(audit: ["connection.\(kind).denied"]) {
                    try await expectRefusal(403) { try await answer(sent, inviter) }
                }
                #expect(refusal.code == .authorizationDenied && refusal.reason == "invitee_only")
            }
            let loner = try await server.account()
            var nothing = sent
            nothing.id = try await server.connection(from: other, to: loner)
            try await server.expectOnly {
                var answers: Set<APIError> = []
                for person in [other, family.child, family.participant] {
                    for act in [server.accept, server.decline, server.revoke] {
                        answers.insert(try await expectRefusal(404) { try await act(sent, person) })
                    }
                    answers.insert(
                        try await expectRefusal(404) { try await server.setCaregiver(true, sent, as: person) })
                    answers.insert(try await expectRefusal(404) { try await server.children(sent, as: person) })
                }
                answers.insert(try await expectRefusal(404) { try await server.accept(nothing, as: inviter) })
                #expect(answers.count == 1)
            }
            let declined = try await server.expectOnly(audit: ["connection.declined"]) {
                try await server.decline(sent, as: invitee)
            }
            #expect(declined.status == .declined && declined.respondedAt == server.clock.now())
            try await server.expectOnly {
                for act in [server.accept, server.decline, server.revoke] {
                    try await expectRefusal(409) { try await act(sent, invitee) }
                }
                try await expectRefusal(409) { try await server.setCaregiver(false, sent, as: inviter) }
                try await expectRefusal(403) { try await server.children(sent, as: inviter) }
            }
            // A refusal does not say whose account the address is.
            let seen = try #require(try await server.connections(of: inviter).first)
            #expect(seen.status == .declined && seen.inviteeID == nil && seen.otherPartyDisplayName == nil)

            for ender in [inviter, invitee] {
                let active = try await server.connect(inviter, invitee, caregiver: true)
                let revoked = try await server.expectOnly(audit: ["connection.revoked"]) {
                    try await server.revoke(active, as: ender)
                }
                #expect(revoked.status == .revoked && !revoked.caregiver && revoked.respondedAt == active.respondedAt)
                try await server.expectOnly {
                    for person in [inviter, invitee] {
                        let again = try await server.revoke(active, as: person)
                        #expect(again.status == .revoked && again.inviteeID == invitee.id)
                    }
                    _ = try await expectRefusal(409) { try await server.accept(active, as: invitee) }
                }
            }
        }
    }

    @Test("a pair has one invitation, from either side, and another after its end")
    func samePair() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (one, other) = (family.guardian, family.stranger)
            let sent = try await server.invite(other, as: one)
            let (again, back) = try await server.expectOnly {
                (try await server.invite(other, caregiver: true, as: one), try await server.invite(one, as: other))
            }
            #expect(again == sent)
            #expect(back.id == sent.id && back.inviterID == one.id && back.inviteeID == other.id)
            try await server.accept(sent, as: other)
            for (inviter, invitee) in [(one, other), (other, one)] {
                let same = try await server.expectOnly { try await server.invite(invitee, as: inviter) }
                #expect(same.id == sent.id && same.status == .active)
            }
            try await server.revoke(sent, as: one)
            let next = try await server.invite(one, as: other)
            #expect(next.id != sent.id && next.inviterID == other.id && next.status == .pending)
        }
    }

    @Test("of invitations at once from both sides on two servers one exists")
    func atOnce() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (one, other) = (family.guardian, family.stranger)
            try await server.withPeers(1) { peers in
                for round in 0..<5 {
                    let sent = try await together(12) { number in
                        let server = [server, peers[0]][number / 2 % 2]
                        return number.isMultiple(of: 2)
                            ? try await server.invite(other, as: one) : try await server.invite(one, as: other)
                    }
                    #expect(Set(sent.map(\.id)).count == 1, "round \(round)")
                    let living = try await server.rows(
                        "SELECT id FROM connections WHERE status IN ('pending', 'active')")
                    #expect(living.count == 1)
                    let (invitee, inviter) = sent[0].inviterID == one.id ? (other, one) : (one, other)
                    // Accepted and revoked at once: in the end it is revoked, and nothing happened twice.
                    let outcomes = try await together(outcomesOf: 6) { number in
                        number.isMultiple(of: 2)
                            ? try await server.accept(sent[0], as: invitee)
                            : try await peers[0].revoke(sent[0], as: inviter)
                    }
                    #expect(outcomes.count { (try? $0.get())?.status == .active } <= 1)
                    let log = try await server.audit(sent[0].id.retyped()).map(\.kind)
                    #expect(log.filter { $0 == "connection.revoked" }.count == 1 && log.last == "connection.revoked")
                    server.clock.advance(by: .days(31))
                    peers[0].clock.set(to: server.clock.now())
                }
            }
        }
    }

    @Test("the answer is the same for an address with an account, without one, and of somebody who cannot be connected")
    func enumeration() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let gone = try await server.account("Gone")
            _ = try await server.call(API.deleteAccount, AccountPath(userID: gone.id), as: gone)
            let young = try await server.account("Yun", status: "pending_guardian_consent")
            let addresses = [family.stranger.email, "nobody@example.org", gone.email, young.email].compactMap(\.self)
            for address in addresses {
                let sent = try await server.invite(address, as: family.guardian)
                for seen in try [sent] + (await server.connections(of: family.guardian)).filter({ $0.id == sent.id }) {
                    #expect(
                        seen
                            == ConnectionResponse(
                                id: sent.id, inviterID: family.guardian.id, inviteeID: nil, inviteeEmail: address,
                                status: .pending, caregiver: false, createdAt: server.clock.now(), respondedAt: nil,
                                otherPartyEmail: address, otherPartyDisplayName: nil))
                }
                // Nor does the audit log, which is theirs to read only once it was accepted.
                try await expectRefusal(403) {
                    try await server.call(
                        API.listAuditEvents, AuditQuery(conditions: .init(familyID: sent.id.retyped())),
                        as: family.guardian)
                }
            }
            #expect(try await server.connections(of: family.guardian).count == 4)
        }
    }

    @Test("an address that gets an account later has its invitations, one for each sender")
    func laterAccount() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let address = "late@example.org"
            let sent = try await server.invite(address, caregiver: true, as: family.guardian)
            let request = SignupRequest(
                email: try EmailAddress(wireText: address), password: Secret("a long passphrase"), displayName: "Late")
            let answer = try await server.call(API.signUp, request)
            let claims = try server.tokens.verify(answer.accessToken.wireText, at: server.clock.now())
            let late = TestPerson(
                id: claims.user, session: claims.session, pseudonym: Pseudonym(high: 0, low: 0), name: "Late",
                email: address)
            let received = try #require(try await server.pending(of: late).first)
            #expect(received.id == sent.id && received.inviteeID == late.id)
            #expect(received.otherPartyDisplayName == family.guardian.name)
            #expect(try await server.connections(of: family.guardian) == [sent])
            let same = try await server.expectOnly { try await server.invite(family.guardian, as: late) }
            #expect(same.id == sent.id)
            let active = try await server.accept(received, as: late)
            #expect(active.status == .active && active.inviteeID == late.id && active.caregiver)
        }
    }

    @Test("oneself, children, relatives, suspended and blocked people cannot be invited, and the blocker is not named")
    func refusals() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (one, other) = (family.guardian, family.stranger)
            try await server.expectOnly {
                try await server.expect(.refusal(.validationFailed, "invitee_email")) {
                    try await server.invite(one, as: one)
                }
            }
            let child = try await server.expectOnly(audit: ["connection.invite.denied"]) {
                try await expectRefusal(403) { try await server.invite(other, as: family.child) }
            }
            #expect(child.code == .authorizationDenied && child.reason == "adults_only")
            let relative = try await server.expectOnly(audit: ["connection.invite.denied"]) {
                try await expectRefusal(403) { try await server.invite(family.participant, as: one) }
            }
            #expect(relative.code == .policyForbidden && relative.reason == "same_family")

            let sent = try await server.invite(other, as: one)
            let block = try await server.call(API.createBlock, BlockCreate(targetID: one.id), as: other)
            let accepting = try await server.expectOnly(audit: ["connection.accept.denied"]) {
                try await expectRefusal(403) { try await server.accept(sent, as: other) }
            }
            #expect(accepting.code == .policyForbidden && accepting.reason == "connection_blocked")
            try await server.decline(sent, as: other)
            var refusals: Set<APIError> = []
            for (inviter, invitee) in [(one, other), (other, one)] {
                refusals.insert(
                    try await server.expectOnly(audit: ["connection.invite.denied"]) {
                        try await expectRefusal(403) { try await server.invite(invitee, as: inviter) }
                    })
            }
            #expect(refusals.count == 1 && refusals.first?.reason == "connection_blocked")
            _ = try await server.call(
                API.updateBlock, BlockPath(blockID: block.id), BlockUpdate(state: .lifted), as: other)
            _ = try await server.invite(one, as: other)

            // A guardian's decision outlasts the membership.
            _ = try await server.call(
                API.suspendRelationship, RelationshipPath(relationshipID: family.participant.id.retyped()), as: one)
            _ = try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: family.participant)
            let suspended = try await expectRefusal(403) { try await server.invite(family.participant, as: one) }
            #expect(suspended.reason == "relationship_suspended")
        }
    }

    @Test("a person sends 20 invitations a day, 3 a month to one address, and has 50 open and 100 active")
    func limits() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let one = family.guardian
            for round in 0..<3 {
                let sent = try await server.invite("again@example.org", as: one)
                if round < 2 { try await server.revoke(sent, as: one) }
                server.clock.advance(by: .seconds(1))
            }
            // The one that is open is answered again.
            let open = try await server.invite("again@example.org", as: one)
            try await server.revoke(open, as: one)
            let month = try await server.expectOnly {
                try await expectRefusal(429) { try await server.invite("again@example.org", as: one) }
            }
            #expect(month.code == .rateLimited && month.retryAfter == 30 * 86_400 - 3)
            let outcomes = try await together(outcomesOf: 24) { number in
                try await server.invite("n\(number)@example.org", as: one)
            }
            #expect(outcomes.count { (try? $0.get()) != nil } == 17)
            let day = try await server.expectOnly {
                try await expectRefusal(429) { try await server.invite("more@example.org", as: one) }
            }
            #expect(day.retryAfter == 86_400 - 3)
            _ = try await server.invite(family.stranger, as: family.secondGuardian)

            for _ in 0..<2 {
                server.clock.advance(by: .days(1))
                for number in 0..<16 {
                    _ = try await server.invite("d\(server.clock.now().seconds)-\(number)@example.org", as: one)
                }
            }
            _ = try await server.invite("last@example.org", as: one)
            let full = try await server.expectOnly {
                try await expectRefusal(409) { try await server.invite("fifty-first@example.org", as: one) }
            }
            #expect(full.code == .conflict)
        }
    }

    @Test("an invitation that is not answered for thirty days is revoked by housekeeping, once")
    func expiry() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let old = try await server.invite(family.stranger, as: family.guardian)
            let answered = try await server.connect(family.secondGuardian, family.stranger)
            server.clock.advance(by: .days(29))
            let recent = try await server.invite("recent@example.org", as: family.guardian)
            func expire() async throws -> [Int] {
                let (clock, random) = (server.clock, server.random)
                return try await together(2) { _ in
                    try await server.database.run { database in
                        let ledger = Ledger(
                            database: database, random: random,
                            sealing: Sealing(TestServer.auditKeyring, random: random))
                        return try await InvitationExpiry(database: database, ledger: ledger).run {
                            CallContext(systemActAt: clock.now(), random)
                        }
                    }
                }
            }
            let none = try await server.expectOnly { try await expire() }
            #expect(none == [0, 0])
            server.clock.advance(by: .days(1))
            let revoked = try await server.expectOnly(audit: ["connection.revoked"]) { try await expire() }
            #expect(revoked.reduce(0, +) == 1)
            let log = try await server.audit(old.id.retyped())
            #expect(log.last?.actor == SystemActor.scheduler.retyped() && log.last?.details == ["reason": "expired"])
            try await expectRefusal(409) { try await server.accept(old, as: family.stranger) }
            let statuses = try await server.connections(of: family.guardian).map(\.status)
            #expect(statuses == [.pending, .revoked])
            #expect(try await server.connections(of: family.stranger, .active).map(\.id) == [answered.id])
            _ = recent
        }
    }
}
