import Contract
import Device
import Domain
import LocalAI
import NagzAI
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("AI: visibility of texts before a draft is executed")
struct AITextTests {
    private static func mediations(_ server: TestServer, _ family: FamilyID, _ person: TestPerson) async throws
        -> [SyncedAIMediationEvent]
    {
        try await server.call(API.syncEvents, SyncQuery(familyID: family, includesFacts: true), as: person)
            .aiMediationEvents
    }

    @Test("each AI answer is in the feed of its requester, and of nobody else", arguments: MediatedCall.allCases)
    func asker(_ request: MediatedCall) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let home = scene.home
            let reply = try await request.send(scene, as: home.guardian, about: scene.nag)
            #expect(reply.status < 300)
            for person in home.members {
                let count = try await Self.mediations(server, home.id, person).count
                #expect(count == (person == home.guardian ? 1 : 0), "\(person.name)")
            }
        }
    }

    @Test("an answer that a recipient asked for is in no guardian's feed")
    func ownQuestion() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let home = scene.home
            _ = try await server.call(API.coach, CoachingRequest(nagID: scene.nag), as: home.child)
            #expect(try await Self.mediations(server, home.id, home.child).map(\.promptType) == ["coaching"])
            #expect(try await Self.mediations(server, home.id, home.guardian).isEmpty)
        }
    }

    @Test("a push-back reaches its recipient as push_back_sent of an executed draft, and not before")
    func executedDraft() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let home = scene.home
            func page(_ person: TestPerson) async throws -> SyncResponse {
                try await server.call(API.syncEvents, SyncQuery(familyID: home.id), as: person)
            }
            let answer = try await server.call(
                API.evaluatePushBack, NoParameters(), AIEnvelope(PushBackRequest(nagID: scene.nag, wantsDraft: true)),
                as: home.guardian)
            let message = try #require(answer.response.message)
            func texts(_ page: SyncResponse) -> [String] {
                page.aiMediationEvents.map(\.summary) + page.nagEvents.flatMap(\.payload.values)
            }
            for person in [home.child, home.secondGuardian] {
                #expect(try await !texts(page(person)).contains(message), "\(person.name)")
            }
            let draft = try await server.draft(#require(answer.draftID), as: home.guardian)
            let key = try await server.confirmed(draft, as: home.guardian)
            #expect(try await !texts(page(home.child)).contains(message), "approved is not executed")
            try await server.execute(draft, key, as: home.guardian)
            let seen = try await page(home.child)
            #expect(seen.aiMediationEvents.isEmpty)
            let sent = seen.nagEvents.filter { $0.eventType == "push_back_sent" }
            #expect(sent.map { $0.payload["message"] } == [message])
        }
    }

    @Test("mediation of a nag that somebody may not read does not reach their feed, even what they once asked for")
    func unreadableNag() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let (home, now) = (scene.home, server.clock.now())
            let nag = try await server.nag(from: home.participant, to: home.child, in: home.id)
            let sibling = try await server.member("Sid", .child, of: home)
            let people = [(home.secondGuardian, true), (home.participant, true), (home.child, true), (sibling, false)]
            // What an earlier version answered and recorded on their behalf.
            for (person, _) in people {
                try await server.commit([FeedRows.mediations(about: nag, by: person, at: now)], in: home.id)
            }
            for (person, reads) in people {
                #expect(try await Self.mediations(server, home.id, person).count == (reads ? 1 : 0), "\(person.name)")
            }
        }
    }

    @Test("every device of a guardian counts the push-backs that somebody else asked for, without their words")
    func countsOnDevices() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let scene = try await AIScene(server)
                let home = scene.home
                try await scene.setPolicy(maxPushBack: 2)
                let device = try TestDevice(server, home.secondGuardian, in: folder)
                try await device.sync()
                #expect(try await device.heuristics().pushBack(nagID: scene.nag).shouldPushBack)
                let first = try await scene.pushBack(as: home.guardian)
                try await device.sync()
                #expect(first.shouldPushBack)
                #expect(try device.cache.counts().mediations == 0)
                #expect(try await device.heuristics().pushBack(nagID: scene.nag).reason == "cooldown_active")
                server.clock.advance(by: .hours(2))
                #expect(try await device.heuristics().pushBack(nagID: scene.nag).shouldPushBack)
                #expect(try await scene.pushBack(as: home.guardian).shouldPushBack)
                server.clock.advance(by: .hours(2))
                try await device.sync()
                #expect(try await device.heuristics().pushBack(nagID: scene.nag).reason == "max_attempts_reached")
                // A moved due time begins a new cycle, which the cooldown outlives.
                let move = NagUpdate(dueAt: server.clock.now() + .hours(48))
                try await server.call(API.updateNag, NagPath(nagID: scene.nag), move, as: home.guardian)
                try await device.sync()
                #expect(try await device.heuristics().pushBack(nagID: scene.nag).shouldPushBack)
            }
        }
    }
}
