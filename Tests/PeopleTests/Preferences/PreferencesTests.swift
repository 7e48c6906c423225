import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Preferences")
struct PreferencesTests {
    private static let defaults: JSONValue = [
        "gamification_enabled": false, "quiet_hours_enabled": false, "quiet_hours_start": "22:00",
        "quiet_hours_end": "07:00", "timezone": "America/New_York", "notification_frequency": "always",
        "digest_at": "18:00",
        "delivery_channel": "push", "ai_server_enabled": true, "ai_on_device_enabled": true, "pushback_mode": "bounded",
        "use_commit_time_for_escalation": false, "notify_sent_overdue": false, "tone": "friendly",
        "ai_mode": "heuristic", "ai_privacy_level": "auto", "ai_token_threshold": 4_096, "ai_log_retention_days": 30,
        "ai_log_errors_only": false,
    ]

    private static func path(_ family: Household, _ person: TestPerson? = nil) -> String {
        "/api/v1/preferences\(person.map { "/\($0.id)" } ?? "")?family_id=\(family.id)"
    }

    private func patch(
        _ server: TestServer, _ family: Household, _ person: TestPerson, _ prefs: JSONValue,
        of other: TestPerson? = nil,
        ifMatch: String? = nil
    ) async throws -> Reply {
        try await server.call(
            "PATCH", Self.path(family, other), as: person, body: ["prefs_json": prefs],
            headers: ifMatch.map { ["If-Match": $0] } ?? [:])
    }

