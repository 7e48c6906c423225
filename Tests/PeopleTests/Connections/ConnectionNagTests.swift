import Audit
import Contract
import Domain
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Nags of connections")
struct ConnectionNagTests {
    @Test(
        "a nag to the other party has a connection and no family; it is in the connection's chain and in no family's feed"
    )
    func answer() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            let (one, other) = (scene.parent, scene.friend)
            let nag = try await server.expectOnly(audit: ["nag.created"], events: ["nag_created"], stamped: 1) {
                try await scene.nag(from: other, to: one)
            }
            #expect(nag.familyID == nil && nag.connectionID == scene.connection.id)
            #expect(nag.creatorDisplayName == "Stan" && nag.recipientDisplayName == "Gia")
            let entry = try #require(try await server.audit(scene.chain).last)
            #expect(entry.kind == "nag.created" && entry.actor == other.pseudonym && entry.subject == one.pseudonym)
            for person in [one, other] {
                #expect(try await scene.get(nag, as: person) == nag)
                #expect(try await scene.list(as: person) == [nag.id])
                #expect(
                    try await scene.list(NagListQuery(connectionID: scene.connection.id), as: person) == [nag.id])
                // The only list of the web client.
                let family = try #require(person.familyID)
                #expect(try await scene.list(NagListQuery(familyID: family), as: person) == [nag.id])
                let page = try await server.call(API.syncEvents, SyncQuery(familyID: family), as: person)
                #expect(page.nags.isEmpty && page.nagEvents.isEmpty)
            }
            for person in [scene.family.secondGuardian, scene.family.participant, scene.family.child] {
                try await expectRefusal(404) { try await scene.get(nag, as: person) }
                #expect(try await scene.list(as: person).isEmpty)
                #expect(try await scene.list(NagListQuery(connectionID: scene.connection.id), as: person).isEmpty)
            }
            // The connection's id is no family's.
            for person in [one, other] {
                try await expectRefusal(403) {
                    try await scene.list(NagListQuery(familyID: scene.chain), as: person)
                }
                try await expectRefusal(403) {
                    try await server.call(API.syncEvents, SyncQuery(familyID: scene.chain), as: person)
                }
            }
        }
    }

    @Test("without a filter the list has the family's and the connections' nags")
    func list() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            let own = try await server.nag(from: scene.parent, to: scene.family.child)
            server.clock.advance(by: .seconds(1))
            let remote = try await scene.nag(from: scene.friend, to: scene.parent)
            #expect(try await scene.list(as: scene.parent) == [remote.id, own.id])
            #expect(try await scene.list(as: scene.friend) == [remote.id])
            #expect(try await scene.list(as: scene.family.child) == [own.id])
            #expect(try await scene.list(NagListQuery(status: .completed), as: scene.parent).isEmpty)
            try await server.call(API.dismissNag, NagPath(nagID: remote.id), as: scene.parent)
            #expect(try await scene.list(NagListQuery(excludeDismissed: true), as: scene.parent) == [own.id])
            #expect(try await scene.list(NagListQuery(excludeDismissed: true), as: scene.friend) == [remote.id])
            let both = NagListQuery(familyID: scene.family.id, connectionID: scene.connection.id)
            #expect(try await scene.list(both, as: scene.parent).isEmpty)
        }
    }

    @Test("a friend may nag the other party and nobody else")
    func friend() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            for (creator, recipient) in [
                (scene.friend, scene.family.child), (scene.friend, scene.family.secondGuardian),
                (scene.friend, scene.friend), (scene.friend, scene.family.removed), (scene.parent, scene.family.child),
            ] {
                let refusal = try await server.expectOnly(audit: ["nag.create.denied"]) {
                    try await expectRefusal(403) { try await scene.nag(from: creator, to: recipient) }
                }
                #expect(refusal.code == .policyForbidden && refusal.reason == "connection_other_party_only")
                #expect(try await server.audit(scene.chain).last?.subject == nil)
                try await server.sql("DELETE FROM refusal_counts")
            }
            for person in [scene.family.secondGuardian, scene.family.child, scene.family.participant] {
                try await server.expectOnly {
                    try await expectRefusal(404) { try await scene.nag(from: person, to: scene.parent) }
                }
            }
            var order = scene.order(for: scene.parent)
            order.connectionID = scene.family.id.retyped()
            try await expectRefusal(404) { try await server.call(API.createNag, order, as: scene.friend) }
            order.familyID = scene.family.otherFamilyID
            order.connectionID = scene.connection.id
            try await server.expectOnly {
                try await server.expect(.refusal(.validationFailed, "connection_id")) {
                    try await server.call(API.createNag, order, as: scene.friend)
                }
            }
            order.familyID = nil
            order.policyID = server.random.identifier(at: server.clock.now())
            try await server.expect(.refusal(.validationFailed, "policy_id")) {
                try await server.call(API.createNag, order, as: scene.friend)
            }
        }
    }

    @Test("a caregiver may nag the children that the other party shares, and not the other party")
    func caregiver() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            let nag = try await scene.nag(from: scene.friend, to: scene.family.child)
            #expect(nag.connectionID == scene.connection.id && nag.recipientDisplayName == "Cleo")
            let own = try await server.member("Kit", .child, of: scene.family)
            for (creator, recipient) in [
                (scene.friend, scene.parent), (scene.parent, scene.friend), (scene.friend, scene.family.participant),
                (scene.parent, scene.family.child), (scene.parent, own),
            ] {
                let refusal = try await expectRefusal(403) { try await scene.nag(from: creator, to: recipient) }
                #expect(refusal.code == .policyForbidden && refusal.reason == "caregiver_children_only")
            }
            // Those who may read it: its creator, the child, and the guardians of the child's family.
            let readers = [scene.friend, scene.family.child, scene.parent, scene.family.secondGuardian]
            for person in readers {
                #expect(try await scene.get(nag, as: person) == nag)
                #expect(try await scene.list(as: person) == [nag.id])
                // The only list of the web client.
                let family = person.id == scene.friend.id ? scene.family.otherFamilyID : scene.family.id
                #expect(try await scene.list(NagListQuery(familyID: family), as: person) == [nag.id])
                #expect(
                    try await scene.list(NagListQuery(connectionID: scene.connection.id), as: person) == [nag.id])
                #expect(
                    try await server.call(API.getEscalation, NagPath(nagID: nag.id), as: person).nagID == nag.id)
                _ = try await server.call(API.listExcuses, ExcuseListQuery(nagID: nag.id), as: person)
            }
            for person in [scene.family.participant, own, scene.family.removed] {
                try await expectRefusal(404) { try await scene.get(nag, as: person) }
                #expect(try await scene.list(as: person).isEmpty)
            }
            for person in [scene.family.participant, own] {
                #expect(try await scene.list(NagListQuery(familyID: scene.family.id), as: person).isEmpty)
                try await expectRefusal(404) {
                    try await server.call(API.withdrawNag, NagPath(nagID: nag.id), as: person)
                }
            }
            // Neither family's id opens the list of the other, nor does a former member's.
            for (person, family) in [
                (scene.friend, scene.family.id), (scene.parent, scene.family.otherFamilyID),
                (scene.family.removed, scene.family.id),
            ] {
                let refusal = try await expectRefusal(403) {
                    try await scene.list(NagListQuery(familyID: family), as: person)
                }
                #expect(refusal.code == .authorizationDenied)
            }
            // The guardians read and may withdraw it; they change nothing and write nothing.
            for guardian in [scene.parent, scene.family.secondGuardian] {
                let changes = NagUpdate(category: .homework)
                try await expectRefusal(403) { try await scene.update(nag, changes, as: guardian) }
                try await expectRefusal(403) { try await server.complete(nag.id, as: guardian) }
                _ = try await server.call(API.listDeliveries, DeliveryListQuery(nagID: nag.id), as: guardian)
            }
            try await expectRefusal(403) {
                try await server.call(API.listDeliveries, DeliveryListQuery(nagID: nag.id), as: scene.family.child)
            }
            try await expectRefusal(403) {
                try await server.call(API.withdrawNag, NagPath(nagID: nag.id), as: scene.family.child)
            }
            try await server.registerDevice(as: scene.friend)
            let withdrawn = try await server.expectOnly(audit: ["nag.withdrawn"], events: ["nag_withdrawn"], stamped: 1)
            {
                try await server.call(
                    API.withdrawNag, NagPath(nagID: nag.id), as: scene.family.secondGuardian)
            }
            #expect(withdrawn.status == .withdrawn)
            try await server.withWorker(DeliveryOptions()) { try await $0.run() }
            #expect(
                try await server.notified(of: nag.id) == ["\(scene.friend.name) nag_withdrawn push sent"])
            // A nag of before is nobody's to withdraw once the child is another family's.
            let last = try await scene.nag(from: scene.friend, to: scene.family.child)
            try await server.revoke(scene.connection, as: scene.friend)
            try await expectRefusal(409) {
                try await server.call(API.withdrawNag, NagPath(nagID: last.id), as: scene.parent)
            }
        }
    }

    @Test("the party who shares children may not nag the other party's")
    func unsharedChildren() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            // Only the parent shares; the friend's own children are not for the parent.
            let (child, now) = (try await server.account("Tim"), server.clock.now())
            try await server.sql(
                """
                INSERT INTO memberships (family_id, user_id, role, status, joined_at)
                VALUES (\(scene.family.otherFamilyID), \(child.id), 'child', 'active', \(now))
                """)
            let refusal = try await expectRefusal(403) { try await scene.nag(from: scene.parent, to: child) }
            #expect(refusal.reason == "caregiver_children_only")
        }
    }

    @Test("recipient and creator of a connection's nag have the same rights as in a family")
    func operations() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            let (creator, recipient) = (scene.friend, scene.parent)
            let nag = try await scene.nag(from: creator, to: recipient)
            let later = nag.dueAt + .minutes(20)
            #expect(try await scene.update(nag, NagUpdate(dueAt: later), as: recipient).dueAt == later)
            let tooLate = NagUpdate(dueAt: later + .minutes(31))
            try await expectRefusal(422) { try await scene.update(nag, tooLate, as: recipient) }
            let promise = NagUpdate(committedAt: .value(later))
            #expect(try await scene.update(nag, promise, as: recipient).committedAt == later)
            #expect(try await scene.update(nag, NagUpdate(category: .meds), as: creator).category == .meds)
            try await expectRefusal(403) { try await scene.update(nag, NagUpdate(category: .other), as: recipient) }
            try await expectRefusal(403) { try await scene.update(nag, promise, as: creator) }
            for endpoint in [API.dismissNag, API.undismissNag] {
                _ = try await server.call(endpoint, NagPath(nagID: nag.id), as: recipient)
                try await expectRefusal(403) { try await server.call(endpoint, NagPath(nagID: nag.id), as: creator) }
            }
            let excuse = try await server.call(
                API.submitExcuse, NagPath(nagID: nag.id), ExcuseCreate(text: "I forgot"), as: recipient)
            for person in [creator, recipient] {
                let page = try await server.call(API.listExcuses, ExcuseListQuery(nagID: nag.id), as: person)
                #expect(page.items.map(\.id) == [excuse.id])
            }
            _ = try await server.call(API.recomputeEscalation, NagPath(nagID: nag.id), as: recipient)
            try await expectRefusal(403) { try await server.complete(nag.id, as: creator) }
            let done = try await server.expectOnly(audit: ["nag.completed"], events: ["nag_completed"], stamped: 1) {
                try await server.complete(nag.id, as: recipient)
            }
            #expect(done.status == .completed && done.familyID == nil && done.connectionID == scene.connection.id)
            try await server.expectOnly { _ = try await server.complete(nag.id, as: recipient) }
            let next = try await scene.nag(from: creator, to: recipient)
            try await expectRefusal(403) {
                try await server.call(API.withdrawNag, NagPath(nagID: next.id), as: recipient)
            }
            let withdrawn = try await server.call(API.withdrawNag, NagPath(nagID: next.id), as: creator)
            #expect(withdrawn.status == .withdrawn)
            #expect(try await server.reconcile(scene.chain).findings.map(\.description) == [])
        }
    }

    @Test("a person without a family is a party like others, but cannot give the consent that an excuse needs")
    func withoutFamily() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            let connection = try await server.connect(family.guardian, nell)
            var order = server.order(for: nell, in: nil)
            order.connectionID = connection.id
            let nag = try await server.call(API.createNag, order, as: family.guardian)
            order = server.order(for: family.guardian, in: nil)
            order.connectionID = connection.id
            let other = try await server.call(API.createNag, order, as: nell)
            let page = try await server.call(API.listNags, NagListQuery(), as: nell)
            #expect(Set(page.items.map(\.id)) == [nag.id, other.id])
            try await expectRefusal(403) {
                try await server.call(
                    API.submitExcuse, NagPath(nagID: nag.id), ExcuseCreate(text: "I forgot"), as: nell)
            }
            let snooze = NagUpdate(dueAt: nag.dueAt + .minutes(10))
            _ = try await server.call(API.updateNag, NagPath(nagID: nag.id), snooze, as: nell)
            #expect(try await server.complete(nag.id, as: nell).status == .completed)
        }
    }

    @Test(
        "a block, a suspended relationship or a common family refuses a nag over a connection", arguments: 0..<4)
    func obstacles(number: Int) async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: number == 3)
            let (one, other, now) = (scene.parent, scene.friend, server.clock.now())
            let reason: String
            switch number {
            case 0, 1:
                _ = try await scene.block(number == 0 ? one : other, as: number == 0 ? other : one)
                reason = "blocked"
            case 2:
                // Both were in a third family once.
                let id: RelationshipID = server.random.identifier(at: now)
                try await server.sql(
                    """
                    INSERT INTO memberships (family_id, user_id, role, status, joined_at, removed_at)
                    VALUES (\(scene.family.id), \(other.id), 'participant', 'removed', \(now), \(now))
                    """)
                try await server.sql(
                    """
                    INSERT INTO relationships (family_id, id, party_a, party_b, status)
                    VALUES (\(scene.family.id), \(id), \(min(one.id, other.id)), \(max(one.id, other.id)), 'suspended')
                    """)
                reason = "relationship_suspended"
            default:
                // The child may block whoever nags it.
                try await expectRefusal(404) { try await scene.block(other, as: scene.family.child) }
                _ = try await scene.nag(from: other, to: scene.family.child)
                _ = try await scene.block(other, as: scene.family.child)
                reason = "blocked"
            }
            let refusal = try await server.expectOnly(audit: ["nag.create.denied"]) {
                try await expectRefusal(403) {
                    try await scene.nag(from: other, to: number == 3 ? scene.family.child : one)
                }
            }
            #expect(refusal.code == .policyForbidden && refusal.reason == reason)
            if number < 3 {
                try await expectRefusal(403) { try await scene.nag(from: one, to: other) }
            }
        }
    }

    @Test("a nag over a connection is refused before it is active and after its end")
    func inactive() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let sent = try await server.invite(family.stranger, as: family.guardian)
            var order = server.order(for: family.stranger, in: nil)
            order.connectionID = sent.id
            let refusal = try await expectRefusal(403) {
                try await server.call(API.createNag, order, as: family.guardian)
            }
            #expect(refusal.reason == "connection_not_active")
            try await server.accept(sent, as: family.stranger)
            let nag = try await server.call(API.createNag, order, as: family.guardian)
            _ = try await server.complete(nag.id, as: family.stranger)
            try await server.revoke(sent, as: family.stranger)
            for (creator, recipient) in [(family.guardian, family.stranger), (family.stranger, family.guardian)] {
                order.recipientID = recipient.id
                let refusal = try await expectRefusal(403) { try await server.call(API.createNag, order, as: creator) }
                #expect(refusal.reason == "connection_not_active")
            }
            // What was, both keep.
            for person in [family.guardian, family.stranger] {
                let seen = try await server.call(API.getNag, NagPath(nagID: nag.id), as: person)
                #expect(seen.status == .completed)
            }
        }
    }

    @Test("a creator nags eight times a day over a connection, by the recipient's day, also at once")
    func cap() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            let outcomes = try await together(outcomesOf: 14) { _ in
                try await scene.nag(from: scene.friend, to: scene.parent)
            }
            #expect(outcomes.count { (try? $0.get()) != nil } == 8)
            let refused = outcomes.compactMap { outcome -> APIError? in
                if case .failure(let error) = outcome { error } else { nil }
            }
            #expect(refused.allSatisfy { $0.reason == "daily_cap_reached" && $0.status == 403 })
            _ = try await scene.nag(from: scene.parent, to: scene.friend)
            // The creator's family may move to another zone; the day is the recipient's.
            try await server.sql(
                "UPDATE families SET time_zone = 'Pacific/Kiritimati' WHERE id = \(scene.family.otherFamilyID)")
            try await expectRefusal(403) { try await scene.nag(from: scene.friend, to: scene.parent) }
            server.clock.advance(by: .days(1))
            _ = try await scene.nag(from: scene.friend, to: scene.parent)
        }
    }

    @Test("a creation that is repeated with its Idempotency-Key gives the same connection nag")
    func once() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            let (order, headers) = (scene.order(for: scene.parent), ["Idempotency-Key": "a"])
            let nag = try await server.call(API.createNag, order, as: scene.friend, headers: headers)
            let again = try await server.expectOnly {
                try await server.call(API.createNag, order, as: scene.friend, headers: headers)
            }
            #expect(again == nag)
        }
    }

    @Test("the database refuses a nag that the connection does not allow, whatever writes it")
    func trigger() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server)
            for recipient in [scene.family.child, scene.family.participant, scene.friend] {
                await #expect(throws: (any Error).self) {
                    try await server.sql(
                        """
                        INSERT INTO nags (family_id, connection_id, id, creator_id, recipient_id, due_at, category,
                                          done_definition, status, created_at, cycle_started_at, sync_seq, sync_ts)
                        VALUES (\(scene.chain), \(scene.chain), gen_random_uuid(), \(scene.friend.id), \(recipient.id), now(),
                                'other', 'ack_only', 'open', now(), now(), 1, now())
                        """)
                }
            }
        }
    }
}
