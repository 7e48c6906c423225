import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Feed: access and starting points")
struct FeedGateTests {
    /// Somebody who asks, and what they are told.
    struct Asking: Sendable, CustomTestStringConvertible {
        let who: String
        let status: Int
        var code: String?
        var testDescription: String { "\(who): \(status)" }
    }

    @Test(
        "the feed answers members, and refuses guests, ended sessions and everybody else",
        arguments: [
            Asking(who: "guardian", status: 200), Asking(who: "second guardian", status: 200),
            Asking(who: "participant", status: 200), Asking(who: "child", status: 200),
            Asking(who: "guest", status: 401, code: "AUTHN_FAILED"),
            Asking(who: "ended session", status: 401, code: "AUTHN_FAILED"),
            Asking(who: "expired session", status: 401, code: "AUTHN_FAILED"),
            Asking(who: "deleted account", status: 401, code: "AUTHN_FAILED"),
            Asking(who: "removed", status: 403, code: "AUTHZ_DENIED"),
            Asking(who: "stranger", status: 403, code: "AUTHZ_DENIED"),
            Asking(who: "no family", status: 403, code: "AUTHZ_DENIED"),
            Asking(who: "pending", status: 403, code: "AUTHZ_DENIED"),
        ])
    func gate(_ asking: Asking) async throws {
        try await TestServer.run { server in
            let home = try await server.family()
            let loner = try await server.account()
            try await server.commit(
                [
                    FeedRows.nag(
                        server.random.identifier(at: server.clock.now()), from: home.guardian, to: home.child,
                        at: server.clock.now())
                ],
                in: home.id)
            let people: [String: TestPerson] = [
                "guardian": home.guardian, "second guardian": home.secondGuardian, "participant": home.participant,
                "child": home.child, "removed": home.removed, "stranger": home.stranger, "no family": loner,
                "pending": home.child, "ended session": home.participant, "expired session": home.participant,
                "deleted account": home.participant,
            ]
            switch asking.who {
            case "ended session":
                try await server.sql(
                    "UPDATE sessions SET revoked_at = \(server.clock.now()) WHERE id = \(home.participant.session)")
            case "expired session":
                try await server.sql(
                    "UPDATE sessions SET expires_at = \(server.clock.now()) WHERE id = \(home.participant.session)")
            case "deleted account":
                try await server.deleteAccount(of: home.participant)
            case "pending":
                try await server.sql("UPDATE users SET status = 'pending_guardian_consent' WHERE id = \(home.child.id)")
            default: break
            }
            let reply = try await server.expectOnly {
                try await server.call("GET", "/api/v1/sync/events?family_id=\(home.id)", as: people[asking.who])
            }
            #expect(reply.status == asking.status)
            #expect(reply.errorCode == asking.code)
            if asking.status != 200 { #expect(!reply.text.contains("nag_id")) }
        }
    }

    @Test(
        "a missing or malformed parameter of the feed is 422",
        arguments: [
            "", "?family_id=x", "?family_id=FAMILY&since=yesterday", "?family_id=FAMILY&since=2026-03-10T10:00:00",
        ])
    func badParameters(_ query: String) async throws {
        try await TestServer.run { server in
            let home = try await server.family()
            let query = query.replacing("FAMILY", with: home.id.description)
            let reply = try await server.call("GET", "/api/v1/sync/events\(query)", as: home.guardian)
            #expect(reply.status == 422)
            #expect(reply.errorCode == "VALIDATION_ERROR")
        }
    }

    // MARK: Where a client says it is

    /// A family with one nag, written in the clock's present second, and one more written two seconds later.
    private func twoNags(_ server: TestServer) async throws -> (home: Household, since: Timestamp) {
        let home = try await server.family()
        let now = server.clock.now()
        try await server.commit(
            [FeedRows.nag(NagID(high: 1, low: 1), from: home.guardian, to: home.child, at: now)], in: home.id)
        let answer = try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: home.guardian)
        server.clock.advance(by: .seconds(2))
        try await server.commit(
            [FeedRows.nag(NagID(high: 1, low: 2), from: home.guardian, to: home.child, at: now)], in: home.id)
        return (home, answer.serverTime)
    }