    @Test("preferences that are not set have their defaults")
    func defaults() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let reply = try await server.expectOnly {
                try await server.call("GET", Self.path(family), as: family.child)
            }
            #expect(reply.json?["prefs_json"] == Self.defaults)
            #expect(reply.json?["schema_version"] == 2)
            #expect(reply.json?["user_id"]?.stringValue == family.child.id.description)
            try await server.sql("UPDATE families SET time_zone = 'Europe/Berlin' WHERE id = \(family.id)")
            let zone = try await server.call("GET", Self.path(family), as: family.child)
            #expect(
                zone.json?["prefs_json"]?["timezone"] == "Europe/Berlin", "the family's zone, until one's own is set")
            #expect(zone.json?["etag"] != reply.json?["etag"])
        }
    }

    @Test("preferences are merged by name: unknown names stay, null removes, and the audit log has names only")
    func merge() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let first = try await server.expectOnly(audit: ["preferences.changed"]) {
                try await patch(
                    server, family, family.participant,
                    ["tone": "firm", "web_theme": ["dark": true, "size": 1.5], "timezone": "Europe/Berlin"])
            }
            #expect(first.status == 200)
            #expect(
                try await server.audit(family.id)[0].details == ["names": "timezone,tone", "other_names": "1"])
            server.clock.advance(by: .seconds(1))
            let second = try await patch(server, family, family.participant, ["tone": .null, "mobile": [1, 2]])
            var expected = Self.defaults.objectValue ?? [:]
            expected["timezone"] = "Europe/Berlin"
            expected["web_theme"] = ["dark": true, "size": 1.5]
            expected["mobile"] = [1, 2]
            #expect(second.json?["prefs_json"] == .object(expected))
            #expect(second.json?["etag"] != first.json?["etag"])
            let read = try await server.call("GET", Self.path(family), as: family.participant)
            #expect(read.json == second.json)
            let nothing = try await server.expectOnly {
                try await patch(
                    server, family, family.participant, ["mobile": [1, 2], "tone": .null, "absent": .null])
            }
            #expect(nothing.json == second.json, "nothing new, nothing written")
            #expect(
                try await server.call("GET", Self.path(family), as: family.guardian).json?["prefs_json"]
                    == Self.defaults)
        }
    }

    @Test(
        "a known preference with an invalid value is refused",
        arguments: [
            ("gamification_enabled", JSONValue.string("yes")), ("quiet_hours_enabled", 1),
            ("quiet_hours_start", "25:00"),
            ("quiet_hours_end", 700), ("timezone", "Mars/Olympus"), ("timezone", "EST5"),
            ("notification_frequency", ""), ("notification_frequency", "daily"), ("digest_at", "24:00"),
            ("delivery_channel", "pigeon"), ("ai_server_enabled", "true"), ("ai_on_device_enabled", 1.5),
            ("pushback_mode", "unbounded"), ("use_commit_time_for_escalation", 0), ("notify_sent_overdue", "no"),
            ("ai_mode", "cloud"), ("ai_privacy_level", "device"), ("ai_token_threshold", 255),
            ("ai_token_threshold", 32_769), ("ai_token_threshold", 300.5), ("ai_log_retention_days", 6),
            ("ai_log_retention_days", 366), ("ai_log_errors_only", 1), ("ai_model_local", ""),
            ("tone", "neutral"),
        ])
    func invalid(name: String, value: JSONValue) async throws {
        try await expectRefusal(of: name, value, "VALIDATION_ERROR")
    }

    @Test(
        "a limit of the family's policy is refused as a preference",
        arguments: [
            ("daily_cap", JSONValue.integer(8)), ("daily_nag_cap", 8), ("max_snooze_minutes", 30),
            ("points_multiplier", 3), ("max_pushback", 3), ("cooldown_minutes", 15),
            ("pushback_cooldown_minutes", 15), ("points_multiplier", .null),
        ])
    func policyNames(name: String, value: JSONValue) async throws {
        try await expectRefusal(of: name, value, "POLICY_INVALID_VALUE")
    }

    private func expectRefusal(of name: String, _ value: JSONValue, _ code: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let reply = try await server.expectOnly {
                try await patch(server, family, family.guardian, .object([name: value, "fine": true]))
            }
            #expect(reply.status == 422 && reply.errorCode == code)
            #expect(reply.json?["error"]?["details"]?["field"]?.stringValue == "prefs_json.\(name)")
        }
    }

    @Test(
        "a known preference accepts each valid value",
        arguments: [
            ("quiet_hours_start", JSONValue.string("21:30:15")), ("quiet_hours_end", "06:00"), ("timezone", "UTC"),
            ("delivery_channel", "sms"), ("delivery_channel", "both"), ("pushback_mode", "off"), ("tone", "empathetic"),
            ("tone", "playful"),
            ("notification_frequency", "daily_digest"), ("notification_frequency", "once_per_phase"),
            ("digest_at", "07:30"), ("gamification_enabled", true),
        ])
    func valid(name: String, value: JSONValue) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let reply = try await patch(server, family, family.guardian, .object([name: value]))
            #expect(reply.status == 200)
            #expect(reply.json?["prefs_json"]?[name] == value)
        }
    }

    @Test("preferences beyond the size limit are refused")
    func size() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let half = JSONValue.string(String(repeating: "x", count: 20_000))
            #expect(try await patch(server, family, family.guardian, ["one": half]).status == 200)
            let reply = try await server.expectOnly { try await patch(server, family, family.guardian, ["two": half]) }
            #expect(reply.status == 422)
            #expect(reply.json?["error"]?["details"]?["field"] == "prefs_json")
        }
    }

    @Test(
        "guardians and the person themself read and change a member's preferences",
        arguments: [
            ("guardian", "child", 200, false), ("child", "child", 200, false), ("participant", "child", 403, true),
            ("child", "guardian", 403, true), ("stranger", "child", 403, false), ("removed", "child", 403, false),
            ("guardian", "stranger", 404, false), ("guardian", "removed", 404, false),
        ])
    func others(who: String, whose: String, status: Int, isDenied: Bool) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (person, other) = (try #require(family.somebody(who)), try #require(family.somebody(whose)))
            let read = try await server.expectOnly(audit: isDenied ? ["preferences.read.denied"] : []) {
                try await server.call("GET", Self.path(family, other), as: person)
            }
            #expect(read.status == status)
            let expected = status == 200 ? ["preferences.changed"] : isDenied ? ["preferences.change.denied"] : []
            let changed = try await server.expectOnly(audit: expected) {
                try await patch(server, family, person, ["tone": "firm"], of: other)
            }
            #expect(changed.status == status)
            guard status == 200 else { return }
            #expect(try await server.audit(family.id)[0].subject == other.pseudonym)
            let own = try await server.call("GET", Self.path(family), as: other)
            #expect(own.json?["prefs_json"]?["tone"] == "firm")
        }
    }

    @Test("with If-Match preferences are changed only if the etag still holds")
    func precondition() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let read = try await server.call("GET", Self.path(family), as: family.guardian)
            let tag = try #require(read.json?["etag"]?.stringValue)
            #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
            let bare = String(tag.dropFirst().dropLast())
            for stale in ["\"other\"", "W/\(tag)", "", "\"a\", \"b\""] {
                let reply = try await server.expectOnly {
                    try await patch(server, family, family.guardian, ["tone": "firm"], ifMatch: stale)
                }
                #expect(reply.status == 412, "\(stale)")
                let wrong = try await patch(server, family, family.guardian, ["quiet_hours_start": 1], ifMatch: stale)
                #expect(wrong.status == 422, "\(stale)")
            }
            #expect(try await patch(server, family, family.guardian, ["a": 1], ifMatch: tag).status == 200)
            #expect(try await patch(server, family, family.guardian, ["a": 2], ifMatch: tag).status == 412)
            let next =
                try await server.call("GET", Self.path(family), as: family.guardian).json?["etag"]?.stringValue ?? ""
            #expect(next != tag)
            #expect(try await patch(server, family, family.guardian, ["a": 3], ifMatch: bare).status == 412)
            #expect(
                try await patch(
                    server, family, family.guardian, ["a": 3], ifMatch: " \"x\", \(next.dropFirst().dropLast()) "
                ).status
                    == 200)
            #expect(try await patch(server, family, family.guardian, ["a": 4], ifMatch: "*").status == 200)
        }
    }

    @Test("of twenty changes at once all are kept, and of twenty with one If-Match one is")
    func concurrent() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let all = try await together(20) { number in
                try await patch(server, family, family.child, .object(["n\(number)": true])).status
            }
            #expect(Set(all) == [200])
            let read = try await server.call("GET", Self.path(family), as: family.child)
            #expect(read.json?["prefs_json"]?.objectValue?.count == 19 + 20)
            let tag = try #require(read.json?["etag"]?.stringValue)
            let statuses = try await server.expectOnly(audit: ["preferences.changed"]) {
                try await together(20) { number in
                    try await patch(server, family, family.child, .object(["m\(number)": true]), ifMatch: tag).status
                }
            }
            #expect(statuses.count { $0 == 200 } == 1)
            #expect(statuses.count { $0 == 412 } == 19)
        }
    }

    @Test("other features read stored preferences with their own statements")
    func stored() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            _ = try await patch(
                server, family, family.child, ["quiet_hours_enabled": true, "quiet_hours_start": "20:00", "other": 1])
            let members = try await server.database.rows(
                """
                SELECT m.user_id, \(PreferenceStatements.preferences(of: "m.user_id", in: "m.family_id")) AS prefs
                FROM memberships m
                WHERE m.family_id = \(family.id) AND m.user_id IN (\(family.child.id), \(family.guardian.id))
                """
            ) { row in
                let stored: StoredPreferences = try row["prefs"]
                return (user: try row["user_id"] as UserID, preferences: stored.effective(familyZone: "Europe/Berlin"))
            }
            let child = members.first { $0.user == family.child.id }?.preferences
            #expect(child?.quietHours?.start == TimeOfDay(hour: 20, minute: 0))
            #expect(child?.quietHours?.end == TimeOfDay(hour: 7, minute: 0))
            #expect(child?.timeZone == "Europe/Berlin")
            #expect(members.first { $0.user == family.guardian.id }?.preferences.quietHours == nil)
        }
    }
}

/// Who may do what in the group `preferences`.
extension MatrixRow {
    static let preferences: [MatrixRow] = [
        MatrixRow(API.getPreferences, allowed: .members) { (inFamily($0), NoBody()) },
        MatrixRow(API.updatePreferences, allowed: .members) {
            (inFamily($0), PreferenceUpdate(preferences: ["tone": "firm"]))
        },
        MatrixRow(API.getMemberPreferences, allowed: .guardians.union([.child])) { (ofChild($0), NoBody()) },
        MatrixRow(API.updateMemberPreferences, allowed: .guardians.union([.child])) {
            (ofChild($0), PreferenceUpdate(preferences: ["tone": "firm"]))
        },
    ]
}
