import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Changing nags")
struct UpdateNagTests {
    private static func update(
        _ nag: NagID, _ changes: NagUpdate, as person: TestPerson, on server: TestServer
    ) async throws -> NagResponse {
        try await server.call(API.updateNag, NagPath(nagID: nag), changes, as: person)
    }

    struct Scenario: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let who: Who
        /// Minutes from now.
        var due: Int64?
        var category: NagCategory?
        var promise: Int64?
        var clearsPromise = false
        var expected = Expected.success
        var audit: [String] = []
        var events: [String] = []
    }

    /// The nag goes from the participant to the child and is due in two hours.
    static let scenarios: [Scenario] = [
        Scenario(
            testDescription: "its creator moves it", who: .participant, due: 300, audit: ["nag.updated"],
            events: ["nag_updated"]),
        Scenario(
            testDescription: "a guardian moves it nearer and changes its category", who: .guardian, due: 30,
            category: .meds, audit: ["nag.updated"], events: ["nag_updated"]),
        Scenario(testDescription: "nothing new is nothing done", who: .guardian, due: 120, category: .chores),
        Scenario(testDescription: "nothing at all", who: .child),
        Scenario(
            testDescription: "into the past", who: .guardian, due: -1,
            expected: .refusal(.validationFailed, "due_at")),
        Scenario(
            testDescription: "its creator cannot promise", who: .participant, promise: 60,
            expected: .refusal(.authorizationDenied), audit: ["nag.commit.denied"]),
        Scenario(
            testDescription: "the recipient snoozes", who: .child, due: 150, audit: ["nag.snoozed"],
            events: ["nag_snoozed"]),
        Scenario(
            testDescription: "the recipient snoozes too long", who: .child, due: 151,
            expected: .refusal(.validationFailed, "due_at"), audit: ["draft.created"]),
        Scenario(
            testDescription: "a snooze goes forward only", who: .child, due: 60,
            expected: .refusal(.validationFailed, "due_at")),
        Scenario(
            testDescription: "the recipient changes nothing else", who: .child, category: .other,
            expected: .refusal(.authorizationDenied), audit: ["nag.edit.denied"]),
        Scenario(
            testDescription: "nor anything else with a snooze", who: .child, due: 130, promise: 60,
            expected: .refusal(.authorizationDenied), audit: ["nag.edit.denied"]),
        Scenario(
            testDescription: "the recipient promises", who: .child, promise: 90, audit: ["nag.committed"],
            events: ["nag_committed"]),
        Scenario(
            testDescription: "a promise lies in the future", who: .child, promise: 0,
            expected: .refusal(.validationFailed, "committed_at")),
        Scenario(testDescription: "no promise to take back", who: .child, clearsPromise: true),
        Scenario(
            testDescription: "a stranger knows of no such nag", who: .stranger, due: 300,
            expected: .refusal(.notFound)),
    ]

    @Test("each change of a nag is allowed or refused by who makes it", arguments: scenarios)
    func scenario(_ scenario: Scenario) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child)
            let now = server.clock.now()
            let changes = NagUpdate(
                dueAt: scenario.due.map { now + .minutes($0) }, category: scenario.category,
                committedAt: scenario.clearsPromise
                    ? .null : scenario.promise.map { .value(now + .minutes($0)) } ?? .absent)
            try await server.expectOnly(
                audit: scenario.audit, events: scenario.events, stamped: scenario.events.isEmpty ? 0 : 1
            ) {
                try await server.expect(scenario.expected) {
                    let after = try await Self.update(nag.id, changes, as: scenario.who(family), on: server)
                    var wanted = nag
                    wanted.dueAt = changes.dueAt ?? nag.dueAt
                    wanted.category = changes.category ?? nag.category
                    wanted.committedAt = scenario.promise.map { now + .minutes($0) }
                    #expect(after == wanted)
                    #expect(try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.child) == wanted)
                }
            }
        }
    }

    @Test("a member who neither made nor received a nag cannot change it")
    func otherMember() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await server.expectOnly(audit: ["nag.edit.denied"]) {
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await Self.update(nag.id, NagUpdate(category: .meds), as: family.participant, on: server)
                }
            }
            #expect(try await server.audit(family.id).last?.details == ["reason": "not_visible"])
        }
    }

    @Test("creator and guardians alone change the description, and null removes it")
    func description() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child)
            func patch(_ body: JSONValue, as person: TestPerson) async throws -> Reply {
                try await server.call("PATCH", "/api/v1/nags/\(nag.id)", as: person, body: body)
            }
            let bodies: [JSONValue] = [
                ["description": "Both bins"], ["description": .null],
                ["description": "x", "due_at": .string((nag.dueAt + .minutes(5)).rfc3339)],
            ]
            for (number, body) in bodies.enumerated() {
                // The same refusal again within the hour is counted.
                let reply = try await server.expectOnly(audit: number == 0 ? ["nag.edit.denied"] : []) {
                    try await patch(body, as: family.child)
                }
                #expect(reply.status == 403)
            }
            for person in [family.participant, family.guardian] {
                let words = "Both bins, says \(person.name)"
                let reply = try await server.expectOnly(audit: ["nag.updated"], events: ["nag_updated"], stamped: 1) {
                    try await patch(["description": .string(words)], as: person)
                }
                #expect(reply.json?["description"] == .string(words))
                #expect(
                    try await server.audit(family.id).last?.details == [
                        "description_length": "\(words.count)", "source": "text",
                    ])
                let feed = try await server.call(API.syncEvents, SyncQuery(familyID: family.id), as: family.child)
                #expect(feed.nags.first?.description == words)
                #expect(try await server.payloads("nag_updated", of: nag.id).allSatisfy { !$0.contains("bins") })
            }
            try await server.expectOnly {
                let same = try await patch(["category": "chores"], as: family.guardian)
                #expect(same.json?["description"] != .null)
            }
            #expect(try await patch(["description": .null], as: family.guardian).json?["description"] == .null)
            #expect(
                try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.child).description == nil)
        }
    }

    @Test("a commit time stays until null removes it, and absent leaves it")
    func promise() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let moment = server.clock.now() + .hours(1)
            _ = try await Self.update(nag.id, NagUpdate(committedAt: .value(moment)), as: family.child, on: server)
            let moved = try await Self.update(nag.id, NagUpdate(category: .meds), as: family.guardian, on: server)
            #expect(moved.committedAt == moment)
            let cleared = try await server.expectOnly(audit: ["nag.committed"], events: ["nag_committed"]) {
                try await Self.update(nag.id, NagUpdate(committedAt: .null), as: family.child, on: server)
            }
            #expect(cleared.committedAt == nil)
            #expect(try await server.audit(family.id).last?.details == ["committed_at": "none", "source": "text"])
        }
    }

    @Test("a guardian who nags themself may edit and commit at once")
    func both() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.guardian)
            let moment = server.clock.now() + .hours(1)
            let after = try await server.expectOnly(
                audit: ["nag.updated"], events: ["nag_committed", "nag_updated"], stamped: 1
            ) {
                try await Self.update(
                    nag.id, NagUpdate(dueAt: moment, committedAt: .value(moment)), as: family.guardian, on: server)
            }
            #expect(after.dueAt == moment && after.committedAt == moment)
        }
    }

    @Test("an edit of the due time begins a new cycle, and a snooze does not")
    func cycles() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            func cycle() async throws -> Timestamp {
                try await server.database.rows("SELECT cycle_started_at FROM nags") { try $0["cycle_started_at"] }[0]
            }
            let made = server.clock.now()
            server.clock.advance(by: .minutes(5))
            let later = NagUpdate(dueAt: nag.dueAt + .minutes(10))
            _ = try await Self.update(nag.id, later, as: family.child, on: server)
            #expect(try await cycle() == made)
            _ = try await Self.update(nag.id, NagUpdate(category: .meds), as: family.guardian, on: server)
            #expect(try await cycle() == made)
            _ = try await Self.update(
                nag.id, NagUpdate(dueAt: nag.dueAt + .hours(9)), as: family.guardian, on: server)
            #expect(try await cycle() == made + .minutes(5))
        }
    }

    @Test("an overdue nag is snoozed from now on, within the family's limit")
    func overdue() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.sql("UPDATE policies SET max_snooze_minutes = 5 WHERE family_id = \(family.id)")
            let nag = try await server.nag(from: family.guardian, to: family.participant)
            server.clock.advance(by: .hours(3))
            let now = server.clock.now()
            try await server.expect(.refusal(.validationFailed, "due_at")) {
                try await Self.update(nag.id, NagUpdate(dueAt: now + .minutes(6)), as: family.participant, on: server)
            }
            _ = try await Self.update(nag.id, NagUpdate(dueAt: now + .minutes(5)), as: family.participant, on: server)
        }
    }

    @Test("a child snoozes as often a local day as its settings say, and an adult without a limit")
    func allowance() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let child = family.child.id
            try await server.sql("UPDATE child_settings SET max_snoozes_per_day = 2 WHERE user_id = \(child)")
            func snooze(_ nag: NagID, _ person: TestPerson) async throws {
                let due = try await server.call(API.getNag, NagPath(nagID: nag), as: person).dueAt
                _ = try await Self.update(nag, NagUpdate(dueAt: due + .minutes(1)), as: person, on: server)
            }
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let outcomes = try await together(outcomesOf: 6) { _ in
                let due = try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.child).dueAt
                return try await Self.update(nag.id, NagUpdate(dueAt: due + .minutes(1)), as: family.child, on: server)
            }
            #expect(outcomes.contains { (try? $0.get()) != nil })
            #expect(try await server.payloads("nag_snoozed", of: nag.id).count <= 2)
            while try await server.payloads("nag_snoozed", of: nag.id).count < 2 {
                try await snooze(nag.id, family.child)
            }
            // One of those that ran together may have been refused for the same reason: a repeated refusal is counted.
            let isTold = try await server.audit(family.id).contains { $0.kind == "nag.snooze.denied" }
            try await server.expectOnly(audit: isTold ? [] : ["nag.snooze.denied"]) {
                try await server.expect(.refusal(.policyForbidden)) { try await snooze(nag.id, family.child) }
            }
            server.clock.set(to: ManualClock.start + .hours(13))
            try await Self.resnooze(nag.id, as: family.child, on: server)
            try await server.sql("UPDATE child_settings SET can_snooze = false WHERE user_id = \(child)")
            server.clock.advance(by: .minutes(1))
            try await server.expectOnly(audit: ["nag.snooze.denied"]) {
                try await server.expect(.refusal(.policyForbidden)) {
                    try await Self.resnooze(nag.id, as: family.child, on: server)
                }
            }
            #expect(try await server.audit(family.id).last?.details == ["reason": "snooze_not_allowed"])
            let adult = try await server.nag(from: family.guardian, to: family.participant)
            for _ in 0..<4 { try await snooze(adult.id, family.participant) }
        }
    }

    private static func resnooze(_ nag: NagID, as person: TestPerson, on server: TestServer) async throws {
        let due = NagUpdate(dueAt: server.clock.now() + .minutes(10))
        _ = try await update(nag, due, as: person, on: server)
    }

    @Test("a closed nag cannot be changed")
    func closed() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.complete(nag.id, as: family.child)
            for (person, changes) in [
                (family.guardian, NagUpdate(category: .meds)),
                (family.child, NagUpdate(dueAt: nag.dueAt + .minutes(1))),
                (family.child, NagUpdate(committedAt: .null)),
            ] {
                try await server.expectOnly {
                    try await server.expect(.refusal(.conflict)) {
                        try await Self.update(nag.id, changes, as: person, on: server)
                    }
                }
            }
        }
    }

    // MARK: Withdrawing and dismissing

    @Test("the creator alone withdraws an open nag, and a second withdrawal changes nothing")
    func withdraw() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child)
            func withdraw(_ nag: NagID, _ person: TestPerson) async throws -> NagResponse {
                try await server.call(API.withdrawNag, NagPath(nagID: nag), as: person)
            }
            for person in [family.child, family.guardian] {
                try await server.expectOnly(audit: ["nag.withdraw.denied"]) {
                    try await server.expect(.refusal(.authorizationDenied)) { try await withdraw(nag.id, person) }
                }
            }
            let once = try await server.expectOnly(audit: ["nag.withdrawn"], events: ["nag_withdrawn"], stamped: 1) {
                try await withdraw(nag.id, family.participant)
            }
            #expect(once.status == .withdrawn)
            let twice = try await server.expectOnly { try await withdraw(nag.id, family.participant) }
            #expect(twice == once)
            let done = try await server.nag(from: family.participant, to: family.child)
            _ = try await server.complete(done.id, as: family.child)
            try await server.expect(.refusal(.conflict)) { try await withdraw(done.id, family.participant) }
            try await server.expect(.refusal(.conflict)) { try await server.complete(nag.id, as: family.child) }
        }
    }

    @Test("the recipient alone dismisses and undismisses a nag, whatever its status")
    func dismiss() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let path = NagPath(nagID: nag.id)
            try await server.expectOnly(audit: ["nag.dismiss.denied"]) {
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.call(API.dismissNag, path, as: family.guardian)
                }
            }
            let dismissed = try await server.expectOnly(
                audit: ["nag.dismissed"], events: ["nag_dismissed"], stamped: 1
            ) { try await server.call(API.dismissNag, path, as: family.child) }
            #expect(dismissed.recipientDismissedAt == server.clock.now() && dismissed.status == .open)
            server.clock.advance(by: .seconds(9))
            let again = try await server.expectOnly { try await server.call(API.dismissNag, path, as: family.child) }
            #expect(again == dismissed)
            _ = try await server.complete(nag.id, as: family.child)
            let back = try await server.expectOnly(
                audit: ["nag.undismissed"], events: ["nag_undismissed"], stamped: 1
            ) { try await server.call(API.undismissNag, path, as: family.child) }
            #expect(back.recipientDismissedAt == nil && back.status == .completed)
        }
    }

    @Test("with If-Match a nag is changed only if its etag still holds, which edits and status change")
    func ifMatch() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let first = try await server.call(
                API.createNag, server.order(for: family.child, in: family.id), as: family.guardian)
            let path = "/api/v1/nags/\(first.id)"
            func call(_ method: String, _ path: String, _ body: JSONValue?, tag: String) async throws -> Reply {
                try await server.call(method, path, as: family.guardian, body: body, headers: ["If-Match": tag])
            }
            let changed = try await call("PATCH", path, ["category": "meds"], tag: first.etag)
            #expect(changed.status == 200 && changed.json?["etag"]?.stringValue != first.etag)
            let second = try #require(changed.json?["etag"]?.stringValue)
            let stranger = try await server.account()
            try await server.expectOnly {
                for (method, path, body) in [
                    ("PATCH", path, ["category": "other"]), ("POST", path + "/withdraw", nil),
                    ("POST", path + "/status", ["status": "completed"]),
                ] as [(String, String, JSONValue?)] {
                    let refused = try await call(method, path, body, tag: first.etag)
                    #expect(refused.status == 412 && refused.errorCode == "PRECONDITION_FAILED", "\(path)")
                }
                // Whoever may not see the nag learns nothing of its state.
                let hidden = try await server.call(
                    "PATCH", path, as: stranger, body: ["category": "other"], headers: ["If-Match": first.etag])
                #expect(hidden.status == 404)
            }
            let read = try await server.call(API.getNag, NagPath(nagID: first.id), as: family.child)
            let listed = try await server.call(
                API.listNags, NagListQuery(familyID: family.id), as: family.secondGuardian)
            #expect(read.etag == second && listed.items.map(\.etag) == [second])
            let withdrawn = try await call("POST", path + "/withdraw", nil, tag: "\"other\", \(second)")
            #expect(withdrawn.status == 200)
            let last = try await server.call(API.getNag, NagPath(nagID: first.id), as: family.guardian)
            #expect(last.etag != second)
        }
    }
}
