import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("A child's user name and PIN")
struct ChildCredentialsTests {
    @Test("when a guardian sets a child's name and PIN, the child's sessions and its lockout end")
    func set() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let session = try await server.childLogIn(family.childCode, "Cleo", "4711")
            for _ in 0..<5 {
                try await expectRefusal(401) { try await server.childLogIn(family.childCode, "Cleo", "0000") }
            }
            try await expectRefusal(429) { try await server.childLogIn(family.childCode, "Cleo", "4711") }
            let detail = try await server.expectOnly(audit: ["child_credentials.set"]) {
                try await server.call(
                    API.setChildCredentials, MemberPath(familyID: family.id, userID: family.child.id),
                    ChildCredentialsSet(username: " Clea ", pin: try PIN(wireText: "1111")), as: family.guardian)
            }
            #expect(detail.hasChildLogin)
            #expect(detail.userID == family.child.id)
            #expect(try await server.status(of: session.accessToken, family.id) == 401)
            _ = try await server.childLogIn(family.childCode, "clea", "1111")
            try await expectRefusal(401) { try await server.childLogIn(family.childCode, "Cleo", "4711") }
        }
    }

    @Test(
        "setting a child's name and PIN is refused to others than guardians, and for others than children",
        arguments: [
            ("participant", "child", 403, ["child_credentials.set.denied"]),
            ("child", "child", 403, ["child_credentials.set.denied"]),
            ("stranger", "child", 403, []),
            ("removed", "child", 403, []),
            ("guardian", "stranger", 404, []),
            ("guardian", "removed", 404, []),
            ("guardian", "participant", 422, []),
        ])
    func refused(who: String, whom: String, status: Int, audit: [String]) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let target = family.somebody(whom)?.id ?? UserID(high: 1, low: 1)
            try await server.expectOnly(audit: audit) {
                try await expectRefusal(status) {
                    try await server.call(
                        API.setChildCredentials, MemberPath(familyID: family.id, userID: target),
                        ChildCredentialsSet(username: "x", pin: try PIN(wireText: "1111")), as: family.somebody(who))
                }
            }
        }
    }

    @Test("two children cannot get the same name, not even at once")
    func sameName() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let other = try await server.member("Cora", .child, of: family)
            let statuses = try await server.expectOnly(audit: ["child_credentials.set"]) {
                try await together(2) { number in
                    try await server.call(
                        "PUT",
                        "/api/v1/families/\(family.id)/members/\(number == 0 ? family.child.id : other.id)/credentials",
                        as: family.guardian, body: ["username": number == 0 ? "C" : "c", "pin": "1234"]
                    ).status
                }
            }
            #expect(statuses.sorted() == [200, 409])
        }
    }
}

@Suite("A child's own PIN change")
struct PINChangeTests {
    private func change(
        _ server: TestServer, _ family: Household, _ token: String, _ current: String, _ new: String,
        of user: UserID? = nil, key: String? = nil
    ) async throws -> Reply {
        try await server.call(
            "PATCH", "/api/v1/families/\(family.id)/members/\(user ?? family.child.id)/pin", token: token,
            body: ["current_pin": .string(current), "new_pin": .string(new)],
            headers: key.map { ["Idempotency-Key": $0] } ?? [:])
    }

