import Contract
import Device
import Domain
import LocalAI
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("AI: questions about nags that the requester may not read")
struct AIVisibilityTests {
    /// How somebody stands to a nag from the participant to the child.
    enum Part: String, CaseIterable, Sendable {
        case guardian, creator, recipient, sibling, uninvolved, removed, stranger

        var reads: Bool { [.guardian, .creator, .recipient].contains(self) }
        var asksForPushBacks: Bool { self == .guardian || self == .creator }
        var isOutside: Bool { self == .removed || self == .stranger }
    }

    private struct Cast {
        let scene: AIScene
        let nag: NagID
        let people: [Part: TestPerson]

        init(_ server: TestServer) async throws {
            scene = try await AIScene(server)
            let home = scene.home
            nag = try await server.nag(from: home.participant, to: home.child, in: home.id)
            people = [
                .guardian: home.secondGuardian, .creator: home.participant, .recipient: home.child,
                .sibling: try await server.member("Sid", .child, of: home),
                .uninvolved: try await server.member("Una", .participant, of: home), .removed: home.removed,
                .stranger: home.stranger,
            ]
        }

        func callAsFunction(_ part: Part) throws -> TestPerson { try #require(people[part]) }
    }

    @Test(
        "an AI operation about a nag answers and refuses as GET does, and a refusal is in the audit log alone",
        arguments: MediatedCall.allCases.filter(\.isAboutANag), Part.allCases)
    func asTheNagIs(_ request: MediatedCall, _ part: Part) async throws {
        try await TestServer.run { server in
            let cast = try await Cast(server)
            let person = try cast(part)
            let read = try await server.call("GET", "/api/v1/nags/\(cast.nag)", as: person)
            #expect((read.status == 200) == part.reads)
            if part.isOutside {
                let reply = try await server.expectOnly {
                    try await request.send(cast.scene, as: person, about: cast.nag)
                }
                #expect(reply.status == read.status && reply.errorCode == read.errorCode)
            } else if part.reads && (request != .pushBack || part.asksForPushBacks) {
                #expect(try await request.send(cast.scene, as: person, about: cast.nag).status < 300)
            } else {
                let reply = try await server.expectOnly(audit: ["\(request.kind).denied"]) {
                    try await request.send(cast.scene, as: person, about: cast.nag)
                }
                #expect(reply.status == 403 && reply.errorCode == "AUTHZ_DENIED")
                if !part.reads { #expect(reply.status == read.status && reply.errorCode == read.errorCode) }
                let entry = try #require(try await server.audit(cast.scene.home.id).last)
                #expect(entry.actor == person.pseudonym && entry.subject == cast.scene.home.child.pseudonym)
                #expect(entry.resource == cast.nag.retyped())
                #expect(entry.details["reason"] == (part.reads ? "creator_or_guardian_only" : "not_visible"))
            }
        }
    }

    @Test("neither the recipient nor bystanders can use up the limit of push-backs")
    func bound() async throws {
        try await TestServer.run { server in
            let cast = try await Cast(server)
            for part in [Part.recipient, .sibling, .uninvolved] {
                for _ in 0..<3 {
                    let reply = try await MediatedCall.pushBack.send(
                        cast.scene, as: try cast(part), about: cast.nag)
                    #expect(reply.status == 403)
                }
            }
            let answer = try await server.call(
                API.evaluatePushBack, PushBackRequest(nagID: cast.nag), as: cast.scene.home.participant)
            #expect(answer.shouldPushBack)
        }
    }

    @Test(
        "a creator who is blocked or whose relationship is suspended or revoked may not push back",
        arguments: ["blocked", "relationship_suspended", "relationship_revoked"])
    func insisting(_ reason: String) async throws {
        try await TestServer.run { server in
            let cast = try await Cast(server)
            let (creator, child) = (cast.scene.home.participant, cast.scene.home.child)
            switch reason {
            case "blocked":
                try await server.sql(
                    """
                    INSERT INTO blocks (id, actor_id, target_id, state, created_at, updated_at)
                    VALUES (gen_random_uuid(), \(child.id), \(creator.id), 'active', \(server.clock.now()),
                            \(server.clock.now()))
                    """)
            default:
                try await server.sql(
                    """
                    UPDATE relationships SET status = \(reason == "relationship_revoked" ? "revoked" : "suspended")
                    WHERE party_a IN (\(child.id), \(creator.id)) AND party_b IN (\(child.id), \(creator.id))
                    """)
            }
            let reply = try await server.expectOnly(audit: ["ai.push_back.denied"]) {
                try await MediatedCall.pushBack.send(cast.scene, as: creator, about: cast.nag)
            }
            #expect(reply.status == 403 && reply.errorCode == "POLICY_FORBIDDEN")
            #expect(try await server.audit(cast.scene.home.id).last?.details["reason"] == reason)
            // Reading goes on, and guardians still may.
            #expect(try await MediatedCall.coaching.send(cast.scene, as: creator, about: cast.nag).status == 201)
            let guardian = try await MediatedCall.pushBack.send(
                cast.scene, as: cast.scene.home.secondGuardian, about: cast.nag)
            #expect(guardian.status == 201)
        }
    }

    @Test("a child's or participant's digest is about themself alone, in its counts and in its words")
    func digest() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let home = scene.home
            for recipient in [home.child, home.participant, home.guardian] {
                try await scene.add(.chores, .missed, to: recipient, due: scene.now - .days(1))
            }
            try await scene.add(.chores, .completed, to: home.secondGuardian, due: scene.now - .days(1))
            for person in [home.child, home.participant] {
                let digest = try await server.call(API.generateDigest, FamilyQuery(familyID: home.id), as: person)
                #expect(digest.memberSummaries.map(\.userID) == [person.id])
                // The child's open nag is due tomorrow.
                let open = person == home.child ? 1 : 0
                #expect(
                    digest.totals
                        == DigestTotals(
                            totalNags: 1, completed: 0, missed: 1, open: open, overdue: 0, completionRate: 0))
                for other in home.members { #expect(!digest.summaryText.contains(other.name)) }
                #expect(digest.summaryText.hasPrefix("Your "))
                #expect(try await server.audit(home.id).last?.subject == person.pseudonym)
            }
            let whole = try await server.call(API.generateDigest, FamilyQuery(familyID: home.id), as: home.guardian)
            #expect(whole.totals.totalNags == 4 && whole.memberSummaries.count == 4)
            #expect(try await server.audit(home.id).last?.subject == nil)
        }
    }

