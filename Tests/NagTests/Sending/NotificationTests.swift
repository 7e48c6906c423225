import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Notifications of changes of a nag")
struct NotificationTests {
    private static func withdraw(_ nag: NagResponse, as person: TestPerson, on server: TestServer) async throws {
        try await server.call(API.withdrawNag, NagPath(nagID: nag.id), as: person)
    }

    private static func dropped(_ server: TestServer) async throws -> [String] {
        try await server.deliveryRows().map { $0.failure ?? $0.status }
    }

    @Test("the recipient is notified of a new nag and its creator of its completion, each once")
    func createdAndCompleted() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                for person in [family.participant, family.child] { try await server.registerDevice(as: person) }
                let nag = try await server.nag(from: family.participant, to: family.child)
                #expect(try await server.notified(of: nag.id) == ["Cleo nag_created push pending"])
                try await server.withWorker(provider.options()) { worker in
                    try await worker.run()
                    server.clock.advance(by: .seconds(1))
                    async let first = server.complete(nag.id, as: family.child)
                    async let second = server.complete(nag.id, as: family.child)
                    _ = try await (first, second)
                    _ = try await server.complete(nag.id, as: family.child)
                    try await worker.run()
                }
                #expect(
                    try await server.notified(of: nag.id) == [
                        "Cleo nag_created push sent", "\(family.participant.name) nag_completed push sent",
                    ])
                let received = try await provider.received()
                #expect(received.map { $0["body"]?["title"]?.stringValue } == ["New nag", "Done"])
                #expect(
                    received.map { $0["body"]?["target_user_id"]?.stringValue } == [
                        family.child.id.description, family.participant.id.description,
                    ])
                let list = try await server.call(
                    API.listDeliveries, DeliveryListQuery(nagID: nag.id), as: family.participant)
                #expect(list.items.map(\.status) == [.sent, .sent])
            }
        }
    }

    @Test("nobody is notified of their own act, of a refused one, or without a device")
    func nobody() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.registerDevice(as: family.participant)
            let own = try await server.nag(from: family.participant, to: family.participant)
            _ = try await server.complete(own.id, as: family.participant)
            let other = try await server.nag(from: family.participant, to: family.participant)
            try await Self.withdraw(other, as: family.participant, on: server)
            let unreachable = try await server.nag(from: family.participant, to: family.child)
            for person in [family.guardian, family.child] {
                try await expectRefusal(403) { try await Self.withdraw(unreachable, as: person, on: server) }
            }
            try await expectRefusal(403) { _ = try await server.complete(unreachable.id, as: family.participant) }
            try await Self.withdraw(unreachable, as: family.participant, on: server)
            #expect(try await server.deliveryRows().isEmpty)
        }
    }

    @Test("a text message goes only to somebody who prefers it and has consented")
    func channel() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.prefer(["delivery_channel": "sms"], as: family.guardian)
            let before = try await server.nag(from: family.participant, to: family.guardian)
            #expect(try await server.notified(of: before.id).isEmpty)
            try await server.grantSMS(to: family.guardian)
            let after = try await server.nag(from: family.participant, to: family.guardian)
            #expect(try await server.notified(of: after.id) == ["\(family.guardian.name) nag_created sms pending"])
            // Consent without the wish.
            try await server.prefer(["delivery_channel": "push"], as: family.guardian)
            try await server.registerDevice(as: family.guardian)
            let last = try await server.nag(from: family.participant, to: family.guardian)
            #expect(try await server.notified(of: last.id) == ["\(family.guardian.name) nag_created push pending"])
        }
    }

    @Test("a withdrawal is notified to those who were notified of the nag, and to nobody else")
    func withdrawn() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.registerDevice(as: family.child)
            try await server.withWorker(DeliveryOptions()) { worker in
                let told = try await server.nag(from: family.guardian, to: family.child)
                try await worker.run()
                server.clock.advance(by: .seconds(1))
                try await Self.withdraw(told, as: family.guardian, on: server)
                try await Self.withdraw(told, as: family.guardian, on: server)
                try await worker.run()
                #expect(
                    try await server.notified(of: told.id) == [
                        "Cleo nag_created push sent", "Cleo nag_withdrawn push sent",
                    ])
                try await server.sql("DELETE FROM deliveries")

                let untold = try await server.nag(from: family.guardian, to: family.child)
                server.clock.advance(by: .seconds(1))
                try await Self.withdraw(untold, as: family.guardian, on: server)
                try await worker.run()
                let reasons = try await Self.dropped(server)
                #expect(reasons.count == 2 && reasons.last == "not_told")
                #expect(["superseded", "nag_closed"].contains(reasons.first))
                try await server.sql("DELETE FROM deliveries")

                let failed = try await server.nag(from: family.guardian, to: family.child)
                try await server.sql("UPDATE deliveries SET status = 'failed', next_attempt = NULL")
                try await Self.withdraw(failed, as: family.guardian, on: server)
                #expect(try await server.notified(of: failed.id) == ["Cleo nag_created push failed"])
            }
        }
    }

    @Test("guardians withdraw the nags of a member who has left, and that person is not notified")
    func withdrawnAfterCreator() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.registerDevice(as: family.child)
            try await server.registerDevice(as: family.participant)
            let nag = try await server.nag(from: family.participant, to: family.child)
            try await server.withWorker(DeliveryOptions()) { worker in
                try await worker.run()
                server.clock.advance(by: .seconds(1))
                let refusal = try await expectRefusal(403) {
                    try await Self.withdraw(nag, as: family.guardian, on: server)
                }
                #expect(refusal.reason == "creator_only")
                try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: family.participant)
                for (person, status) in [(family.child, 403), (family.participant, 404)] {
                    try await expectRefusal(status) { try await Self.withdraw(nag, as: person, on: server) }
                }
                try await server.expectOnly(audit: ["nag.withdrawn"], events: ["nag_withdrawn"], stamped: 1) {
                    try await Self.withdraw(nag, as: family.secondGuardian, on: server)
                }
                try await worker.run()
                #expect(
                    try await server.notified(of: nag.id) == [
                        "Cleo nag_created push sent", "Cleo nag_withdrawn push sent",
                    ])
            }
        }
    }

    @Test("a withdrawal waits for a message of the nag that may be under way")
    func underWay() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.registerDevice(as: family.child)
            let nag = try await server.nag(from: family.guardian, to: family.child)
            // Another worker has taken it.
            let leaseEnd = server.clock.now() + ChannelSender.lease
            try await server.sql("UPDATE deliveries SET attempts = 1, next_attempt = \(leaseEnd)")
            server.clock.advance(by: .seconds(1))
            try await Self.withdraw(nag, as: family.guardian, on: server)
            try await server.withWorker(DeliveryOptions()) { worker in
                try await worker.run()
                #expect(try await server.deliveryRows().map(\.nextAttempt) == [leaseEnd, leaseEnd])
                #expect(worker.counts() == [0, 0, 0, 0, 1])
                try await server.sql("UPDATE deliveries SET status = 'sent', next_attempt = NULL WHERE attempts = 1")
                server.clock.set(to: leaseEnd)
                try await worker.run()
            }
            #expect(try await server.deliveryRows().map(\.status) == ["sent", "sent"])
        }
    }

    @Test("a completion's notification waits for the creator's quiet hours, and is dropped after a block")
    func atSending() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.registerDevice(as: family.participant)
            // 11:00 in New York; quiet until 18:30.
            try await server.prefer(
                ["quiet_hours_enabled": true, "quiet_hours_start": "10:00", "quiet_hours_end": "18:30"],
                as: family.participant)
            let nag = try await server.nag(from: family.participant, to: family.child)
            _ = try await server.complete(nag.id, as: family.child)
            try await server.withWorker(DeliveryOptions()) { worker in
                try await worker.run()
                #expect(
                    try await server.deliveryRows().map(\.nextAttempt) == [ManualClock.start + .minutes(450)])
                try await server.call(API.createBlock, BlockCreate(targetID: family.participant.id), as: family.child)
                server.clock.set(to: ManualClock.start + .minutes(450))
                try await worker.run()
            }
            #expect(try await Self.dropped(server) == ["blocked"])
        }
    }

    @Test("notifications over a connection are sent until it ends")
    func connection() async throws {
        try await TestServer.run { server in
            let scene = try await ConnectionScene(server, caregiver: true)
            for person in [scene.friend, scene.family.child] { try await server.registerDevice(as: person) }
            let nag = try await scene.nag(from: scene.friend, to: scene.family.child)
            #expect(try await server.notified(of: nag.id) == ["Cleo nag_created push pending"])
            try await server.withWorker(DeliveryOptions()) { worker in
                try await worker.run()
                server.clock.advance(by: .seconds(1))
                _ = try await server.complete(nag.id, as: scene.family.child)
                try await server.revoke(scene.connection, as: scene.friend)
                try await worker.run()
            }
            #expect(try await Self.dropped(server) == ["sent", "not_a_member"])
            #expect(try await server.reconcile(scene.chain).findings.map(\.description) == [])
        }
    }
}
