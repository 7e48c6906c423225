import Contract
import Domain
import JSON
import Postgres
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Devices that move to another account")
struct MovedDeviceTests {
    @Test("the earlier owner of a moved device has an audit entry and a notification on their other devices")
    func moved() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                let first = try await server.register("phone", .ipados, as: family.guardian)
                try await server.register("watch", as: family.guardian)
                let admin = try await server.admin()
                try await server.withWorker(provider.options()) { worker in
                    try await server.expectOnly(audit: ["device.moved", "device.registered"]) {
                        try await server.register("phone", as: family.stranger)
                    }
                    try await worker.run()
                }
                let entry = try #require(try await server.audit(family.id).last)
                #expect(entry.kind == "device.moved" && entry.details == ["platform": "ipados"])
                #expect(entry.actor == family.stranger.pseudonym && entry.subject == family.guardian.pseudonym)
                #expect(entry.resource == first.id.retyped())
                let seen = try await server.call(
                    API.listAuditEvents, AuditQuery(conditions: .init(familyID: family.id)), as: admin)
                #expect(seen.items.contains { $0.kind == "device.moved" })
                let body = try #require(try await provider.received().first?["body"])
                #expect(body["event"] == "device_moved" && body["nag_id"] == .null)
                #expect(body["target_user_id"] == .string(family.guardian.id.description))
                #expect(body["title"] == "A device of yours moved")
                #expect(!body.description.contains("phone"))
                #expect(try await server.tokens(of: family.guardian) == ["watch"])
            }
        }
    }

    @Test("an earlier owner without a family and another device gets a mail")
    func mail() async throws {
        try await TestServer.runWithMail { server, mails in
            let nell = try await server.signUp("nell@example.org")
            let otto = try await server.signUp("otto@example.org")
            for session in [nell, otto] {
                let reply = try await server.call(
                    "POST", "/api/v1/devices", token: session.accessToken.wireText,
                    body: ["platform": "ios", "token": "AbCd01"], headers: ["Idempotency-Key": "one"])
                #expect(reply.status == 201 && reply.json?["token"] == "abcd01")
            }
            // A repeated request moves nothing again.
            let again = try await server.expectOnly {
                try await server.call(
                    "POST", "/api/v1/devices", token: nell.accessToken.wireText,
                    body: ["platform": "ios", "token": "AbCd01"], headers: ["Idempotency-Key": "one"])
            }
            #expect(again.status == 201)
            let back = try await server.call(
                "POST", "/api/v1/devices", token: nell.accessToken.wireText,
                body: ["platform": "ios", "token": "ABCD01"])
            #expect(back.status == 201)
            let all = try await mails(2)
            #expect(all.flatMap(\.to).sorted() == ["nell@example.org", "otto@example.org"])
            #expect(all.allSatisfy { $0.text.contains("Another account has registered a device") })
        }
    }

    @Test("Apple's push tokens are compared without case, and others exactly")
    func spellings() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let device = try await server.register("00AAff", as: family.guardian)
            #expect(device.token == Secret("00aaff"))
            #expect(try await server.expectOnly { try await server.register("00aaFF", as: family.guardian) } == device)
            try await server.expectOnly(audit: ["device.moved", "device.registered"]) {
                try await server.register("00AAFF", as: family.child)
            }
            #expect(try await server.storedTokens() == ["00aaff"])
            for token in ["Phone", "phone", "ＡＢ", "ａｂ"] { try await server.register(token, as: family.child) }
            #expect(try await server.storedTokens().count == 5)
        }
    }

    @Test("a person at their limit of registrations or without an open session takes over no device")
    func refused() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.register("phone", as: family.guardian)
            try await server.sql(
                """
                INSERT INTO daily_counts (user_id, act, day_started, count)
                VALUES (\(family.stranger.id), 'device_registrations', \(server.clock.now()), 50)
                """)
            try await server.expectOnly {
                try await expectRefusal(429) { try await server.register("phone", as: family.stranger) }
            }
            try await server.sql("UPDATE sessions SET revoked_at = now() WHERE id = \(family.child.session)")
            try await server.expectOnly {
                try await expectRefusal(401) { try await server.register("phone", as: family.child) }
            }
            #expect(try await server.tokens(of: family.guardian) == ["phone"])
        }
    }

    @Test("a push token of a deleted account can be registered, and nobody is notified")
    func deleted() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nell = try await server.account()
            try await server.register("phone", as: nell)
            _ = try await server.call(API.deleteAccount, AccountPath(userID: nell.id), as: nell)
            try await server.expectOnly(audit: ["device.registered"]) {
                try await server.register("phone", as: family.stranger)
            }
        }
    }

    @Test("of two people who register one token in turn, each move is one entry for the one who lost it")
    func again() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let people = [family.guardian, family.stranger]
            for _ in 0..<4 {
                _ = try await together(6) { number in try await server.register("phone", as: people[number % 2]) }
            }
            let kinds = try await (server.audit(family.id) + server.audit(family.otherFamilyID)).map(\.kind)
            #expect(
                kinds.count { $0 == "device.registered" } == 1 + kinds.count { $0 == "device.moved" }, "\(kinds)")
            #expect(try await server.storedTokens() == ["phone"])
        }
    }
}