    @Test("a child changes its PIN with the old one; this session stays, and the others end")
    func change() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let here = try await server.childLogIn(family.childCode, "Cleo", "4711")
            let elsewhere = try await server.childLogIn(family.childCode, "Cleo", "4711")
            let token = here.accessToken.wireText
            let reply = try await server.expectOnly(audit: ["child_pin.changed"]) {
                try await change(server, family, token, "4711", "2222", key: "once")
            }
            #expect(reply.status == 200)
            #expect(reply.json == ["status": "ok"])
            #expect(try await server.status(of: here.accessToken, family.id) == 200)
            #expect(try await server.status(of: elsewhere.accessToken, family.id) == 401)
            _ = try await server.childLogIn(family.childCode, "Cleo", "2222")
            let again = try await server.expectOnly {
                try await change(server, family, token, "4711", "2222", key: "once")
            }
            #expect(again.json == ["status": "ok"], "the same write gives the same answer")
        }
    }

    @Test("wrong PINs of a change count with those of a sign-in, and are 422, not 401")
    func limit() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let token = try await server.childLogIn(family.childCode, "Cleo", "4711").accessToken.wireText
            try await expectRefusal(401) { try await server.childLogIn(family.childCode, "Cleo", "0000") }
            let statuses = try await together(50) { number in
                try await change(server, family, token, "\(1000 + number)", "2222").status
            }
            #expect(statuses.count { $0 == 422 } == 4)
            #expect(statuses.count { $0 == 429 } == 46)
            let wrong = try await server.audit(family.id).filter { $0.details["method"] == "pin_change" }
            #expect(wrong.count == 4)
            // The fourth wrong one is the fifth in a row. Requests at once are recorded in any order.
            #expect(
                wrong.map(\.kind).sorted() == ["child_lockout.begun"] + Array(repeating: "sign_in.failed", count: 3))
            try await expectRefusal(429) { try await server.childLogIn(family.childCode, "Cleo", "4711") }
            server.clock.advance(by: .minutes(15))
            #expect(try await change(server, family, token, "4711", "2222").status == 200)
        }
    }

    @Test(
        "nobody but the child changes its PIN with the old one",
        arguments: ["guardian", "participant", "stranger", "removed"])
    func refused(who: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.setPIN(family)
            let person = try #require(family.somebody(who))
            let isMember = ["guardian", "participant"].contains(who)
            let reply = try await server.expectOnly(audit: isMember ? ["child_pin.change.denied"] : []) {
                try await change(server, family, server.token(person), "4711", "2222")
            }
            #expect(reply.status == 403)
        }
    }

    @Test("a child without a PIN cannot change it")
    func none() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let reply = try await server.expectOnly {
                try await change(server, family, server.token(family.child), "4711", "2222")
            }
            #expect(reply.status == 404)
        }
    }
}

@Suite("Settings of a child")
struct ChildSettingsTests {
    private static func path(_ family: Household) -> String {
        "/api/v1/families/\(family.id)/children/\(family.child.id)/settings"
    }

