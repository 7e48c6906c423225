import Contract
import Domain
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Feed: visibility of points")
struct FeedPointsTests {
    /// A family without a guardian's consent, where everybody has points of before.
    private struct Scene {
        let home: Household
        /// One more participant, besides the family's own.
        let pia: TestPerson

        var people: [TestPerson] { home.members + [pia] }
    }

    private func scene(_ server: TestServer, _ count: Int = 1) async throws -> Scene {
        let home = try await server.family(consents: [])
        let scene = Scene(home: home, pia: try await server.member("Pia", .participant, of: home))
        for person in scene.people { try await score(person, scene, server, count) }
        return scene
    }

    private func score(_ person: TestPerson, _ scene: Scene, _ server: TestServer, _ count: Int = 1) async throws {
        server.clock.advance(by: .seconds(2))
        try await server.commit(
            FeedRows.points(count, for: person, at: server.clock.now()), in: scene.home.id, stampedRows: count)
        server.clock.advance(by: .seconds(2))
    }

    @discardableResult
    private func agree(_ person: TestPerson, _ scene: Scene, _ server: TestServer) async throws -> ConsentID {
        try await server.grant(.gamificationParticipation, in: scene.home.id, as: person).id
    }

    /// Whose points somebody sees who asks for everything, by either contract.
    private func seen(by person: TestPerson, _ scene: Scene, _ server: TestServer) async throws -> Set<UserID> {
        let legacy = try await server.call(API.syncEvents, SyncQuery(familyID: scene.home.id), as: person)
        let exact = try await server.call(
            API.syncEvents, SyncQuery(familyID: scene.home.id, cursor: "start", includesFacts: true), as: person)
        #expect(legacy.gamificationEvents == exact.gamificationEvents)
        return Set(legacy.gamificationEvents.map(\.userID))
    }

    @Test("people with the consent see each other's points, and no one else's are visible")
    func consents() async throws {
        try await TestServer.run { server in
            let scene = try await scene(server)
            let (home, pat, pia) = (scene.home, scene.home.participant, scene.pia)
            func expect(_ sights: [(TestPerson, [TestPerson])], _ when: String) async throws {
                for (reader, people) in sights {
                    let seen = try await seen(by: reader, scene, server)
                    #expect(seen == Set(people.map(\.id)), "\(reader.name), \(when)")
                }
            }
            try await expect(scene.people.map { ($0, []) }, "nobody agreed")
            let own = try await agree(pat, scene, server)
            try await expect([(pat, [pat]), (pia, []), (home.child, []), (home.guardian, [])], "one agreed")
            try await agree(pia, scene, server)
            try await expect(
                [(pat, [pat, pia]), (pia, [pat, pia]), (home.child, []), (home.guardian, [])], "two agreed")
            let whole = try await agree(home.guardian, scene, server)
            try await expect(scene.people.map { ($0, scene.people) }, "a guardian agreed")
            _ = try await server.revoke(own, as: pat)
            try await expect(scene.people.map { ($0, scene.people) }, "a guardian's word is everybody's")
            _ = try await server.revoke(whole, as: home.guardian)
            try await expect([(pat, []), (pia, [pia]), (home.guardian, [])], "taken back")
            try await server.call(API.leaveFamily, FamilyPath(familyID: home.id), as: pia)
            try await agree(pat, scene, server)
            try await expect([(pat, [pat])], "who agreed has left")
        }
    }

    @Test("a later consent brings everybody what was hidden, at any position")
    func agreeingLater() async throws {
        try await TestServer.run { server in
            let scene = try await scene(server)
            let (home, pat, pia) = (scene.home, scene.home.participant, scene.pia)
            try await agree(pat, scene, server)
            var (legacy, exact) = (LegacySyncer(pat, home.id), CursorSyncer(pat, home.id))
            func poll(expecting people: [TestPerson], rows: Int, isAnew: Bool, _ when: String) async throws {
                let refetches = exact.refetches
                try await legacy.poll(server, isResync: isAnew)
                try await exact.poll(server)
                #expect(exact.refetches == refetches + (isAnew ? 1 : 0), "\(when)")
                for held in [legacy.held, exact.held] {
                    #expect(Set(held.points.values.map(\.userID)).isSuperset(of: people.map(\.id)), "\(when)")
                    #expect(held.points.count == rows, "\(when)")
                }
                #expect(try await legacy.poll(server).count <= 1, "\(when): the place is good")
                #expect(try await exact.poll(server).count == 0, "\(when)")
                server.clock.advance(by: .seconds(2))
            }
            try await poll(expecting: [pat], rows: 1, isAnew: true, "alone")
            // Both places now lie past the row.
            try await score(pia, scene, server)
            try await score(pat, scene, server)
            try await poll(expecting: [pat], rows: 2, isAnew: false, "what the other one gains is kept back")
            let own = try await agree(pia, scene, server)
            try await poll(expecting: [pat, pia], rows: 4, isAnew: true, "the other one agreed")
            try await score(pia, scene, server)
            try await poll(expecting: [pat, pia], rows: 5, isAnew: false, "seen from then on")

            // Less is seen without anything to fetch anew, and more once it is given again.
            _ = try await server.revoke(own, as: pia)
            try await score(pia, scene, server)
            try await exact.poll(server)
            try await legacy.poll(server, isResync: true)
            #expect(exact.held.points.count == 5 && legacy.held.points.count == 5)
            try await agree(pia, scene, server)
            try await poll(expecting: [pat, pia], rows: 6, isAnew: true, "agreed again")

            let whole = try await agree(home.guardian, scene, server)
            try await poll(expecting: scene.people, rows: 9, isAnew: true, "a guardian agreed")
            let refetches = exact.refetches
            _ = try await server.revoke(whole, as: home.guardian)
            try await score(home.child, scene, server)
            try await score(pat, scene, server)
            try await exact.poll(server)
            try await legacy.poll(server, isResync: true)
            #expect(exact.refetches == refetches && exact.held.points.count == 10 && legacy.held.points.count == 10)
            try await agree(home.secondGuardian, scene, server)
            try await poll(expecting: scene.people, rows: 11, isAnew: true, "another guardian agreed")
            #expect(legacy.faults.isEmpty)
        }
    }

