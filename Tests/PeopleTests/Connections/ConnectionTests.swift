import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Connections between adults of different families")
struct ConnectionTests {
    @Test("a caregiver sees the other's children; each guardian shares their own, and either party ends it for both")
    func children() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (parent, tutor) = (family.guardian, family.stranger)
            let friends = try await server.connect(parent, tutor)
            for person in [parent, tutor] {
                let refusal = try await server.expectOnly {
                    try await expectRefusal(403) { try await server.children(friends, as: person) }
                }
                #expect(refusal.code == .authorizationDenied && refusal.reason == "not_a_caregiver")
            }
            let given = try await server.expectOnly(audit: ["connection.changed"]) {
                try await server.setCaregiver(true, friends, as: parent)
            }
            #expect(given.caregiver && given.status == .active)
            let entry = try #require(try await server.audit(friends.id.retyped()).last)
            #expect(
                entry.details == ["inviter_shares_children": "true", "invitee_shares_children": "false"]
                    && entry.subject == tutor.pseudonym)
            let cleo = CaregiverConnectionChild(
                userID: family.child.id, displayName: "Cleo", familyID: family.id, familyName: "The Tests",
                connectionID: friends.id)
            #expect(try await server.children(friends, as: tutor) == [cleo])
            // The tutor has given nothing: their children are theirs to give.
            #expect(try await server.children(friends, as: parent).isEmpty)
            try await server.expectOnly { _ = try await server.setCaregiver(true, friends, as: parent) }
            try await server.setCaregiver(true, friends, as: tutor)
            let ended = try await server.setCaregiver(false, friends, as: tutor)
            #expect(!ended.caregiver)
            for person in [parent, tutor] {
                try await expectRefusal(403) { try await server.children(friends, as: person) }
                try await server.expectOnly { _ = try await server.setCaregiver(false, friends, as: person) }
            }
        }
    }

    @Test("the list of children has only those whom the caller may nag: nobody whom a block separates")
    func childrenToNag() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let (parent, friend, child) = (scene.parent, scene.friend, scene.family.child)
            func isListed() async throws -> Bool {
                try await !server.children(scene.connection, as: friend).isEmpty
            }
            #expect(try await isListed())
            // A child can block a person who has nagged them.
            _ = try await scene.nag(from: friend, to: child)
            for (one, other) in [(child, friend), (friend, child), (parent, friend)] {
                let block = try await scene.block(other, as: one)
                #expect(try await !isListed())
                try await expectRefusal(403) { try await scene.nag(from: friend, to: child) }
                try await server.call(
                    API.updateBlock, BlockPath(blockID: block.id), BlockUpdate(state: .lifted), as: one)
                #expect(try await isListed())
            }
        }
    }

    @Test("a guardian shares only their own family's children, and only while they are a guardian")
    func ownChildren() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (tutor, parent) = (try await server.account("Tuto"), family.secondGuardian)
            let connection = try await server.connect(parent, tutor)
            let refusal = try await server.expectOnly(audit: ["connection.change.denied"]) {
                try await expectRefusal(403) { try await server.setCaregiver(true, connection, as: tutor) }
            }
            #expect(refusal.reason == "own_children_only")
            try await server.setCaregiver(true, connection, as: parent)
            #expect(try await server.children(connection, as: tutor).map(\.userID) == [family.child.id])
            // The child leaves, comes back, and its guardian leaves.
            let member = MemberPath(familyID: family.id, userID: family.child.id)
            try await server.call(API.removeMember, member, as: family.guardian)
            #expect(try await server.children(connection, as: tutor).isEmpty)
            try await server.call(
                API.addMember, FamilyPath(familyID: family.id), MemberAdd(userID: family.child.id, role: .child),
                as: family.guardian)
            #expect(try await server.children(connection, as: tutor).count == 1)
            try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: parent)
            #expect(try await server.children(connection, as: tutor).isEmpty)
            try await server.revoke(connection, as: parent)
            try await expectRefusal(403) { try await server.children(connection, as: tutor) }
        }
    }

    @Test("the list of connections has pages and filters, and refuses an unknown status")
    func pages() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            var sent: [ConnectionID] = []
            for number in 0..<3 {
                server.clock.advance(by: .seconds(1))
                sent.append(try await server.invite("n\(number)@example.org", as: family.guardian).id)
            }
            let active = try await server.connect(family.stranger, family.guardian)
            let page = try await server.call(
                API.listConnections, ConnectionListQuery(status: .pending, page: PageRequest(limit: 2, offset: 1)),
                as: family.guardian)
            #expect(page.items.map(\.id) == [sent[1], sent[0]] && page.total == 3)
            #expect(try await server.connections(of: family.guardian).map(\.id) == [active.id] + sent.reversed())
            #expect(try await server.connections(of: family.guardian, .revoked).isEmpty)
            let reply = try await server.call(
                "GET", "/api/v1/connections?status=accepted", token: server.token(family.guardian))
            #expect(reply.status == 422)
        }
    }

    @Test("a connection's chain is read and verified by its two parties once they are connected, and nobody else")
    func auditLog() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (one, other) = (family.guardian, family.stranger)
            let sent = try await server.invite(other, as: one)
            let chain: FamilyID = sent.id.retyped()
            for person in [one, other, family.secondGuardian] {
                try await expectRefusal(403) {
                    try await server.call(
                        API.listAuditEvents, AuditQuery(conditions: .init(familyID: chain)), as: person)
                }
            }
            try await server.accept(sent, as: other)
            try await server.runRound()
            for person in [one, other] {
                let page = try await server.call(
                    API.listAuditEvents, AuditQuery(conditions: .init(familyID: chain)), as: person)
                #expect(page.items.map(\.kind) == ["connection.accepted", "connection.invited"])
                let detail = try await server.call(
                    API.getAuditEvent, AuditEntryPath(familyID: chain, n: 1), as: person)
                #expect(detail.entry.kind == "connection.invited" && detail.proof != nil)
                let verdict = try await server.call(
                    API.verifyAuditLog, AuditScopeQuery(familyID: chain), as: person)
                #expect(verdict.verdict == "sound" && verdict.entries == 2)
                let people = try await server.call(API.listAuditPeople, AuditScopeQuery(familyID: chain), as: person)
                #expect(Set(people.items.compactMap(\.userID)) == [one.id, other.id])
                // Their own family's is another.
                _ = try await server.call(API.listAuditEvents, AuditQuery(), as: person)
            }
            try await expectRefusal(403) {
                try await server.call(
                    API.listAuditEvents, AuditQuery(conditions: .init(familyID: family.id)), as: other)
            }
            for person in [family.secondGuardian, family.participant, family.child] {
                try await expectRefusal(403) {
                    try await server.call(
                        API.listAuditEvents, AuditQuery(conditions: .init(familyID: chain)), as: person)
                }
            }
        }
    }

    @Test("the audit log explains connections, and names a row that was changed beside it")
    func reconciliation() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            let (one, other) = (family.guardian, family.stranger)
            _ = try await server.invite("nobody@example.org", as: one)
            let sent = try await server.invite("stan@example.org", caregiver: true, as: one)
            try await server.accept(sent, as: other)
            func findings() async throws -> [String] {
                try await server.reconcile().findings.filter { $0.subject == .connection }.compactMap(\.field)
            }
            #expect(try await server.reconcile().findings.map(\.description) == [])
            try await server.sql("CREATE TABLE kept AS SELECT * FROM connections")
            for (statement, fields) in [
                ("UPDATE connections SET status = 'revoked', ended_at = now()", ["status", "status"]),
                (
                    "UPDATE connections SET caregiver = false, inviter_shares_children = false, invitee_shares_children = false",
                    ["inviter_shares_children", "invitee_shares_children"]
                ),
                ("UPDATE connections SET invitee_id = '\(family.participant.id)' WHERE status = 'active'", ["invitee"]),
            ] {
                if fields.count == 2, fields[0] == "status" {
                    try await server.sql(
                        "UPDATE connections SET caregiver = false, inviter_shares_children = false, invitee_shares_children = false"
                    )
                }
                try await server.sql(SQL(unsafeSQL: statement))
                let found = try await findings()
                for field in fields { #expect(found.contains(field), "\(statement)") }
                try await server.sql("DELETE FROM connections")
                try await server.sql("INSERT INTO connections SELECT * FROM kept")
            }
            try await server.sql("DROP TABLE kept")
            #expect(try await server.reconcile().findings.map(\.description) == [])
            try await server.setCaregiver(false, sent, as: other)
            try await server.revoke(sent, as: one)
            #expect(try await server.reconcile().findings.map(\.description) == [])
            try await server.sql("DELETE FROM connections WHERE id = \(sent.id)")
            let missing = try await server.reconcile().findings.filter { $0.subject == .connection }
            #expect(missing.map(\.problem) == [.noRow])
        }
    }

    @Test("a deletion ends the account's connections first, and erases its address")
    func deletion() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let person = try await server.account("Dora")
            let address = try #require(person.email)
            let active = try await server.connect(family.guardian, person)
            let sent = try await server.invite(family.secondGuardian, as: person)
            let received = try await server.invite(person, as: family.participant)
            let declined = try await server.invite(person, as: family.stranger)
            try await server.decline(declined, as: person)
            try await server.expectOnly(
                audit: ["connection.revoked", "connection.revoked", "connection.revoked", "account.deleted"]
            ) {
                _ = try await server.call(API.deleteAccount, AccountPath(userID: person.id), as: person)
            }
            for (connection, other) in [
                (active, family.guardian), (sent, family.secondGuardian), (received, family.participant),
                (declined, family.stranger),
            ] {
                let seen = try #require(try await server.connections(of: other).first { $0.id == connection.id })
                #expect(seen.status == (connection.id == declined.id ? .declined : .revoked))
                #expect(seen.otherPartyDisplayName == nil && seen.inviteeEmail == "deleted")
            }
            let held = try await server.rows("SELECT id FROM connections WHERE invitee_email = \(address)")
            #expect(held.isEmpty)
            // Whose address it is later has nothing to do with it.
            let next = try await server.account("Dora")
            try await server.sql("UPDATE users SET email = \(address) WHERE id = \(next.id)")
            #expect(try await server.connections(of: next).isEmpty)
        }
    }

    @Test("an invitation to a child's address does not keep the child from deleting its account")
    func deletionOfChild() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let child = try await server.account("Yun")
            let address = try #require(child.email)
            try await server.sql(
                """
                INSERT INTO memberships (family_id, user_id, role, status, joined_at)
                VALUES (\(family.id), \(child.id), 'child', 'active', \(server.clock.now()))
                """)
            let sent = try await server.invite(address, as: family.stranger)
            #expect(try await server.pending(of: child).isEmpty)
            _ = try await server.call(API.deleteAccount, AccountPath(userID: child.id), as: child)
            #expect(try await server.connections(of: family.stranger) == [sent])
        }
    }

    @Test("an invitation to somebody who deletes their account at that moment leaves no open connection")
    func deletionAtOnce() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for round in 0..<4 {
                let person = try await server.account("Dora")
                try await server.withPeers(1) { peers in
                    _ = try await together(outcomesOf: 6) { number in
                        if number == 0 {
                            _ = try await peers[0].call(
                                API.deleteAccount, AccountPath(userID: person.id), as: person)
                        } else {
                            let inviter = [family.guardian, family.secondGuardian, family.stranger][number % 3]
                            let sent = try await server.invite(person, as: inviter)
                            _ = try await server.accept(sent, as: person)
                        }
                    }
                }
                let living = try await server.rows(
                    """
                    SELECT c.id FROM connections c JOIN users u ON u.id IN (c.inviter_id, c.invitee_id)
                    WHERE c.status IN ('pending', 'active') AND u.status = 'deleted'
                    """)
                #expect(living.isEmpty, "round \(round)")
                server.clock.advance(by: .days(31))
            }
        }
    }

    @Test("the feed has the caller's own connections, as they see them, and nobody else's")
    func feed() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let active = try await server.connect(family.guardian, family.stranger, caregiver: true)
            server.clock.advance(by: .seconds(1))
            let sent = try await server.invite(try await server.account("Nia"), as: family.guardian)
            func synced(_ person: TestPerson, _ family: FamilyID) async throws -> [SyncedConnection] {
                try await server.call(API.syncEvents, SyncQuery(familyID: family), as: person).connections
            }
            let own = try await synced(family.guardian, family.id)
            #expect(own.map(\.id) == [sent.id, active.id])
            #expect(
                own[1]
                    == SyncedConnection(
                        id: active.id, inviterID: family.guardian.id, inviteeID: family.stranger.id,
                        inviteeEmail: active.inviteeEmail, status: "active", caregiver: true,
                        createdAt: active.createdAt, respondedAt: active.respondedAt))
            #expect(own[0].inviteeID == nil && own[0].status == "pending" && own[0].respondedAt == nil)
            #expect(try await synced(family.stranger, family.otherFamilyID).map(\.id) == [active.id])
            for person in [family.secondGuardian, family.participant, family.child] {
                #expect(try await synced(person, family.id).isEmpty)
            }
            // Ended ones stay as long as events do.
            try await server.revoke(active, as: family.stranger)
            server.clock.advance(by: .days(89))
            #expect(try await synced(family.guardian, family.id).map(\.status) == ["pending", "revoked"])
            server.clock.advance(by: .days(2))
            #expect(try await synced(family.guardian, family.id).map(\.status) == ["pending"])
        }
    }

    @Test("an export has the caller's connections as they see them")
    func export() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let sent = try await server.invite(family.stranger, as: family.guardian)
            func exported(_ person: TestPerson) async throws -> [JSONObject] {
                try await server.call(API.exportAccount, NoParameters(), as: person).sections[.connections] ?? []
            }
            let own = try #require(try await exported(family.guardian).first)
            #expect(own["id"] == .string(sent.id.description) && own["invitee_id"] == .null)
            let received = try #require(try await exported(family.stranger).first)
            #expect(received["invitee_id"] == .string(family.stranger.id.description))
            #expect(try await exported(family.secondGuardian).isEmpty)
        }
    }
}
