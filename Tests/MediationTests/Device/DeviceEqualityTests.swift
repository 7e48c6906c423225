import Contract
import Device
import Domain
import FamilyHistories
import JSON
import LocalAI
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// Random pasts in a real server, synced to real devices, and the operations asked on both sides.
@Suite("Equality of the server's and the device's answers over HTTP")
struct DeviceEqualityTests {
    private static func members(_ home: Household) -> [FamilyHistory.Member] {
        [
            FamilyHistory.Member(id: home.child.id, name: "Cleo", role: .child),
            FamilyHistory.Member(id: home.guardian.id, name: "Gia", role: .guardian),
            FamilyHistory.Member(id: home.participant.id, name: "Gia", role: .participant),
            FamilyHistory.Member(id: home.secondGuardian.id, name: "Gus", role: .guardian),
            FamilyHistory.Member(id: home.removed.id, name: "Remy", role: .participant, status: .removed),
        ]
    }

    @Test("server and device give every member the same answers over HTTP, in both modes of sync", arguments: 0..<24)
    func same(number: Int) async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let home = try await server.family()
                let history = FamilyHistory.random(
                    seed: UInt64(500 + number), family: home.id, members: Self.members(home),
                    nagCount: number.isMultiple(of: 6) ? 90 : 20)
                server.clock.set(to: history.now)
                try await server.load(history, of: home)
                let people = [home.guardian, home.child, home.participant]
                let readers = number.isMultiple(of: 6) ? people : [people[number % 3]]
                for reader in readers {
                    let device = try TestDevice(server, reader, in: "\(folder)/\(reader.name)")
                    try await device.sync(number.isMultiple(of: 2) ? .cursor : .timestamps)
                    let compared = try await compare(device, history)
                    #expect(compared > 0, "\(reader.name)")
                }
            }
        }
    }

    /// What a device holds the facts for is what the server says; anything else it does not answer.
    private func compare(_ device: TestDevice, _ history: FamilyHistory) async throws -> Int {
        let (mine, theirs) = (try device.heuristics(), ServerAIService(device.client))
        var compared = 0
        func same<Answer: Equatable>(_ local: () async throws -> Answer, _ remote: () async throws -> Answer)
            async throws
        {
            let answer: Answer
            do { answer = try await local() } catch is CacheMiss { return }
            let other = try await remote()
            #expect(answer == other)
            compared += 1
        }
        for nag in history.nags.prefix(12).map(\.id) {
            guard mayRead(device.person, nag, history) else {
                await #expect(throws: CacheMiss.nagUnknown) { try await mine.selectTone(nagID: nag) }
                await #expect(throws: ClientError.self) { try await theirs.selectTone(nagID: nag) }
                continue
            }
            try await same({ try await mine.selectTone(nagID: nag) }, { try await theirs.selectTone(nagID: nag) })
            try await same({ try await mine.coaching(nagID: nag) }, { try await theirs.coaching(nagID: nag) })
            try await same(
                { try await mine.predictCompletion(nagID: nag) }, { try await theirs.predictCompletion(nagID: nag) })
            if asksForPushBacks(device.person, nag, history) {
                try await same({ try await mine.pushBack(nagID: nag) }, { try await theirs.pushBack(nagID: nag) })
            }
            let text = "I'm sorry, the meeting ran late 👩‍👩‍👧"
            try await same(
                { try await mine.summarizeExcuse(text, nagID: nag) },
                { try await theirs.summarizeExcuse(text, nagID: nag) })
        }
        for member in history.members {
            try await same(
                { try await mine.patterns(userID: member.id, familyID: history.family) },
                { try await theirs.patterns(userID: member.id, familyID: history.family) })
        }
        for text in ["What is due for me?", "How did I do this week?", "Why so strict?", "Is she late?"] {
            let own = device.person.id
            try await same(
                { try await mine.askCoach(text, of: own, familyID: history.family) },
                { try await theirs.askCoach(text, of: own, familyID: history.family) })
        }
        try await same(
            { try await mine.digest(familyID: history.family) }, { try await theirs.digest(familyID: history.family) })
        return compared
    }

    private func mayRead(_ person: TestPerson, _ nag: NagID, _ history: FamilyHistory) -> Bool {
        isCreatorOrGuardian(person, nag, history)
            || history.nags.contains { $0.id == nag && $0.recipient == person.id }
    }

    private func isCreatorOrGuardian(_ person: TestPerson, _ nag: NagID, _ history: FamilyHistory) -> Bool {
        person.role == .guardian || history.nags.contains { $0.id == nag && $0.creator == person.id }
    }

    /// Nobody asks for push-backs to somebody who was removed.
    private func asksForPushBacks(_ person: TestPerson, _ nag: NagID, _ history: FamilyHistory) -> Bool {
        let removed = Set(history.members.filter { $0.status == .removed }.map(\.id))
        return isCreatorOrGuardian(person, nag, history)
            && !history.nags.contains { $0.id == nag && removed.contains($0.recipient) }
    }
}