    @Test("a device computes nothing that the server refuses")
    func device() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let cast = try await Cast(server)
                for part in [Part.recipient, .creator, .sibling, .uninvolved] {
                    let person = try cast(part)
                    let device = try TestDevice(server, person, in: "\(folder)/\(part)")
                    try await device.sync()
                    let rules = try device.heuristics()
                    func expectMiss(_ miss: CacheMiss, _ ask: () async throws -> Void) async {
                        await #expect(throws: miss, "\(part)") { try await ask() }
                    }
                    // The creator's device lacks the recipient's past: the server answers for it.
                    let miss: CacheMiss? = part == .recipient ? nil : part == .creator ? .historyMissing : .nagUnknown
                    if let miss {
                        await expectMiss(miss) { _ = try await rules.selectTone(nagID: cast.nag) }
                        await expectMiss(miss) { _ = try await rules.coaching(nagID: cast.nag) }
                        await expectMiss(miss) { _ = try await rules.predictCompletion(nagID: cast.nag) }
                        await expectMiss(.historyMissing) {
                            _ = try await rules.patterns(userID: cast.scene.home.child.id, familyID: cast.scene.home.id)
                        }
                    } else {
                        #expect(try await rules.selectTone(nagID: cast.nag).tone == .neutral)
                    }
                    let digest = try await rules.digest(familyID: cast.scene.home.id)
                    #expect(digest.memberSummaries.map(\.userID) == [person.id])
                }
            }
        }
    }

    @Test("an excuse that a bystander uploads about a nag is refused")
    func upload() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let cast = try await Cast(server)
                for part in [Part.creator, .guardian, .sibling, .uninvolved] {
                    let device = try TestDevice(server, try cast(part), in: "\(folder)/\(part)")
                    try device.act(.excuse(text: "I forgot", category: .forgot), on: cast.nag)
                    let summary = try await device.sync()
                    #expect(summary.unappliedResults.map(\.outcome) == [.refused], "\(part)")
                }
                #expect(try await server.rows("SELECT 1 FROM excuses").isEmpty)
            }
        }
    }
}