    @Test(
        "guardians and the child read a child's settings",
        arguments: [
            ("guardian", 200, []), ("child", 200, []), ("participant", 403, ["child_settings.read.denied"]),
            ("stranger", 403, []), ("removed", 403, []),
        ])
    func read(who: String, status: Int, audit: [String]) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let reply = try await server.expectOnly(audit: audit) {
                try await server.call("GET", Self.path(family), as: family.somebody(who))
            }
            #expect(reply.status == status)
            guard status == 200 else { return }
            #expect(reply.json?["can_snooze"] == true)
            #expect(reply.json?["max_snoozes_per_day"] == 3)
            #expect(reply.json?["can_submit_excuses"] == true)
            #expect(reply.json?["quiet_hours_start"] == .null)
        }
    }

    @Test("guardians change a child's settings: absent fields stay, and null clears")
    func change() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            func patch(_ body: JSONValue) async throws -> Reply {
                try await server.call("PATCH", Self.path(family), as: family.guardian, body: body)
            }
            let set = try await server.expectOnly(audit: ["child_settings.changed"]) {
                try await patch(["can_snooze": false, "quiet_hours_start": "20:30", "quiet_hours_end": "06:45:30"])
            }
            #expect(set.json?["can_snooze"] == false)
            #expect(set.json?["max_snoozes_per_day"] == 3)
            #expect(set.json?["quiet_hours_start"] == "20:30:00")
            #expect(set.json?["quiet_hours_end"] == "06:45:30")
            #expect(
                try await server.audit(family.id)[0].details
                    == ["fields": "can_snooze,quiet_hours_start,quiet_hours_end"])
            let kept = try await patch(["max_snoozes_per_day": 0])
            #expect(kept.json?["quiet_hours_start"] == "20:30:00")
            let replies = try await server.expectOnly {
                [
                    try await patch(["quiet_hours_end": .null]), try await patch(["quiet_hours_start": .null]),
                    try await patch(["quiet_hours_start": "20:30"]),
                ]
            }
            #expect(replies.map(\.status) == [422, 422, 200], "half a night is none; the last is nothing new")
            let cleared = try await patch(["quiet_hours_start": .null, "quiet_hours_end": .null])
            #expect(cleared.json?["quiet_hours_start"] == .null)
            #expect(cleared.json?["can_snooze"] == false)
            let read = try await server.call("GET", Self.path(family), as: family.child)
            #expect(read.json == cleared.json)
        }
    }

    @Test("a change with all three other settings and without quiet hours clears these, and one with fewer does not")
    func quietHoursLeftOut() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            func patch(_ body: JSONValue) async throws -> JSONValue? {
                try await server.call("PATCH", Self.path(family), as: family.guardian, body: body).json
            }
            func start() async throws -> JSONValue? {
                try await server.call("GET", Self.path(family), as: family.child).json?["quiet_hours_start"]
            }
            let others: JSONObject = ["can_snooze": true, "max_snoozes_per_day": 3, "can_submit_excuses": true]
            var all = others
            (all["quiet_hours_start"], all["quiet_hours_end"]) = ("21:00", "07:00")
            _ = try await patch(.object(all))
            for left in ["can_snooze", "max_snoozes_per_day", "can_submit_excuses"] {
                var fewer = others
                fewer[left] = nil
                _ = try await patch(.object(fewer))
                #expect(try await start() == "21:00:00", "without \(left)")
            }
            let off = try await server.expectOnly(audit: ["child_settings.changed"]) {
                try await patch(.object(others))
            }
            #expect(off?["quiet_hours_start"] == .null && off?["quiet_hours_end"] == .null)
            #expect(try await start() == .null)
            #expect(try await server.audit(family.id).last?.details["fields"]?.contains("quiet_hours_start") == true)
        }
    }

    @Test(
        "one end of a child's quiet hours needs the other",
        arguments: [
            ("quiet_hours_start", "quiet_hours_end"), ("quiet_hours_end", "quiet_hours_start"),
        ])
    func bothEnds(given: String, missing: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let reply = try await server.expectOnly {
                try await server.call("PATCH", Self.path(family), as: family.guardian, body: [given: "20:30"])
            }
            #expect(reply.status == 422)
            #expect(reply.json?["error"]?["details"]?["field"]?.stringValue == missing)
        }
    }

    @Test(
        "a change of a child's settings is refused to others than guardians",
        arguments: [
            ("child", 403, ["child_settings.change.denied"]), ("participant", 403, ["child_settings.change.denied"]),
            ("stranger", 403, []), ("removed", 403, []),
        ])
    func refused(who: String, status: Int, audit: [String]) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let reply = try await server.expectOnly(audit: audit) {
                try await server.call("PATCH", Self.path(family), as: family.somebody(who), body: ["can_snooze": false])
            }
            #expect(reply.status == status)
        }
    }

    @Test("settings exist only for a child of the family")
    func noChild() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for person in [family.participant, family.stranger, family.removed] {
                let path = "/api/v1/families/\(family.id)/children/\(person.id)/settings"
                let read = try await server.expectOnly { try await server.call("GET", path, as: family.guardian) }
                #expect(read.status == 404)
                let patch = try await server.expectOnly {
                    try await server.call("PATCH", path, as: family.guardian, body: ["can_snooze": false])
                }
                #expect(patch.status == 404)
            }
        }
    }
}