@Suite("A device's facts")
struct DeviceFactsTests {
    @Test("facts are about everybody for a guardian, about oneself for others, and only on request")
    func visibility() async throws {
        try await TestServer.run { server in
            let home = try await server.family()
            _ = try await server.nag(from: home.guardian, to: home.child, in: home.id)
            func facts(_ person: TestPerson, asked: Bool = true) async throws -> FamilyFacts? {
                try await server.call(API.syncEvents, SyncQuery(familyID: home.id, includesFacts: asked), as: person)
                    .facts
            }
            let all = try #require(try await facts(home.guardian))
            #expect(Set(all.members.map(\.userID)) == Set((home.members + [home.removed]).map(\.id)))
            #expect(all.members.count { $0.status == .removed } == 1 && all.allowsMediation)
            for person in [home.child, home.participant] {
                #expect(try await facts(person)?.members.map(\.userID) == [person.id])
            }
            #expect(try await facts(home.guardian, asked: false) == nil)
        }
    }

    @Test("a poll has facts only after a change, and then the new values")
    func onlyWhenChanged() async throws {
        try await TestServer.run { server in
            let home = try await server.family(consents: [])
            _ = try await server.nag(from: home.guardian, to: home.child, in: home.id)
            var cursor = "start"
            func poll() async throws -> FamilyFacts? {
                let query = SyncQuery(familyID: home.id, cursor: cursor, includesFacts: true)
                let page = try await server.call(API.syncEvents, query, as: home.child)
                cursor = page.cursor
                return page.facts
            }
            let first = try #require(try await poll())
            #expect(
                !first.allowsMediation && first.members[0].quietHours == nil && first.timeZone == "America/New_York")
            #expect(try await poll() == nil)
            try await server.call(
                API.updatePreferences, FamilyQuery(familyID: home.id),
                PreferenceUpdate(preferences: [
                    "timezone": "Europe/Berlin", "quiet_hours_enabled": true, "pushback_mode": "off",
                    "ai_on_device_enabled": false, "tone": "playful",
                ]), as: home.child)
            let changed = try #require(try await poll()).members[0]
            #expect(changed.timeZone == "Europe/Berlin" && changed.quietHours == .standard)
            #expect(changed.pushBackMode == .off && !changed.allowsOnDeviceAI && changed.tone == .playful)
            try await server.call(
                API.grantConsent, ConsentCreate(familyID: home.id, type: .aiMediation), as: home.guardian)
            #expect(try await poll()?.allowsMediation == true)
        }
    }

    @Test("facts have the quiet hours that guardians set for a child, and sums of its whole past")
    func sums() async throws {
        try await TestServer.run { server in
            let home = try await server.family()
            try await server.sql(
                """
                UPDATE child_settings SET quiet_hours_start = '20:15', quiet_hours_end = '06:00'
                WHERE user_id = \(home.child.id)
                """)
            try await server.commit(
                [
                    """
                    INSERT INTO gamification_events
                        (family_id, id, user_id, event_type, delta_points, streak_delta, at, sync_seq, sync_ts)
                    SELECT family_id, gen_random_uuid(), \(home.child.id), 'bonus', 0, 7, ts, seq, ts FROM ledger_stamp
                    """,
                    "UPDATE member_totals SET streak = 7, events = 1 FROM ledger_stamp WHERE user_id = \(home.child.id)",
                ], in: home.id, at: server.clock.now() - .days(320))
            for (status, days) in [(NagStatus.completed, 300), (.missed, 100), (.completed, 1)] as [(NagStatus, Int64)]
            {
                let id: NagID = server.random.identifier(at: server.clock.now())
                let at = server.clock.now() - .days(days)
                try await server.commit(
                    [FeedRows.nag(id, from: home.guardian, to: home.child, at: at)], in: home.id, at: at)
                try await server.commit([FeedRows.close(id, as: status, at: at)], in: home.id, at: at)
            }
            let page = try await server.call(
                API.syncEvents, SyncQuery(familyID: home.id, includesFacts: true), as: home.child)
            let child = try #require(page.facts?.members.first)
            #expect(page.nags.count == 1 && child.streak == 7)
            #expect(child.resolvedCounts == [ResolvedNags(category: .chores, total: 3, completed: 2)])
            #expect(
                child.quietHours?.start.description == "20:15:00" && child.quietHours?.end.description == "06:00:00")
        }
    }
}
