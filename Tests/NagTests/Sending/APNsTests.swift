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

/// Against an HTTP/2 server that is not ours, which checks each token with a library of its own.
@Suite("Push messages through APNs")
struct APNsTests {
    private static func options(_ provider: TestHTTPServer) throws -> DeliveryOptions {
        var options = try provider.options()
        let key = try String(contentsOfFile: provider.apnsKey, encoding: .utf8)
        options.push = .apns(
            try #require(
                DeliveryOptions.APNs(
                    key: key, keyID: "KEY1234567", teamID: "TEAM123456", topic: "com.example.nagz",
                    endpoint: provider.url())))
        return options
    }

    private static func register(_ tokens: [String], as person: TestPerson, on server: TestServer) async throws {
        for token in tokens {
            try await server.call(
                API.registerDevice, DeviceTokenRegister(platform: .ios, token: Secret(token)), as: person)
        }
    }

    @Test("each device of a live session gets the message in the app's format, with one reused token")
    func payload() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { provider in
            try await TestServer.run(isOfActs: false) { server in
                let family = try await server.family()
                let nag = try await server.nag(from: family.guardian, to: family.child)
                try await Self.register(["aa11", "bb22"], as: family.child, on: server)
                let expired = try await server.anotherSession(of: family.child)
                try await Self.register(["cc33"], as: expired, on: server)
                try await server.sql(
                    "UPDATE sessions SET expires_at = \(server.clock.now()) WHERE id = \(expired.session)")
                let id = try await server.delivery(of: nag.id, to: family.child, "nag_escalated", phase: .dueSoon)
                try await server.withWorker(Self.options(provider)) { worker in
                    try await worker.run()
                    #expect(worker.counts() == [1, 0, 0, 0, 0])
                }
                let received = try await provider.received()
                #expect(
                    received.compactMap { $0["path"]?.stringValue }.sorted() == ["/3/device/aa11", "/3/device/bb22"])
                #expect(Set(received.map { $0["headers"]?["authorization"]?.stringValue }).count == 1)
                #expect(received.allSatisfy { $0["version"] == "2" && $0["id"] == .string(id.description) })
                #expect(
                    received.first?["body"] == [
                        "aps": [
                            "alert": ["title": "Due soon", "body": "Please"], "sound": "default", "category": "NAG",
                        ],
                        "nag_id": .string(nag.id.description.uppercased()),
                        "target_user_id": .string(family.child.id.description.uppercased()),
                    ])
                let row = try #require(try await server.deliveryRows().first)
                #expect(row.status == "sent" && row.reference == id.description)
            }
        }
    }

    @Test("a reminder says that it is one, has an id of its own, and replaces the message on the device")
    func reminder() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { provider in
            try await TestServer.run(isOfActs: false) { server in
                let family = try await server.family()
                let nag = try await server.nag(from: family.guardian, to: family.participant)
                try await Self.register(["aa11"], as: family.participant, on: server)
                let first = try await server.withScheduler { rounds in
                    server.clock.set(to: nag.dueAt)
                    try await rounds.run()
                    try await server.withWorker(Self.options(provider)) { worker in
                        try await worker.run()
                        server.clock.advance(by: .minutes(15))
                        try await worker.run()
                    }
                    return try #require(try await server.deliveryRows().last?.id.description)
                }
                let received = Array(try await provider.received().suffix(2))
                #expect(received.map { $0["body"]?["repeat"] } == [nil, true])
                #expect(received.map { $0["headers"]?["apns-collapse-id"] } == [.string(first), .string(first)])
                #expect(received.first?["id"] == .string(first) && received.last?["id"] != .string(first))
                #expect(received.last?["body"]?["nag_id"] == .string(nag.id.description.uppercased()))
            }
        }
    }

    @Test("a message about a connection names no nag")
    func connection() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { provider in
            try await TestServer.run(isOfActs: false) { server in
                let family = try await server.family()
                try await Self.register(["aa11"], as: family.stranger, on: server)
                _ = try await server.invite(family.stranger, as: family.guardian)
                try await server.withWorker(Self.options(provider)) { try await $0.run() }
                #expect(
                    try await provider.received().map { $0["body"] } == [
                        [
                            "aps": [
                                "alert": ["title": "New invitation", "body": ""], "sound": "default",
                                "category": "NAG",
                            ],
                            "target_user_id": .string(family.stranger.id.description.uppercased()),
                        ]
                    ])
            }
        }
    }

    @Test("a device unknown to APNs is removed; one that failed gets the message later, the others not again")
    func devices() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { provider in
            try await TestServer.run(isOfActs: false) { server in
                let family = try await server.family()
                try await Self.register(
                    ["aa11", "gone-fail410", "bad-fail400", "later-fail503x1"], as: family.child, on: server)
                try await server.deliveries(1, to: family.child)
                let before = try await server.audit(family.id).count
                try await server.withWorker(Self.options(provider)) { worker in
                    try await worker.run()
                    #expect(worker.counts() == [0, 1, 0, 0, 0])
                    server.clock.advance(by: .minutes(1))
                    try await worker.run()
                    #expect(worker.counts() == [1, 1, 0, 0, 0])
                }
                let paths = try await provider.received().compactMap { $0["path"]?.stringValue }
                #expect(paths.filter { $0.contains("aa11") }.count == 1)
                #expect(paths.filter { $0.contains("later") }.count == 2)
                #expect(try await server.storedTokens() == ["aa11", "later-fail503x1"])
                let entries = try await server.audit(family.id).dropFirst(before)
                #expect(entries.map(\.kind) == ["device.removed", "device.removed"])
                #expect(entries.allSatisfy { $0.details["reason"] == "token_gone" })
            }
        }
    }

    @Test("a delivery to a person without a device is dropped")
    func noDevice() async throws {
        try await TestHTTPServer.with(.tls(name: "127.0.0.1")) { provider in
            try await TestServer.run { server in
                let family = try await server.family()
                try await server.deliveries(1, to: family.child)
                try await server.withWorker(Self.options(provider)) { try await $0.run() }
                let row = try #require(try await server.deliveryRows().first)
                #expect(row.dropped && row.failure == "no_device")
                #expect(try await provider.received().isEmpty)
            }
        }
    }

    @Test("a malformed APNs key, key id or endpoint is refused")
    func configuration() async throws {
        try await TestHTTPServer.with { provider in
            let key = try String(contentsOfFile: provider.apnsKey, encoding: .utf8)
            func isValid(_ key: String, _ id: String = "KEY", _ endpoint: String = "https://a") -> Bool {
                DeliveryOptions.APNs(key: key, keyID: id, teamID: "TEAM", topic: "com.example", endpoint: endpoint)
                    != nil
            }
            #expect(isValid(key))
            #expect(!isValid("") && !isValid("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"))
            #expect(!isValid(key, "K\"EY") && !isValid(key, "") && !isValid(key, "KEY", "http://a"))
        }
    }
}
