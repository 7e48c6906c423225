import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Feed: visibility for each member")
struct FeedVisibilityTests {
    /// A family with nags between different members, and something of each kind hanging on each.
    private struct Scene {
        let home: Household
        /// Guardian to child, guardian to participant, participant to child, guardian to guardian.
        let nags = (1...4).map { NagID(high: 7, low: UInt64($0)) }
    }

    private func scene(_ server: TestServer, consents: [ConsentType] = [.aiMediation, .gamificationParticipation])
        async throws -> Scene
    {
        let home = try await server.family(consents: consents)
        let scene = Scene(home: home)
        let now = server.clock.now()
        let pairs = [
            (home.guardian, home.child), (home.guardian, home.participant), (home.participant, home.child),
            (home.guardian, home.secondGuardian),
        ]
        for (nag, (creator, recipient)) in zip(scene.nags, pairs) {
            try await server.commit(
                [
                    FeedRows.nag(nag, from: creator, to: recipient, at: now),
                    FeedRows.events(of: nag, from: creator, for: recipient, by: creator, at: now),
                    FeedRows.mediations(about: nag, by: home.guardian, at: now),
                ] + FeedRows.points(for: recipient, at: now),
                in: home.id)
        }
        // About no nag: a digest the second guardian asked for, patterns the child asked for.
        try await server.commit([FeedRows.mediations(by: home.secondGuardian, at: now)], in: home.id)
        try await server.commit([FeedRows.mediations(by: home.child, at: now)], in: home.id)
        return scene
    }