    @Test("while everybody's points are visible, one more consent changes nothing")
    func oneMore() async throws {
        try await TestServer.run { server in
            let scene = try await scene(server)
            try await agree(scene.home.guardian, scene, server)
            var (legacy, exact) = (LegacySyncer(scene.pia, scene.home.id), CursorSyncer(scene.pia, scene.home.id))
            try await legacy.poll(server)
            try await exact.poll(server)
            try await agree(scene.pia, scene, server)
            server.clock.advance(by: .seconds(2))
            try await agree(scene.home.participant, scene, server)
            try await agree(scene.home.secondGuardian, scene, server)
            #expect(try await exact.poll(server).count == 0 && exact.refetches == 1)
            #expect(try await legacy.poll(server).count <= 1)
        }
    }

    @Test("a position handed out before a consent to points, but stored after it, skips nothing")
    func noteRacingWithConsent() async throws {
        try await TestServer.run { server in
            let scene = try await scene(server)
            let (home, pat) = (scene.home, scene.home.participant)
            try await agree(pat, scene, server)
            let answer = try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: pat)
            #expect(answer.gamificationEvents.count == 1)
            let notes: [Int64] = try await server.database.rows("SELECT places[1] AS place FROM sync_grants") {
                try $0["place"]
            }
            try await server.sql("DELETE FROM sync_grants")
            try await agree(scene.pia, scene, server)
            try await server.sql(
                """
                INSERT INTO sync_grants (session_id, family_id, places)
                VALUES (\(pat.session), \(home.id), ARRAY[\(notes[0])])
                """)
            let next = try await server.call(
                API.syncEvents, SyncQuery(familyID: home.id, since: answer.serverTime.flooredToSecond), as: pat)
            #expect(next.gamificationEvents.count == 2)
        }
    }

    @Test("a first sync in pages passes those without consent, and begins anew when one of them consents")
    func pages() async throws {
        try await TestServer.run { server in
            let scene = try await scene(server, 390)
            let (home, pat, pia) = (scene.home, scene.home.participant, scene.pia)
            for _ in 0..<6 { for person in [pat, pia] { try await score(person, scene, server, 390) } }
            try await agree(pat, scene, server)
            var (legacy, exact) = (LegacySyncer(pat, home.id), CursorSyncer(pat, home.id))
            #expect(try await legacy.poll(server).hasMore)
            #expect(try await exact.poll(server).hasMore)
            try await agree(pia, scene, server)
            try await legacy.poll(server, isResync: true)
            try await legacy.catchUp(server)
            try await exact.catchUp(server)
            #expect(legacy.held.points.count == 14 * 390 && exact.held.points.count == 14 * 390)
            #expect(legacy.faults.isEmpty && exact.refetches == 2)
            #expect(exact.held.points.values.allSatisfy { [pat.id, pia.id].contains($0.userID) })
        }
    }

    @Test("a position is one number of second and visibility")
    func numbers() {
        let second: Int64 = 1_773_154_800
        func number(_ kinds: Int64, since: Int64) -> Int64 {
            GrantedPosition(second: second, visibility: FeedVisibility(rawValue: kinds + since * 8)).storedNumber
        }
        #expect(number(7, since: 0) == second * 8 + 7)
        let numbers = [number(7, since: 1), number(7, since: 2), number(6, since: 2), number(7, since: 4_194_303)]
        #expect(Set(numbers).count == 4 && numbers.allSatisfy { ($0 & (1 << 41 - 1)) >> 3 == second })
        #expect(number(7, since: .max >> 3) > 0)
    }
}
