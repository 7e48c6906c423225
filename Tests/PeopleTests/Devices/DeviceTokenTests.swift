import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Devices and their push tokens")
struct DeviceTokenTests {
    @Test("the same push token is the same device, and each person lists their own in pages")
    func life() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let first = try await server.expectOnly(audit: ["device.registered"]) {
                try await server.register("one", as: family.child)
            }
            #expect(first.userID == family.child.id && first.createdAt == server.clock.now())
            #expect(first.platform == .ios && first.token == Secret("one") && first.lastUsedAt == nil)
            let entry = try #require(try await server.audit(family.id).last)
            #expect(entry.actor == family.child.pseudonym && entry.resource == first.id.retyped())
            #expect(entry.details == ["platform": "ios"])
            #expect(try await server.expectOnly { try await server.register("one", as: family.child) } == first)

            server.clock.advance(by: .seconds(1))
            let tablet = try await server.expectOnly(audit: ["device.registered"]) {
                try await server.register("one", .ipados, as: family.child)
            }
            #expect(tablet.id == first.id && tablet.createdAt == first.createdAt && tablet.platform == .ipados)
            #expect(tablet.lastUsedAt == server.clock.now())
            let second = try await server.register("two", as: family.child)
            let page = try await server.call(API.listDevices, PageRequest(limit: 1), as: family.child)
            #expect(page.items == [second] && page.total == 2)
            let rest = try await server.call(API.listDevices, PageRequest(limit: 1, offset: 1), as: family.child)
            #expect(rest.items == [tablet] && rest.total == 2)
            #expect(try await server.tokens(of: family.guardian).isEmpty)
        }
    }

    @Test("a repeated registration that changes nothing is recorded as use, once an hour")
    func use() async throws {
        try await TestServer.run { server in
            let loner = try await server.account()
            let device = try await server.register("one", as: loner)
            server.clock.advance(by: .minutes(59))
            #expect(try await server.expectOnly { try await server.register("one", as: loner) } == device)
            server.clock.advance(by: .minutes(1))
            let repeated = try await server.register("one", as: loner)
            #expect(repeated.lastUsedAt == server.clock.now())
            let used = try await server.call(API.listDevices, PageRequest(), as: loner).items
            #expect(used.map(\.lastUsedAt) == [server.clock.now()] && used.map(\.id) == [device.id])
            #expect(try await server.audit(.outside).map(\.kind) == ["device.registered"])
        }
    }

    @Test("a push token moves to whoever registers it last, and its first owner no longer has it")
    func moves() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let first = try await server.register("phone", as: family.guardian)
            let moved = try await server.expectOnly(audit: ["device.moved", "device.registered"]) {
                try await server.register("phone", as: family.stranger)
            }
            #expect(moved.userID == family.stranger.id && moved.id != first.id)
            #expect(try await server.tokens(of: family.guardian).isEmpty)
            #expect(try await server.tokens(of: family.stranger) == ["phone"])
            try await server.expectOnly {
                for id in [first.id, moved.id] {
                    try await expectRefusal(404) {
                        try await server.call(API.deleteDevice, DevicePath(deviceID: id), as: family.guardian)
                    }
                }
            }
            // Ending the session that registered it first takes nothing from the second owner.
            try await server.sql("UPDATE sessions SET revoked_at = now() WHERE id = \(family.guardian.session)")
            #expect(try await server.tokens(of: family.stranger) == ["phone"])
        }
    }

    @Test("a push token registered at once, by one person or several, is one device")
    func atOnce() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let same = try await together(10) { _ in try await server.register("own", as: family.guardian).id }
            #expect(Set(same).count == 1)
            #expect(try await server.audit(family.id).map(\.kind) == ["device.registered"])
            let people = [family.guardian, family.child, family.stranger, family.removed, family.participant]
            for round in 0..<5 {
                let made = try await together(10) { number in
                    try await server.register("shared\(round)", as: people[number % people.count])
                }
                #expect(made.count == 10)
                let left = try await server.rows("SELECT id, user_id FROM devices WHERE token = \("shared\(round)")")
                #expect(left.count == 1)
                let isAnswered = made.contains {
                    left[0]["id"] == .string($0.id.description) && left[0]["user_id"] == .string($0.userID.description)
                }
                #expect(isAnswered)
            }
        }
    }

    @Test("a person has twenty devices at most, also at once, and the one unused for longest is removed")
    func limit() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.register("other's", as: family.guardian)
            for number in 1...20 {
                server.clock.advance(by: .minutes(5))
                try await server.register("device\(number)", as: family.child)
            }
            try await server.register("device1", as: family.child)
            server.clock.advance(by: .seconds(1))
            try await server.register("device21", as: family.child)
            var tokens = Set(try await server.tokens(of: family.child))
            #expect(
                tokens.count == 20 && !tokens.contains("device2") && tokens.isSuperset(of: ["device1", "device21"]))
            _ = try await together(12) { number in try await server.register("more\(number)", as: family.child) }
            tokens = Set(try await server.tokens(of: family.child))
            #expect(tokens.count == 20 && tokens.isSuperset(of: (0..<12).map { "more\($0)" }))
            #expect(try await server.tokens(of: family.guardian) == ["other's"])
        }
    }

    @Test("push tokens have 1 to 512 characters and a known platform")
    func input() async throws {
        try await TestServer.run { server in
            let loner = try await server.account()
            func post(_ body: JSONValue) async throws -> Reply {
                try await server.call("POST", "/api/v1/devices", as: loner, body: body)
            }
            let long = String(repeating: "é", count: 512)
            for platform in ["ios", "ipados", "macos", "android"] {
                #expect(try await post(["platform": .string(platform), "token": .string(long)]).status == 201)
            }
            try await server.expectOnly {
                for body: JSONValue in [
                    ["platform": "ios", "token": ""], ["platform": "ios", "token": .string(long + "x")],
                    ["platform": "ios", "token": "a\u{0}b"], ["platform": "ios", "token": 1], ["platform": "ios"],
                    ["platform": "windows", "token": "t"], ["platform": "web", "token": "t"], ["token": "t"], [],
                ] {
                    let reply = try await post(body)
                    #expect(reply.status == 422 && reply.errorCode == "VALIDATION_ERROR")
                }
            }
        }
    }

    @Test("the owner deletes a device once, and a retry with its Idempotency-Key gets the same answer")
    func delete() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let device = try await server.register("one", as: family.child)
            let path = DevicePath(deviceID: device.id)
            try await server.expectOnly {
                for person in [family.guardian, family.stranger, family.removed] {
                    try await expectRefusal(404) { try await server.call(API.deleteDevice, path, as: person) }
                }
            }
            let headers = ["Idempotency-Key": "gone"]
            try await server.expectOnly(audit: ["device.removed"]) {
                for _ in 0..<2 {
                    let reply = try await server.call(
                        "DELETE", "/api/v1/devices/\(device.id)", as: family.child, headers: headers)
                    #expect(reply.status == 204 && reply.body.isEmpty)
                }
            }
            try await server.expectOnly {
                try await expectRefusal(404) { try await server.call(API.deleteDevice, path, as: family.child) }
            }
            try await server.register("one", as: family.child)
            let again = try #require(
                try await server.call(API.listDevices, PageRequest(), as: family.child).items.first)
            let outcomes = try await server.expectOnly(audit: ["device.removed"]) {
                try await together(outcomesOf: 8) { _ in
                    try await server.call(API.deleteDevice, DevicePath(deviceID: again.id), as: family.child)
                }
            }
            #expect(outcomes.count { (try? $0.get()) != nil } == 1)
        }
    }
}

/// Who may do what in the group `devices`.
extension MatrixRow {
    static let devices: [MatrixRow] = [
        MatrixRow(API.registerDevice, concern: .caller, allowed: .everybody) { _ in
            (NoParameters(), DeviceTokenRegister(platform: .ios, token: Secret("phone")))
        },
        MatrixRow(API.listDevices, concern: .caller, allowed: .everybody) { _ in (PageRequest(), NoBody()) },
        MatrixRow(API.deleteDevice, allowed: [.guardian], refusals: [404]) {
            (DevicePath(deviceID: $0.device), NoBody())
        },
    ]
}
