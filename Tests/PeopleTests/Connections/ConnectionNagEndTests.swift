import Audit
import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Ends of connection nags")
struct ConnectionNagEndTests {
    static let cancelled = "cancelled_relationship_change"

    @Test("revoking a connection cancels its open nags in the same act, and no next instance is created")
    func revoke() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            let done = try await scene.nag(from: scene.friend, to: scene.parent)
            _ = try await server.complete(done.id, as: scene.parent)
            server.clock.advance(by: .seconds(1))
            let nag = try await scene.nag(from: scene.friend, to: scene.parent, every: .daily)
            _ = try await scene.nag(from: scene.parent, to: scene.friend)
            try await server.expectOnly(
                audit: ["connection.revoked"], events: ["nag_cancelled", "nag_cancelled"], stamped: 2
            ) {
                try await server.revoke(scene.connection, as: scene.friend)
            }
            #expect(try await scene.statuses() == ["completed", Self.cancelled, Self.cancelled])
            #expect(try await server.audit(scene.chain).last?.details["cancelled_nags"] == "2")
            try await expectRefusal(409) { try await server.complete(nag.id, as: scene.parent) }
            let later = NagUpdate(dueAt: nag.dueAt + .minutes(5))
            try await expectRefusal(409) { try await scene.update(nag, later, as: scene.parent) }
            // Nothing new about what was, either.
            try await expectRefusal(403) {
                try await server.call(
                    API.submitExcuse, NagPath(nagID: done.id), ExcuseCreate(text: "I forgot"), as: scene.parent)
            }
            try await server.expectOnly { try await server.revoke(scene.connection, as: scene.parent) }
            #expect(try await server.reconcile(scene.chain).findings.map(\.description) == [])
            try await server.sql("UPDATE nags SET status = 'open', closed_at = NULL WHERE id = \(nag.id)")
            #expect(try await server.reconcile(scene.chain).findings.compactMap(\.field) == ["status"])
        }
    }

    @Test("revoking caregiver cancels the nags to children in the same act", arguments: [true, false])
    func caregiver(byParent: Bool) async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            let earlier = try await scene.nag(from: scene.friend, to: scene.parent)
            try await server.setCaregiver(true, scene.connection, as: scene.parent)
            // What the two have, they go on with.
            try await server.call(
                API.submitExcuse, NagPath(nagID: earlier.id), ExcuseCreate(text: "I forgot"), as: scene.parent)
            _ = try await scene.update(earlier, NagUpdate(category: .meds), as: scene.friend)
            server.clock.advance(by: .seconds(1))
            let nag = try await scene.nag(from: scene.friend, to: scene.family.child)
            try await server.expectOnly(audit: ["connection.changed"], events: ["nag_cancelled"], stamped: 1) {
                try await server.setCaregiver(
                    false, scene.connection, as: byParent ? scene.parent : scene.friend)
            }
            #expect(try await scene.statuses() == ["open", Self.cancelled])
            try await expectRefusal(403) { try await scene.nag(from: scene.friend, to: scene.family.child) }
            _ = try await scene.nag(from: scene.friend, to: scene.parent)
            // Their history stays the child's and its guardians'.
            #expect(try await scene.get(nag, as: scene.family.child).status == .cancelledRelationshipChange)
            #expect(try await server.reconcile(scene.chain).findings.map(\.description) == [])
        }
    }

    @Test("more open nags than one act can cancel are cancelled in acts before it")
    func many() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            let nag = try await scene.nag(from: scene.friend, to: scene.parent)
            for _ in 0..<3 {
                server.clock.advance(by: .seconds(2))
                try await server.commit(
                    [
                        """
                        INSERT INTO nags (family_id, connection_id, id, creator_id, recipient_id, due_at, category, done_definition,
                                          status, created_at, cycle_started_at, sync_seq, sync_ts)
                        SELECT l.family_id, n.connection_id, gen_random_uuid(), n.creator_id, n.recipient_id, n.due_at, n.category,
                               n.done_definition, 'open', n.created_at, n.created_at, l.seq, l.ts
                        FROM ledger_stamp l, nags n, generate_series(1, 150) WHERE n.id = \(nag.id)
                        """
                    ], in: scene.chain)
            }
            try await server.revoke(scene.connection, as: scene.parent)
            let open = try await server.rows("SELECT id FROM nags WHERE status = 'open'")
            #expect(open.isEmpty)
            let kinds = try await server.audit(scene.chain).suffix(3).map(\.kind)
            #expect(kinds == ["nags.cancelled", "nags.cancelled", "connection.revoked"])
        }
    }

    enum Departure: String, CaseIterable, Sendable {
        case childRemoved, childDeleted, guardianLeaves, guardianRemoved
    }

    @Test(
        "a child that leaves, or whose sharing guardian leaves, has no open nag of the connection",
        arguments: Departure.allCases)
    func departure(_ departure: Departure) async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let family = scene.family
            let sibling = try await server.member("Kit", .child, of: family)
            for child in [family.child, sibling] {
                _ = try await scene.nag(from: scene.friend, to: child)
                server.clock.advance(by: .seconds(1))
            }
            let home = try await server.nag(from: family.secondGuardian, to: sibling)
            let other = try await server.family().guardian
            var order = server.order(for: scene.parent, in: nil)
            order.connectionID = try await server.connect(other, scene.parent).id
            let toParent = try await server.call(
                API.createNag, order, as: other, headers: TestServer.newIdempotencyHeader)
            func path(_ person: TestPerson) -> MemberPath { MemberPath(familyID: family.id, userID: person.id) }
            switch departure {
            case .childRemoved:
                try await server.expectOnly(
                    audit: ["nags.cancelled", "member.removed"], events: ["nag_cancelled"], stamped: 1
                ) {
                    try await server.call(API.removeMember, path(family.child), as: family.secondGuardian)
                }
            case .childDeleted:
                try await server.expectOnly(
                    audit: ["nags.cancelled", "account.deleted"], events: ["nag_cancelled"], stamped: 1
                ) {
                    _ = try await server.call(
                        API.deleteAccount, AccountPath(userID: family.child.id), as: family.secondGuardian)
                }
            case .guardianLeaves:
                try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: scene.parent)
            case .guardianRemoved:
                try await server.call(API.removeMember, path(scene.parent), as: family.secondGuardian)
            }
            // The adults' own nags over the connection do not depend on a membership.
            let expected =
                departure == .childRemoved || departure == .childDeleted
                ? [Self.cancelled, "open", "open"] : [Self.cancelled, Self.cancelled, "open"]
            #expect(try await scene.statuses() == expected)
            #expect(try await scene.get(toParent, as: scene.parent).status == .open)
            let entry = try #require(try await server.audit(scene.chain).last)
            #expect(entry.kind == "nags.cancelled" && entry.actor == SystemActor.scheduler.retyped())
            try await expectRefusal(403) { try await scene.nag(from: scene.friend, to: family.child) }
            // The family's own stay, and the caregiver no longer belongs to the guardian's history.
            #expect(try await scene.get(home, as: family.secondGuardian).status == .open)
            #expect(try await server.reconcile(scene.chain).findings.map(\.description) == [])
            if departure == .guardianLeaves {
                try await expectRefusal(404) { try await scene.get(home, as: scene.parent) }
                #expect(try await scene.list(as: scene.parent) == [toParent.id])
            }
        }
    }

    @Test("a block between two people cancels the open nags between them over connections", arguments: 0..<4)
    func block(number: Int) async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: number >= 2)
            let recipient = number >= 2 ? scene.family.child : scene.parent
            _ = try await scene.nag(from: scene.friend, to: recipient)
            let pairs = [
                (scene.friend, scene.parent), (scene.parent, scene.friend), (scene.family.child, scene.friend),
                (scene.parent, scene.friend),
            ]
            let (blocker, blocked) = pairs[number]
            let block = try await server.expectOnly(
                audit: ["block.created", "nags.cancelled"], events: ["nag_cancelled"], stamped: 1
            ) {
                try await scene.block(blocked, as: blocker)
            }
            #expect(try await scene.statuses() == [Self.cancelled])
            // Nobody learns from the entry who blocked whom.
            let entry = try #require(try await server.audit(scene.chain).last)
            #expect(entry.actor == SystemActor.scheduler.retyped() && entry.details == ["cancelled_nags": "1"])
            let lifted = BlockUpdate(state: .lifted)
            try await server.call(API.updateBlock, BlockPath(blockID: block.id), lifted, as: blocker)
            _ = try await scene.nag(from: scene.friend, to: recipient)
            try await server.call(
                API.updateBlock, BlockPath(blockID: block.id), BlockUpdate(state: .active), as: blocker)
            #expect(try await scene.statuses() == [Self.cancelled, Self.cancelled])
            #expect(try await server.reconcile(scene.chain).findings.map(\.description) == [])
        }
    }

    @Test("deleting an account revokes its connections and cancels their nags")
    func deletedAccount() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            let connection = try await server.connect(nell, family.guardian, caregiver: true)
            var order = server.order(for: family.child, in: nil)
            order.connectionID = connection.id
            let nag = try await server.call(API.createNag, order, as: nell)
            _ = try await server.call(API.deleteAccount, AccountPath(userID: nell.id), as: nell)
            let seen = try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.child)
            #expect(seen.status == .cancelledRelationshipChange)
        }
    }

    enum Ending: String, CaseIterable, Sendable {
        case revoke, caregiver, childRemoved, guardianLeaves, blockByCreator, blockByChild
    }

    @Test("when the end of a connection and new nags race, no nag is left open", arguments: Ending.allCases)
    func atOnce(_ ending: Ending) async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let family = scene.family
            // The child may block somebody who has nagged it.
            let first = try await scene.nag(from: scene.friend, to: family.child)
            _ = try await server.complete(first.id, as: family.child)
            try await server.withPeers(1) { peers in
                peers[0].clock.set(to: server.clock.now())
                _ = try await together(outcomesOf: 8) { number in
                    guard number == 3 else {
                        _ = try await (number % 2 == 0 ? server : peers[0]).call(
                            API.createNag, scene.order(for: family.child), as: scene.friend)
                        return
                    }
                    switch ending {
                    case .revoke: try await peers[0].revoke(scene.connection, as: scene.parent)
                    case .caregiver: try await peers[0].setCaregiver(false, scene.connection, as: scene.parent)
                    case .childRemoved:
                        try await peers[0].call(
                            API.removeMember, MemberPath(familyID: family.id, userID: family.child.id),
                            as: family.secondGuardian)
                    case .guardianLeaves:
                        try await peers[0].call(API.leaveFamily, FamilyPath(familyID: family.id), as: scene.parent)
                    case .blockByCreator:
                        _ = try await peers[0].call(
                            API.createBlock, BlockCreate(targetID: scene.parent.id), as: scene.friend)
                    case .blockByChild:
                        _ = try await peers[0].call(
                            API.createBlock, BlockCreate(targetID: scene.friend.id), as: family.child)
                    }
                }
            }
            #expect(try await !scene.statuses().contains("open"))
            try await expectRefusal(403) { try await scene.nag(from: scene.friend, to: family.child) }
            #expect(try await server.reconcile(scene.chain).findings.map(\.description) == [])
        }
    }
}