    @Test("a since that was handed out gives what changed from its second on, and any other everything")
    func since() async throws {
        try await TestServer.run { server in
            let (home, since) = try await twoNags(server)
            func count(_ since: Timestamp?, as person: TestPerson) async throws -> Int {
                let answer = try await server.call(
                    API.syncEvents, SyncQuery(familyID: home.id, since: since), as: person)
                #expect(!answer.mustRefetch && !answer.hasMore)
                return answer.nags.count
            }
            // The first nag lies in the granted second itself, so it comes again.
            #expect(try await count(since.flooredToSecond, as: home.guardian) == 2)
            let later = try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: home.guardian)
                .serverTime
            #expect(try await count(later.flooredToSecond, as: home.guardian) == 1, "granted")
            #expect(
                try await count(later.flooredToSecond + .milliseconds(999), as: home.guardian) == 1, "with a fraction")
            #expect(try await count(nil, as: home.guardian) == 2, "absent")
            #expect(try await count(later.flooredToSecond - .seconds(1), as: home.guardian) == 2, "never handed out")
            #expect(try await count(later + .days(400), as: home.guardian) == 2, "of the future")
            #expect(try await count(later.flooredToSecond, as: home.secondGuardian) == 2, "handed to somebody else")
            for text in [
                "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
                later.flooredToSecond.rfc3339.replacing("Z", with: "%2B00:00"),
            ] {
                let reply = try await server.call(
                    "GET", "/api/v1/sync/events?family_id=\(home.id)&since=\(text)", as: home.guardian)
                #expect(reply.status == 200, "\(text)")
            }
        }
    }

    @Test("a since of another family gives everything")
    func sinceOfAnotherFamily() async throws {
        try await TestServer.run { server in
            let (home, since) = try await twoNags(server)
            // The mobile client keeps one cursor for all families: the child moves to the other one.
            _ = try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: home.participant)
            try await server.commit(
                [FeedRows.nag(NagID(high: 2, low: 1), from: home.stranger, to: home.stranger, at: since - .days(3))],
                in: home.otherFamilyID, at: since - .days(3))
            try await server.sql(
                "UPDATE memberships SET status = 'removed', removed_at = now() WHERE user_id = \(home.participant.id)")
            try await server.sql(
                """
                INSERT INTO memberships (family_id, user_id, role, status, joined_at)
                VALUES (\(home.otherFamilyID), \(home.participant.id), 'guardian', 'active', now())
                """)
            let answer = try await server.call(
                API.syncEvents, SyncQuery(familyID: home.otherFamilyID, since: since.flooredToSecond),
                as: home.participant)
            #expect(answer.nags.map(\.id) == [NagID(high: 2, low: 1)])
        }
    }

    @Test("a cursor of another family or epoch, of the future, or invented gives everything with must_refetch")
    func foreignCursors() async throws {
        try await TestServer.run { server in
            let (home, since) = try await twoNags(server)
            let answer = try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: home.guardian)
            let good = try #require(Cursor(answer.cursor))
            func poll(_ cursor: String) async throws -> SyncResponse {
                try await server.call(API.syncEvents, SyncQuery(familyID: home.id, cursor: cursor), as: home.guardian)
            }
            let unchanged = try await poll(answer.cursor)
            #expect(unchanged.count == 0 && !unchanged.mustRefetch && unchanged.cursor == answer.cursor)
            func changed(
                family: FamilyID? = nil, epoch: Int64? = nil, position: Timestamp? = nil,
                visibility: FeedVisibility? = nil,
                issuedAt: Timestamp? = nil
            ) -> String {
                Cursor(
                    family: family ?? good.family, epoch: epoch ?? good.epoch, position: position ?? good.position,
                    visibility: visibility ?? good.visibility, issuedAt: issuedAt ?? server.clock.now()
                ).text
            }
            let foreign = [
                changed(family: home.otherFamilyID), changed(epoch: 2), changed(position: good.position + .seconds(1)),
                changed(position: Timestamp(microseconds: .max)), changed(position: Timestamp(microseconds: .min)),
                changed(position: good.position - .seconds(1), issuedAt: since - .days(40)),
                changed(visibility: FeedVisibility(rawValue: 0)), changed(visibility: FeedVisibility(rawValue: 255)),
                changed(visibility: FeedVisibility(rawValue: -1)), "",
                "?",
                "AAAA", String(answer.cursor.dropLast()), answer.cursor + "A", String(repeating: "A", count: 4_000),
            ]
            for cursor in foreign {
                let answer = try await poll(cursor)
                #expect(answer.mustRefetch && answer.nags.count == 2, "\(cursor)")
            }
            #expect(
                try await poll(changed(position: good.position - .seconds(1))).nags.count == 1, "a position passed by")
            let past = try await poll(changed(position: since - .days(40)))
            #expect(!past.mustRefetch && past.nags.count == 2, "a page of a long past, asked for today")
            #expect(try await FeedEpoch.begin(databaseURL: TestLogin.owner.url(server.database.url)) == 2)
            let restored = try await poll(answer.cursor)
            #expect(restored.mustRefetch && restored.nags.count == 2)
            #expect(try await !poll(restored.cursor).mustRefetch)
        }
    }

    @Test("a cursor has precedence over a since")
    func cursorGoesFirst() async throws {
        try await TestServer.run { server in
            let (home, _) = try await twoNags(server)
            let first = try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: home.guardian)
            let answer = try await server.call(
                API.syncEvents, SyncQuery(familyID: home.id, since: Timestamp.epoch, cursor: first.cursor),
                as: home.guardian)
            #expect(answer.count == 0)
        }
    }

    @Test("polling without changes gives the same time and writes nothing; a session keeps sixteen positions at most")
    func unchangedPolls() async throws {
        try await TestServer.run { server in
            let (home, _) = try await twoNags(server)
            var syncer = LegacySyncer(home.guardian, home.id)
            try await syncer.poll(server)
            let time = try #require(syncer.since)
            func grants() async throws -> [JSONValue] { try await server.rows("SELECT * FROM sync_grants") }
            let before = try await grants()
            for _ in 0..<3 {
                server.clock.advance(by: .hours(1))
                try await server.expectOnly { try await syncer.poll(server) }
            }
            #expect(syncer.since == time, "the time of the family's last write, not the wall clock's")
            #expect(try await grants() == before)
            for number in 1...20 {
                server.clock.advance(by: .seconds(5))
                try await server.commit(
                    [FeedRows.nag(NagID(high: 9, low: UInt64(number)), from: home.guardian, to: home.child, at: time)],
                    in: home.id)
                try await syncer.poll(server)
            }
            let places = try await server.rows("SELECT cardinality(places) AS count FROM sync_grants")
            #expect(places.map { $0["count"] } == [16])
            #expect(syncer.held.nags.count == 22 && syncer.faults.isEmpty)
        }
    }

    @Test("the feed of a family without writes answers, and its time and cursor are valid")
    func untouched() async throws {
        try await TestServer.run { server in
            let home = try await server.family()
            var (legacy, exact) = (LegacySyncer(home.child, home.id), CursorSyncer(home.child, home.id))
            for _ in 0..<2 {
                #expect(try await legacy.poll(server).count == 0)
                #expect(try await exact.poll(server).count == 0)
            }
            #expect(legacy.since == .epoch && exact.refetches == 1)
        }
    }
}

/// Who may do what in the group `sync`.
extension MatrixRow {
    static let sync: [MatrixRow] = [
        MatrixRow(API.syncEvents, allowed: .members) {
            (SyncQuery(familyID: $0.family.id, includesFacts: true), NoBody())
        },
        MatrixRow(API.uploadEvents, allowed: .members) { scene in
            let item = OutboxItem(
                clientID: InputID(high: 7, low: 7), nagID: scene.nag, act: .status(.completed, note: nil),
                madeAt: ManualClock.start)
            return (NoParameters(), OutboxUpload(familyID: scene.family.id, items: [item]))
        },
    ]
}
