import Contract
import Domain
import JSON
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("AI: requesters and their questions")
struct AIGateTests {
    @Test(
        "an AI operation refuses guests, ended sessions, pending accounts and people outside the family",
        arguments: MediatedCall.allCases)
    func refusedCallers(_ request: MediatedCall) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let home = scene.home
            let loner = try await server.account()
            try await server.expectOnly {
                let guest = try await request.send(scene, as: nil)
                #expect(guest.status == 401)
                for outsider in [home.removed, home.stranger, loner] {
                    let reply = try await request.send(scene, as: outsider)
                    #expect(reply.status == (request.isAboutANag ? 404 : 403), "\(outsider.name)")
                    #expect(reply.errorCode == (request.isAboutANag ? "NOT_FOUND" : "AUTHZ_DENIED"))
                }
            }
            try await server.sql("UPDATE sessions SET revoked_at = \(scene.now) WHERE id = \(home.participant.session)")
            try await server.sql("UPDATE users SET status = 'pending_guardian_consent' WHERE id = \(home.child.id)")
            try await server.expectOnly {
                for (person, code) in [(home.participant, "AUTHN_FAILED"), (home.child, "AUTHZ_DENIED")] {
                    let reply = try await request.send(scene, as: person)
                    #expect(reply.errorCode == code)
                }
            }
        }
    }

    @Test(
        "without the consent to AI mediation an AI operation is 403 for everybody, and names it",
        arguments: MediatedCall.allCases)
    func consent(_ request: MediatedCall) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server, consents: [.gamificationParticipation, .childAccountCreation])
            // What nobody may ask about they are refused as ever.
            let asking = scene.home.members.filter { request.isOpen(to: $0, scene) || !request.isAboutANag }
            try await server.expectOnly {
                for person in asking {
                    let reply = try await request.send(scene, as: person)
                    #expect(reply.status == 403 && reply.errorCode == "AUTHZ_DENIED", "\(person.name)")
                    #expect(reply.text.contains("the consent to AI mediation"), "\(person.name)")
                }
            }
            // What an adult gives for themself serves themself alone.
            try await server.call(
                API.grantConsent, ConsentCreate(familyID: scene.home.id, type: .aiMediation), as: scene.home.participant
            )
            #expect(try await request.send(scene, as: scene.home.guardian).status == 403)
            let theirs = try await server.nag(from: scene.home.participant, to: scene.home.child, in: scene.home.id)
            let own = try await request.send(scene, as: scene.home.participant, about: theirs)
            #expect(request == .patterns ? own.status == 403 : own.status < 300)
        }
    }

    @Test(
        "an AI operation is 403 with the caller's own preference off, whatever another's preference",
        arguments: MediatedCall.allCases)
    func preference(_ request: MediatedCall) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await scene.prefer(#"{"ai_server_enabled": false}"#, scene.home.guardian)
            try await server.expectOnly {
                let reply = try await request.send(scene, as: scene.home.guardian)
                #expect(reply.status == 403 && reply.errorCode == "AUTHZ_DENIED")
                #expect(reply.text.contains("off in your preferences"))
            }
            #expect(try await request.send(scene, as: scene.home.secondGuardian).status < 300)
            let child = try await request.send(scene, as: scene.home.child)
            #expect(request.isOpen(to: scene.home.child, scene) ? child.status < 300 : child.status == 403)
            try await scene.prefer(#"{"ai_server_enabled": true}"#, scene.home.guardian)
            #expect(try await request.send(scene, as: scene.home.guardian).status < 300)
            // Whatever an old client left there does not bring the server down.
            try await scene.prefer(#"{"ai_server_enabled": "sometimes"}"#, scene.home.guardian)
            #expect(try await request.send(scene, as: scene.home.guardian).status < 300)
        }
    }

    @Test(
        "a nag of another family and one that is not there are the same 404",
        arguments: MediatedCall.allCases.filter(\.isAboutANag))
    func nags(_ request: MediatedCall) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let theirs = NagID(high: 0xb2, low: 2)
            try await server.commit(
                [FeedRows.nag(theirs, from: scene.home.stranger, to: scene.home.stranger, at: scene.now)],
                in: scene.home.otherFamilyID)
            try await server.expectOnly {
                for nag in [theirs, NagID(high: 0xc3, low: 3)] {
                    let reply = try await request.send(scene, as: scene.home.guardian, about: nag)
                    #expect(reply.status == 404 && reply.errorCode == "NOT_FOUND")
                }
            }
        }
    }

    @Test("patterns are for the person and for guardians, and another child's question is refused and audited")
    func patterns() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let sibling = try await server.member("Cora", .child, of: scene.home)
            for person in [sibling, scene.home.participant] {
                try await server.expectOnly(audit: ["ai.patterns.denied"]) {
                    let reply = try await MediatedCall.patterns.send(scene, as: person)
                    #expect(reply.status == 403 && reply.errorCode == "AUTHZ_DENIED")
                }
            }
            for person in [scene.home.child, scene.home.guardian, scene.home.secondGuardian] {
                try await server.expectOnly(audit: ["ai.patterns"], mediations: ["patterns"]) {
                    let reply = try await MediatedCall.patterns.send(scene, as: person)
                    #expect(reply.status == 200)
                }
            }
            let unknown = try await refusal {
                try await server.call(
                    API.detectPatterns, UserInFamilyQuery(userID: scene.home.stranger.id, familyID: scene.home.id),
                    as: scene.home.guardian)
            }
            #expect(unknown.code == .notFound)
        }
    }

    @Test(
        "an AI operation refuses a wrong body",
        arguments: [
            ("summarize-excuse", #"{"text": "", "nag_id": "NAG"}"#, 422),
            ("summarize-excuse", #"{"nag_id": "NAG"}"#, 422),
            ("summarize-excuse", #"{"text": "LONG", "nag_id": "NAG"}"#, 422),
            ("summarize-excuse", #"{"text": 7, "nag_id": "NAG"}"#, 422),
            ("select-tone", "{}", 422), ("select-tone", #"{"nag_id": "nag"}"#, 422),
            ("select-tone", #"{"nag_id": null}"#, 422),
            ("coaching", "[]", 422), ("coaching", "{", 400), ("push-back", "", 400),
            ("push-back", #"{"nag_id": 1}"#, 422),
        ])
    func bodies(_ path: String, _ body: String, _ status: Int) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let text = body.replacing("NAG", with: scene.nag.description).replacing(
                "LONG", with: String(repeating: "é", count: 2_001))
            try await server.expectOnly {
                let head =
                    "POST /api/v1/ai/\(path) HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/json\r\n"
                    + "Authorization: Bearer \(server.token(scene.home.guardian))\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
                let reply = try await RawClient.send(Array((head + text).utf8), to: server.port)
                #expect(reply.status == status, "\(reply.text)")
            }
        }
    }

    @Test(
        "an AI operation refuses a wrong query",
        arguments: [
            "patterns?user_id=x&family_id=F", "patterns?family_id=F", "digest", "digest?family_id=",
            "predict-completion?nag_id=1",
        ])
    func queries(_ path: String) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let path = path.replacing("F", with: scene.home.id.description)
            #expect(try await server.call("GET", "/api/v1/ai/\(path)", as: scene.home.guardian).status == 422)
        }
    }
}

/// Who may do what in the group `ai`.
extension MatrixRow {
    static let ai: [MatrixRow] = [
        MatrixRow(API.summarizeExcuse, allowed: .readers) {
            (NoParameters(), AIEnvelope(ExcuseSummaryRequest(text: "I forgot", nagID: $0.nag)))
        },
        MatrixRow(API.selectTone, "a participant's nag", allowed: .readers) {
            (NoParameters(), AIEnvelope(ToneSelectRequest(nagID: $0.nag)))
        },
        MatrixRow(API.selectTone, "a child's nag", allowed: .readersOfChild) {
            (NoParameters(), AIEnvelope(ToneSelectRequest(nagID: $0.childNag)))
        },
        MatrixRow(API.coach, allowed: .readers) { (NoParameters(), AIEnvelope(CoachingRequest(nagID: $0.nag))) },
        MatrixRow(API.askCoach, allowed: .members) {
            (NoParameters(), AIEnvelope(CoachQuestionRequest(familyID: inFamily($0).familyID, text: "What is due?")))
        },
        MatrixRow(API.detectPatterns, allowed: .guardians.union([.child])) { (AIEnvelope(childQuery($0)), NoBody()) },
        MatrixRow(API.generateDigest, allowed: .members) { (AIEnvelope(inFamily($0)), NoBody()) },
        MatrixRow(API.predictCompletion, allowed: .readers) { (AIEnvelope(NagQuery(nagID: $0.nag)), NoBody()) },
        MatrixRow(API.evaluatePushBack, "a participant's nag", allowed: .guardians.union([.creator])) {
            (NoParameters(), AIEnvelope(PushBackRequest(nagID: $0.nag)))
        },
        MatrixRow(API.evaluatePushBack, "a child's nag", allowed: .guardians) {
            (NoParameters(), AIEnvelope(PushBackRequest(nagID: $0.childNag)))
        },
    ]
}
