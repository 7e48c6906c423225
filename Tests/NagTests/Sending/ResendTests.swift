import Contract
import Domain
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Administrators' review of deliveries")
struct ResendTests {
    private static func list(
        _ status: DeliveryStatus?, _ page: PageRequest = PageRequest(), as person: TestPerson, on server: TestServer
    ) async throws -> Page<DeliveryReview> {
        try await server.call(API.listDeliveryReviews, DeliveryReviewQuery(status: status, page: page), as: person)
    }

    private static func resend(
        _ id: DeliveryID, as person: TestPerson, on server: TestServer
    ) async throws -> DeliveryReview {
        try await server.call(API.resendDelivery, DeliveryPath(deliveryID: id), as: person)
    }

    @Test("an administrator sees a dead letter and sends it again once, and it arrives")
    func resend() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                let admin = try await server.admin()
                try await server.deliveries(1, to: family.child)
                try await server.withWorker(provider.options("fail422")) { try await $0.run() }
                let page = try await server.expectOnly(audit: ["admin.read"]) {
                    try await Self.list(.failed, as: admin, on: server)
                }
                let dead = try #require(page.items.first)
                #expect(page.total == 1 && dead.failure == "status 422" && dead.attempts == 1 && !dead.isDropped)
                #expect(dead.userID == family.child.id && dead.nextAttemptAt == nil)
                let pending = try await server.expectOnly(audit: ["delivery.resent"]) {
                    try await Self.resend(dead.id, as: admin, on: server)
                }
                #expect(pending.status == .pending && pending.attempts == 0 && pending.failure == nil)
                #expect(pending.nextAttemptAt == server.clock.now())
                let entry = try #require(try await server.audit(.outside).last)
                #expect(entry.subject == family.child.pseudonym && entry.resource == dead.id.retyped())
                #expect(entry.details == ["channel": "push", "failure": "status 422"])
                try await server.expectOnly {
                    try await expectRefusal(409) { try await Self.resend(dead.id, as: admin, on: server) }
                    let unknown: DeliveryID = server.random.identifier(at: server.clock.now())
                    try await expectRefusal(404) { try await Self.resend(unknown, as: admin, on: server) }
                }
                try await server.withWorker(provider.options()) { try await $0.run() }
                #expect(try await provider.received().count == 2)
                try await expectRefusal(409) { try await Self.resend(dead.id, as: admin, on: server) }
                #expect(try await Self.list(.failed, as: admin, on: server).total == 0)
                let all = try await Self.list(nil, PageRequest(limit: 1), as: admin, on: server)
                #expect(all.items.map(\.status) == [.sent] && all.total == 1)
            }
        }
    }

    @Test("dropped deliveries and dead letters are separate lists")
    func dropped() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let admin = try await server.admin()
            try await server.deliveries(3, to: family.child)
            let ids = try await server.deliveryRows().map(\.id)
            try await server.sql("UPDATE deliveries SET status = 'failed' WHERE id <> \(ids[2])")
            try await server.sql("UPDATE deliveries SET dropped = true, failure = 'superseded' WHERE id = \(ids[0])")
            for (status, isDropped, expected) in [
                (DeliveryStatus.failed, true, [ids[0]]), (.failed, false, [ids[1]]), (nil, true, [ids[0]]),
                (nil, false, [ids[1], ids[2]]), (.sent, true, []),
            ] as [(DeliveryStatus?, Bool, [DeliveryID])] {
                let query = DeliveryReviewQuery(status: status, isDropped: isDropped)
                let page = try await server.call(API.listDeliveryReviews, query, as: admin)
                #expect(Set(page.items.map(\.id)) == Set(expected) && page.total == expected.count)
                #expect(try await server.audit(.outside).last?.details["dropped"] == "\(isDropped)")
            }
        }
    }

    @Test("nobody but administrators lists or resends deliveries, and a member's attempt is an audit entry")
    func refused() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.deliveries(1, to: family.child)
            try await server.sql("UPDATE deliveries SET status = 'failed'")
            let id = try #require(try await server.deliveryRows().first?.id)
            for person in family.members {
                try await server.expectOnly(audit: ["delivery.review.denied"]) {
                    try await expectRefusal(403) { try await Self.list(.failed, as: person, on: server) }
                }
                // A repeated refusal is counted, not written again.
                try await server.expectOnly {
                    try await expectRefusal(403) { try await Self.resend(id, as: person, on: server) }
                }
            }
            let admin = try await server.admin()
            try await server.sql("UPDATE admins SET revoked_at = now() WHERE user_id = \(admin.id)")
            try await expectRefusal(403) { try await Self.resend(id, as: admin, on: server) }
            #expect(try await server.deliveryRows().map(\.status) == ["failed"])
        }
    }
}
