import Contract
import Domain
import Foundation
import HTTPClient
import JSON
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

/// Against a push service and browser that are not ours, which check each token and decrypt each message with a library of
/// their own.
@Suite("Push messages to browsers")
struct WebPushTests {
    private static func webPush(_ provider: TestHTTPServer) throws -> DeliveryOptions.WebPush {
        let key = try String(contentsOfFile: provider.apnsKey, encoding: .utf8)
        var push = try #require(DeliveryOptions.WebPush(key: key, contact: "mailto:operator@example.org"))
        push.networks = NetworkGuard(allowing: [try #require(NetworkBlock("127.0.0.0/8"))])
        return push
    }

    /// Runs `body` with a push service, a server that knows its key, and what a worker sends with.
    private static func run(
        isOfActs: Bool = false,
        _ body: @Sendable (TestHTTPServer, TestServer, DeliveryOptions) async throws -> Void
    ) async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { provider in
            let webPush = try webPush(provider)
            var options = DeliveryOptions()
            options.webPush = webPush
            options.authorities = provider.authority
            let sending = options
            try await TestServer.run(configure: { $0.deliveries.webPush = webPush }, isOfActs: isOfActs) { server in
                try await body(provider, server, sending)
            }
        }
    }

    private static func subscription(_ path: String, _ provider: TestHTTPServer) async throws -> WebPushSubscription {
        let body = try await provider.content(of: "/webpush")
        let keys = try JSONValue(parsing: body.span)
        let point = try #require(keys["p256dh"]?.stringValue)
        let auth = try #require(keys["auth"]?.stringValue)
        return WebPushSubscription(
            endpoint: "\(provider.url())/webpush/\(path)",
            keys: WebPushSubscriptionKeys(p256dh: point, auth: Secret(auth)))
    }

    private static func register(
        _ paths: [String], as person: TestPerson, on server: TestServer, _ provider: TestHTTPServer
    ) async throws {
        for path in paths {
            let device = DeviceTokenRegister(try await subscription(path, provider))
            try await server.call(API.registerDevice, device, as: person)
        }
    }

    @Test("the encryption gives the bytes of RFC 8291's example")
    func example() throws {
        func decoded(_ text: String) throws -> [UInt8] { try #require(bytes(base64URL: text[...])) }
        let (point, auth) = (
            try decoded("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
            try decoded("BTBZMqHH6r4Tts7J_aSIgg")
        )
        let keys = try #require(WebPushKeys(p256dh: point, auth: auth))
        let body = WebPushEncryption.encryptedBody(
            Array("When I grow up, I want to be a watermelon".utf8) + [2], for: keys,
            privateKey: try decoded("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
            salt: try decoded("DGv6ra1nlYgDCS1FRnbzlw"))
        #expect(
            body.map(base64URL) == """
                DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A\
                _yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
                """)
    }

    @Test("a browser decrypts the message and its reminder; the service learns the server's contact and no words")
    func message() async throws {
        try await Self.run(isOfActs: true) { provider, server, options in
            let family = try await server.family()
            let me = try await server.call(API.getMe, NoParameters(), as: family.participant)
            #expect(me.webPushKey == options.webPush?.publicKey && me.webPushKey?.utf8.count == 87)
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            try await Self.register(["one"], as: family.participant, on: server, provider)
            try await server.withScheduler { rounds in
                server.clock.set(to: nag.dueAt)
                try await rounds.run()
                try await server.withWorker(options) { worker in
                    try await worker.run()
                    server.clock.advance(by: .minutes(15))
                    try await worker.run()
                }
            }
            let received = try await provider.received()
            let (first, second) = (try #require(received.first), try #require(received.last))
            #expect(received.count == 2)
            #expect(first["body"]?["title"] == "Overdue" && first["body"]?["body"] == .string(nag.description ?? ""))
            #expect(first["body"]?["nag_id"] == .string(nag.id.description))
            #expect(first["body"]?["target_user_id"] == .string(family.participant.id.description))
            #expect(second["body"]?["repeat"] == true && first["body"]?["repeat"] == nil)
            #expect(first["body"]?["tag"] == second["body"]?["tag"])
            #expect(first["headers"]?["topic"] == second["headers"]?["topic"])
            #expect(first["headers"]?["ttl"] == "86400")
            // 86 bytes of head, a multiple of 1,024, the octet that ends the text, and the tag.
            #expect(received.allSatisfy { $0["size"] == .integer(86 + 1_024 + 1 + 16) })
            #expect(first["claims"]?["sub"] == "mailto:operator@example.org")
            #expect(first["claims"]?["exp"] == .integer((nag.dueAt + .hours(12)).seconds))
        }
    }

    @Test("every encryption has another key and salt, and the longest text fits")
    func sizes() throws {
        let random = SystemRandomness()
        let pair = try #require(P256.agreement(of: [UInt8](repeating: 7, count: 32), with: Self.base))
        let keys = try #require(WebPushKeys(p256dh: pair.publicKey, auth: [UInt8](repeating: 1, count: 16)))
        func body(_ count: Int) -> [UInt8]? {
            WebPushEncryption.encryptedBody(
                [UInt8](repeating: 65, count: count), for: keys, lengthMultiple: 1_024, random)
        }
        #expect(WebPushEncryption.maxTextLength == 3_993)
        for (count, size) in [(0, 103), (1, 1_127), (1_024, 1_127), (1_025, 2_151), (3_993, 4_096)] {
            #expect(body(count)?.count == size)
        }
        #expect(body(3_994) == nil)
        let headers = (0..<20).compactMap { _ in body(1)?.prefix(86) }
        #expect(Set(headers).count == 20)
    }

    /// The base point of the curve.
    private static let base: [UInt8] =
        [4]
        + [
            0x6B17_D1F2_E12C_4247, 0xF8BC_E6E5_63A4_40F2, 0x7703_7D81_2DEB_33A0, 0xF4A1_3945_D898_C296,
            0x4FE3_42E2_FE1A_7F9B, 0x8EE7_EB4A_7C0F_9E16, 0x2BCE_3357_6B31_5ECE, 0xCBB6_4068_37BF_51F5,
        ].flatMap { (word: UInt64) in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } }

    @Test("a subscription that is gone is removed; one that failed gets the message later, the others not again")
    func gone() async throws {
        try await Self.run { provider, server, options in
            let family = try await server.family()
            let paths = ["one", "gone-fail410", "missing-fail404", "later-fail503x1", "never-fail403"]
            try await Self.register(paths, as: family.child, on: server, provider)
            try await server.deliveries(1, to: family.child)
            let before = try await server.audit(family.id).count
            try await server.withWorker(options) { worker in
                try await worker.run()
                #expect(worker.counts() == [0, 1, 0, 0, 0])
                server.clock.advance(by: .minutes(1))
                try await worker.run()
                #expect(worker.counts() == [1, 1, 0, 0, 0])
            }
            let received = try await provider.received().compactMap { $0["path"]?.stringValue }
            #expect(received.filter { $0.hasSuffix("/one") }.count == 1)
            #expect(received.filter { $0.contains("later") }.count == 2)
            let kept = try await server.storedTokens()
            #expect(kept.count == 3 && kept.allSatisfy { !$0.contains("gone") && !$0.contains("missing") })
            let entries = try await server.audit(family.id).dropFirst(before)
            #expect(entries.map(\.kind) == ["device.removed", "device.removed"])
            #expect(entries.allSatisfy { $0.details == ["reason": "token_gone", "platform": "web"] })
        }
    }

    @Test("an endpoint in the own network is never called, whatever the operator's webhooks may")
    func ownNetwork() async throws {
        try await Self.run { provider, server, options in
            let family = try await server.family()
            try await Self.register(["one"], as: family.child, on: server, provider)
            try await server.deliveries(1, to: family.child)
            var options = options
            options.webPush?.networks = NetworkGuard()
            options.networks = NetworkGuard(allowing: [try #require(NetworkBlock("127.0.0.0/8"))])
            try await server.withWorker(options) { try await $0.run() }
            let row = try #require(try await server.deliveryRows().first)
            #expect(row.status == "failed" && !row.dropped && row.failure?.contains("private network") == true)
            #expect(try await provider.received().isEmpty)
        }
    }

    @Test("slow push services hold up nobody else's messages")
    func slow() async throws {
        try await Self.run { provider, server, options in
            let family = try await server.family()
            try await Self.register((0..<3).map { "tar\($0)-slow60000" }, as: family.child, on: server, provider)
            try await Self.register(["quick"], as: family.participant, on: server, provider)
            try await server.deliveries(6, to: family.child)
            try await server.deliveries(1, to: family.participant)
            var options = options
            options.webPush?.timeout = .seconds(1)
            try await server.withWorker(options) { worker in
                #expect(try await worker.runRound() == 7)
                while worker.counts()[0] == 0 { await Task.yield() }
                #expect(worker.counts() == [1, 0, 0, 0, 0])
                try await worker.drain()
                #expect(worker.counts() == [1, 6, 0, 0, 0])
            }
            #expect(try await provider.received().count { $0["path"] == "/webpush/quick" } == 1)
        }
    }

    @Test("subscriptions that no message can be sent to are refused, as are all where the server has no key")
    func refused() async throws {
        try await Self.run { provider, server, _ in
            let family = try await server.family()
            let good = try await Self.subscription("one", provider)
            @Sendable func reason(
                on server: TestServer, _ change: @Sendable (inout WebPushSubscription) -> Void
            ) async throws -> String {
                var subscription = good
                change(&subscription)
                let body = DeviceTokenRegister(subscription)
                let error = try await refusal {
                    try await server.call(API.registerDevice, body, as: family.child)
                }
                #expect(error.status == 422 || error.reason == "web_push_not_configured")
                return error.reason ?? error.field ?? ""
            }
            for endpoint in [
                "http://push.example.org/a", "https://", "https:///a", "https://a@b/c", "https://a/b#c", "ftp://a/",
                "a",
                "https://a b/", "https://a\\b/",
            ] {
                let found = try await reason(on: server) { $0.endpoint = endpoint }
                #expect(found == "subscription.endpoint")
            }
            for key in ["BA", String(repeating: "A", count: 87), "B" + String(repeating: "A", count: 86)] {
                let found = try await reason(on: server) { $0.keys.p256dh = key }
                #expect(found == "subscription.keys")
            }
            let short = try await reason(on: server) { $0.keys.auth = Secret("AAAA") }
            #expect(short == "subscription.keys")
            #expect(try await server.storedTokens().isEmpty)
            try await server.withPeers(1, configure: { $0.deliveries.webPush = nil }) { peers in
                let found = try await reason(on: peers[0]) { _ in }
                #expect(found == "web_push_not_configured")
                let me = try await peers[0].call(API.getMe, NoParameters(), as: family.child)
                #expect(me.webPushKey == nil)
            }
        }
    }

    @Test("changed keys of an endpoint encrypt the next messages, and the same keys again change nothing")
    func renewed() async throws {
        try await Self.run(isOfActs: true) { provider, server, options in
            let family = try await server.family()
            let subscription = try await Self.subscription("one", provider)
            var old = subscription
            old.keys.p256dh = base64URL(Self.base)
            let first = try await server.call(API.registerDevice, DeviceTokenRegister(old), as: family.guardian)
            #expect(first.platform == .web && first.token == Secret(subscription.endpoint))
            let second = try await server.expectOnly(audit: ["device.registered"]) {
                try await server.call(API.registerDevice, DeviceTokenRegister(subscription), as: family.guardian)
            }
            #expect(second.id == first.id)
            var padded = subscription
            padded.keys.auth = Secret(subscription.keys.auth.wireText + "==")
            try await server.expectOnly {
                for same in [subscription, padded] {
                    try await server.call(API.registerDevice, DeviceTokenRegister(same), as: family.guardian)
                }
            }
            _ = try await server.invite(family.guardian, as: family.stranger)
            try await server.withWorker(options) { try await $0.run() }
            #expect(try await provider.received().map { $0["body"]?["title"] } == ["New invitation"])
            try await server.expectOnly(audit: ["device.moved", "device.registered"]) {
                try await server.call(API.registerDevice, DeviceTokenRegister(subscription), as: family.stranger)
            }
        }
    }

    @Test("a gateway is told platforms and tokens only with --push-tokens, and of no browser that the server sends to")
    func gateway() async throws {
        try await Self.run { provider, server, options in
            let family = try await server.family()
            try await Self.register(["one"], as: family.child, on: server, provider)
            try await server.register("00ff", .ios, as: family.child)
            try await server.register("fcm:Token", .android, as: family.child)
            try await Self.register(["two"], as: family.participant, on: server, provider)
            var options = options
            options.push = try provider.webhook("")
            options.networks = NetworkGuard(allowing: [try #require(NetworkBlock("127.0.0.0/8"))])
            for passesTokens in [false, true] {
                options.sendsTokensAndPhones = passesTokens
                try await server.deliveries(1, to: family.child)
                try await server.deliveries(1, to: family.participant)
                try await server.withWorker(options) { worker in
                    try await worker.run()
                    #expect(worker.counts() == [2, 0, 0, 0, 0])
                }
            }
            let received = try await provider.received()
            let hooks = received.filter { $0["path"]?.stringValue?.hasPrefix("/hook") == true }
            #expect(received.count == 6 && hooks.count == 2, "who has only a browser needs no gateway")
            #expect(hooks.first?["body"]?["devices"] == nil)
            let devices = hooks.last?["body"]?["devices"]?.arrayValue ?? []
            #expect(
                Set(devices) == [
                    ["platform": "ios", "token": "00ff"], ["platform": "android", "token": "fcm:Token"],
                ])
        }
    }

    @Test("a gateway that failed gets the message again, and browsers that have it do not; nor the other way round")
    func both() async throws {
        try await Self.run { provider, server, options in
            let family = try await server.family()
            try await Self.register(["one"], as: family.child, on: server, provider)
            try await Self.register(["two-fail503x1"], as: family.participant, on: server, provider)
            for (person, token) in [(family.child, "aa"), (family.participant, "bb")] {
                try await server.register(token, .android, as: person)
            }
            var options = options
            options.networks = NetworkGuard(allowing: [try #require(NetworkBlock("127.0.0.0/8"))])
            for (person, words) in [(family.child, "fail503x1"), (family.participant, "")] {
                options.push = try provider.webhook(words)
                try await server.deliveries(1, to: person)
                try await server.withWorker(options) { worker in
                    try await worker.run()
                    server.clock.advance(by: .minutes(1))
                    try await worker.run()
                    #expect(worker.counts() == [1, 1, 0, 0, 0])
                }
            }
            let paths = try await provider.received().compactMap { $0["path"]?.stringValue }
            #expect(paths.filter { $0.contains("/webpush/one") }.count == 1)
            #expect(paths.filter { $0.contains("/webpush/two") }.count == 2)
            #expect(paths.filter { $0.contains("/hook") }.count == 3)
        }
    }

    @Test("a malformed key or contact is refused")
    func configuration() async throws {
        try await TestHTTPServer.with { provider in
            let key = try String(contentsOfFile: provider.apnsKey, encoding: .utf8)
            func isValid(_ key: String, _ contact: String = "https://example.org/contact") -> Bool {
                DeliveryOptions.WebPush(key: key, contact: contact) != nil
            }
            #expect(isValid(key) && isValid(key, "mailto:a@b.org"))
            #expect(!isValid("") && !isValid(key, "") && !isValid(key, "a@b.org") && !isValid(key, "mailto:a b"))
        }
    }
}