    private func everything(_ server: TestServer, _ home: Household, _ person: TestPerson) async throws -> SyncResponse
    {
        try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: person)
    }

    @Test(
        "guardians see all nags and others their own, and everybody all points and their own AI answers"
    )
    func visibility() async throws {
        try await TestServer.run { server in
            let scene = try await scene(server)
            let home = scene.home
            for (person, own, mediations) in [
                (home.guardian, [0, 1, 2, 3], 4), (home.secondGuardian, [0, 1, 2, 3], 1),
                (home.participant, [1, 2], 0), (home.child, [0, 2], 1),
            ] {
                let answer = try await everything(server, home, person)
                let expected = Set(own.map { scene.nags[$0] })
                #expect(Set(answer.nags.map(\.id)) == expected, "\(person.name)")
                #expect(Set(answer.nagEvents.map(\.nagID)) == expected, "\(person.name)")
                #expect(answer.nagEvents.count == own.count, "\(person.name)")
                #expect(answer.aiMediationEvents.count == mediations, "\(person.name)")
                let about = Set(answer.aiMediationEvents.map(\.nagID)).subtracting([NagID(high: 0, low: 0)])
                #expect(about == (person == home.guardian ? expected : []), "\(person.name)")
                #expect(answer.gamificationEvents.count == 4, "\(person.name)")
                #expect(answer.connections.isEmpty && answer.deleted.isEmpty)
            }
        }
    }

    @Test(
        "mediation and points are hidden without their consents, and visible again with them",
        arguments: [ConsentType.aiMediation, .gamificationParticipation])
    func consents(_ type: ConsentType) async throws {
        try await TestServer.run { server in
            let home = try await scene(server, consents: [.aiMediation, .gamificationParticipation]).home
            func kept(_ answer: SyncResponse) -> Int {
                type == .aiMediation ? answer.aiMediationEvents.count : answer.gamificationEvents.count
            }
            var (legacy, exact) = (LegacySyncer(home.guardian, home.id), CursorSyncer(home.guardian, home.id))
            try await legacy.poll(server)
            try await exact.poll(server)
            let consent: ConsentID = try await server.database.rows(
                "SELECT id FROM consents WHERE consent_type = \(type)"
            ) { try $0["id"] }[0]
            server.clock.advance(by: .seconds(3))
            try await server.call(
                API.updateConsent, ConsentPath(consentID: consent), ConsentUpdate(isRevoked: true), as: home.guardian)
            for person in home.members {
                let answer = try await everything(server, home, person)
                #expect(kept(answer) == 0 && !answer.nags.isEmpty, "\(person.name)")
            }
            // Both clients ask while it is kept back, so their places now lie past rows they were not given.
            server.clock.advance(by: .seconds(3))
            let now = server.clock.now()
            try await server.commit(
                [FeedRows.mediations(by: home.guardian, at: now)] + FeedRows.points(for: home.child, at: now),
                in: home.id)
            server.clock.advance(by: .seconds(3))
            #expect(try await kept(legacy.poll(server, isResync: true)) == 0)
            #expect(try await kept(exact.poll(server)) == 0)
            let refetches = exact.refetches
            #expect(try await legacy.poll(server).count < 3, "the smaller view is known")
            try await server.call(API.grantConsent, ConsentCreate(familyID: home.id, type: type), as: home.guardian)
            try await legacy.poll(server, isResync: true)
            try await exact.poll(server)
            let expected = try await kept(everything(server, home, home.guardian))
            #expect(expected == 5)
            for held in [legacy.held, exact.held] {
                #expect((type == .aiMediation ? held.mediations.count : held.points.count) == expected)
            }
            #expect(exact.refetches == refetches + 1 && legacy.faults.isEmpty)
        }
    }

    @Test("a position handed out before a consent, but stored after it, skips nothing")
    func grantRacingWithConsent() async throws {
        try await TestServer.run { server in
            let scene = try await scene(server, consents: [])
            let home = scene.home
            let answer = try await everything(server, home, home.guardian)
            #expect(answer.aiMediationEvents.isEmpty)
            // The note of the answer above reaches the database only now, after the consent.
            let note: [Int64] = try await server.database.rows("SELECT places[1] AS place FROM sync_grants") {
                try $0["place"]
            }
            try await server.sql("DELETE FROM sync_grants")
            try await server.call(
                API.grantConsent, ConsentCreate(familyID: home.id, type: .aiMediation), as: home.guardian)
            try await server.sql(
                "INSERT INTO sync_grants (session_id, family_id, places) VALUES (\(home.guardian.session), \(home.id), ARRAY[\(note[0])])"
            )
            let next = try await server.call(
                API.syncEvents, SyncQuery(familyID: home.id, since: answer.serverTime.flooredToSecond),
                as: home.guardian)
            #expect(next.aiMediationEvents.count == 4)
        }
    }

    @Test("somebody who becomes a guardian gets what was hidden from them")
    func promotion() async throws {
        try await TestServer.run { server in
            let scene = try await scene(server)
            let home = scene.home
            var (legacy, exact) = (LegacySyncer(home.participant, home.id), CursorSyncer(home.participant, home.id))
            try await legacy.poll(server)
            try await exact.poll(server)
            #expect(legacy.held.nags.count == 2 && exact.held.nags.count == 2)
            try await server.commit(
                ["UPDATE memberships SET role = 'guardian' FROM ledger_stamp WHERE user_id = \(home.participant.id)"],
                in: home.id,
                changesRights: true)
            try await legacy.poll(server, isResync: true)
            try await exact.poll(server)
            #expect(legacy.held.nags.count == 4 && exact.held.nags.count == 4)
        }
    }

    @Test("a removed member is refused from that moment, and misses nothing after returning")
    func removalAndReturn() async throws {
        try await TestServer.run { server in
            let scene = try await scene(server)
            let home = scene.home
            var (legacy, exact) = (LegacySyncer(home.participant, home.id), CursorSyncer(home.participant, home.id))
            try await legacy.poll(server)
            try await exact.poll(server)
            func set(_ status: String) async throws {
                server.clock.advance(by: .seconds(2))
                try await server.commit(
                    [
                        """
                        UPDATE memberships SET status = \(status), removed_at = \(status == "removed" ? server.clock.now() : nil)
                        FROM ledger_stamp WHERE user_id = \(home.participant.id)
                        """
                    ], in: home.id, changesRights: true)
            }
            try await set("removed")
            let refused = try await refusal { try await legacy.poll(server) }
            #expect(refused.code == .authorizationDenied)
            #expect(try await refusal { try await exact.poll(server) }.status == 403)
            try await server.commit(
                [FeedRows.events(of: scene.nags[1], for: home.participant, by: home.guardian, at: server.clock.now())],
                in: home.id)
            try await set("active")
            try await legacy.poll(server)
            try await exact.poll(server)
            #expect(legacy.held.events.count == 3 && exact.held.events.count == 3)
        }
    }

    // MARK: Shapes

    @Test("every date has three digits and Z, a missing description is null, and a payload has strings")
    func shapes() async throws {
        try await TestServer.run { server in
            let home = try await scene(server).home
            server.clock.advance(by: Timestamp.Span(microseconds: 1_234_000))
            let now = server.clock.now()
            try await server.commit(
                [
                    FeedRows.nag(
                        NagID(high: 8, low: 1), from: home.guardian, to: home.child,
                        description: "a \"b\" \u{1F600}\n\u{1}", at: now)
                ], in: home.id)
            let reply = try await server.call("GET", "/api/v1/sync/events?family_id=\(home.id)", as: home.guardian)
            let json = try #require(reply.json)
            var dates = 0
            func check(_ value: JSONValue, _ key: String) {
                if let object = value.objectValue { for member in object.members { check(member.value, member.key) } }
                if let array = value.arrayValue { for element in array { check(element, key) } }
                guard key == "server_time" || key == "at" || key.hasSuffix("_at"), value != .null else { return }
                dates += 1
                let text = value.stringValue ?? ""
                #expect(
                    text.count == 24 && text.hasSuffix("Z") && Array(text.utf8)[19] == UInt8(ascii: "."),
                    "\(key): \(text)")
            }
            check(json, "")
            #expect(dates > 20)
            let nags = try #require(json["nags"]?.arrayValue)
            #expect(
                nags.allSatisfy { $0["family_id"]?.stringValue == home.id.description && $0["committed_at"] == .null })
            #expect(nags.filter { $0["description"] == .null }.count == 4)
            #expect(nags.last?["description"]?.stringValue == "a \"b\" \u{1F600}\n\u{1}")
            for event in try #require(json["nag_events"]?.arrayValue) {
                let payload = try #require(event["payload"]?.objectValue)
                #expect(payload.members.allSatisfy { $0.value.stringValue != nil } && payload["quote"] == "\"é\" 👍")
                #expect(event["actor_id"]?.stringValue != nil)
            }
        }
    }

    // MARK: Retention

    @Test("the feed keeps events and missed nags for 90 days, other closed nags for 30, and open nags for ever")
    func retention() async throws {
        try await TestServer.run { server in
            let home = try await scene(server).home
            let (open, closed, missed) = (NagID(high: 7, low: 1), NagID(high: 7, low: 2), NagID(high: 7, low: 3))
            try await server.commit([FeedRows.close(missed, as: .missed, at: server.clock.now())], in: home.id)
            try await server.commit([FeedRows.close(closed, as: .completed, at: server.clock.now())], in: home.id)
            func nags() async throws -> [NagID: String] {
                let answer = try await everything(server, home, home.guardian)
                return Dictionary(uniqueKeysWithValues: answer.nags.map { ($0.id, $0.status) })
            }
            func events() async throws -> [Int] {
                let answer = try await everything(server, home, home.guardian)
                return [answer.nagEvents.count, answer.aiMediationEvents.count, answer.gamificationEvents.count]
            }
            #expect(try await nags()[closed] == "completed")
            server.clock.advance(by: .days(30))
            #expect(try await nags()[closed] == "completed")
            server.clock.advance(by: .milliseconds(1))
            let left = try await nags()
            #expect(left[closed] == nil && left[open] == "open" && left[missed] == "missed")
            #expect(try await events() == [4, 4, 4])
            server.clock.advance(by: .days(60) - .milliseconds(1))
            #expect(try await events() == [4, 4, 4])
            #expect(try await nags()[missed] == "missed")
            server.clock.advance(by: .milliseconds(1))
            #expect(try await events() == [0, 0, 0])
            #expect(try await nags()[missed] == nil)
            server.clock.advance(by: .days(3_000))
            #expect(try await nags().keys.sorted() == [open, NagID(high: 7, low: 4)])
        }
    }

    @Test("the feed keeps missed nags as long as their events: 90 days", arguments: Who.allCases.prefix(4))
    func missedNags(_ who: Who) async throws {
        try await TestServer.run { server in
            let home = try await server.family()
            let person = who(home)
            let nag = NagID(high: 7, low: 9)
            try await server.commit(
                [
                    FeedRows.nag(nag, from: home.guardian, to: person, at: server.clock.now())
                ], in: home.id)
            try await server.commit(
                [
                    FeedRows.close(nag, as: .missed, at: server.clock.now()),
                    FeedRows.events(
                        of: nag, for: person, by: home.guardian, type: "nag_missed", at: server.clock.now()),
                ], in: home.id)
            func counts() async throws -> [Int] {
                let page = try await everything(server, home, person)
                return [page.nags.filter { $0.id == nag && $0.status == "missed" }.count, page.nagEvents.count]
            }
            server.clock.advance(by: .days(31))
            #expect(try await counts() == [1, 1])
            server.clock.advance(by: .days(59))
            #expect(try await counts() == [1, 1])
            server.clock.advance(by: .milliseconds(1))
            #expect(try await counts() == [0, 0])
        }
    }

    @Test(
        "a cursor older than the oldest closed nag begins anew unless nothing happened, so that no nag stays open"
    )
    func oldCursors() async throws {
        try await TestServer.run { server in
            let home = try await scene(server).home
            var (away, still) = (CursorSyncer(home.guardian, home.id), CursorSyncer(home.child, home.id))
            try await away.poll(server)
            try await still.poll(server)
            server.clock.advance(by: .days(40))
            try await still.poll(server)
            #expect(still.refetches == 1)
            try await server.commit(
                [FeedRows.close(NagID(high: 7, low: 1), as: .withdrawn, at: server.clock.now())], in: home.id)
            server.clock.advance(by: .days(31))
            try await away.poll(server)
            #expect(away.refetches == 2 && away.held.nags[NagID(high: 7, low: 1)] == nil && away.held.nags.count == 3)
        }
    }
}

private func - (left: Timestamp.Span, right: Timestamp.Span) -> Timestamp.Span {
    Timestamp.Span(microseconds: left.microseconds - right.microseconds)
}
