import Audit
import Contract
import Domain
import JSON
import NagzAI
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("AI: events and audit entries of answers")
struct AIRecordTests {
    private static let promised: Set = [
        "operation", "on_behalf_of", "rule", "provider", "route", "used_fallback", "fallback_reason",
        "fallback_confirmed", "rule_id", "task_type",
        "latency_us", "output", "content_length",
    ]

    @Test(
        "each AI operation leaves one event in the feed and one entry in the audit log",
        arguments: MediatedCall.allCases)
    func record(_ request: MediatedCall) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let home = scene.home
            let reply = try await server.expectOnly(audit: [request.kind], mediations: [request.operation], stamped: 0)
            {
                try await request.send(scene, as: home.guardian)
            }
            #expect(
                reply.status
                    == (request == .patterns || request == .digest || request == .predictCompletion ? 200 : 201))
            let entry = try #require(try await server.audit(home.id).last)
            #expect(entry.actor == SystemActor.mediator)
            let subject = request == .askCoach ? home.guardian.pseudonym : home.child.pseudonym
            #expect(entry.subject == (request == .digest ? nil : subject))
            #expect(entry.resource == (request.isAboutANag ? scene.nag.retyped() : nil))
            let details = entry.details
            #expect(details["on_behalf_of"] == home.guardian.pseudonym.description)
            #expect(Set(details.keys).isSuperset(of: Self.promised), "\(Self.promised.subtracting(details.keys))")
            #expect(HeuristicRule(rawValue: details["rule"] ?? "") != nil)
            #expect(details["operation"] == request.operation)
            #expect(details["provider"] == "heuristic" && details["route"] == "cloud")
            #expect(details["rule_id"] == "AUTO_CLOUD" && details["task_type"] == "heuristic")
            #expect(
                details["used_fallback"] == "false" && details["fallback_reason"] == "none"
                    && details["fallback_confirmed"] == "none")
            #expect(details["latency_us"].flatMap { Int($0) } ?? -1 >= 0)
            let json = try #require(reply.json)
            let content = ["summary", "reason", "tip", "message", "summary_text", "answer"].compactMap { key in
                request == .pushBack && key == "reason" ? nil : json[key]?.stringValue
            }.first
            #expect(details["content_length"] == "\(content?.utf8.count ?? 0)")
            let key = try #require(TestServer.auditKeyring).masterKeys[0].derivedKey(label: "content")
            #expect(details["content_hash"] == content.map { hexadecimal(hmacSHA256(Array($0.utf8), key: key)) })
            // Who guesses a text cannot test the guess against the audit log.
            let guess = content.map { hexadecimal(sha256(Array($0.utf8))) }
            #expect(guess.map { !details.values.contains($0) } ?? true)
            // No words: ids, counts and codes only.
            for value in details.values {
                #expect(!value.lowercased().contains("zanzibar") && !value.contains(" "), "\(value)")
                if let content, content.count > 3 { #expect(!value.contains(content)) }
            }
        }
    }

    @Test("an excuse's words are in no row of feed or audit log, and in no line of the log")
    func noWords() async throws {
        try await TestServer.run(configure: { $0.logLevel = .info }) { server in
            let scene = try await AIScene(server)
            try await MediatedCall.summarizeExcuse.send(scene, as: scene.home.child)
            let found = try await server.rows(
                """
                SELECT 1 FROM ai_mediation_events a WHERE a::text ILIKE '%zanzibar%'
                UNION ALL SELECT 1 FROM audit_payload p WHERE position('anzibar'::bytea IN p.body) > 0
                UNION ALL SELECT 1 FROM audit_entry e WHERE e::text ILIKE '%zanzibar%'
                """)
            #expect(found.isEmpty)
            #expect(!server.log.lines.joined().lowercased().contains("zanzibar"))
            let answer = try await server.call(
                API.syncEvents, SyncQuery(familyID: scene.home.id), as: scene.home.child)
            #expect(answer.aiMediationEvents.map(\.summary) == ["Excuse: forgot"])
        }
    }

    @Test("the feed shows the chosen tone to its requester alone")
    func feed() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await scene.addMisses([scene.now, scene.now, scene.now], of: scene.home.child)
            let tone = try await server.call(
                API.selectTone, ToneSelectRequest(nagID: scene.nag), as: scene.home.secondGuardian)
            for (person, count) in [(scene.home.secondGuardian, 1), (scene.home.guardian, 0), (scene.home.child, 0)] {
                let answer = try await server.call(API.syncEvents, SyncQuery(familyID: scene.home.id), as: person)
                #expect(answer.aiMediationEvents.count == count)
                for event in answer.aiMediationEvents {
                    #expect(event.nagID == scene.nag && event.promptType == "select_tone" && event.tone == "firm")
                    #expect(event.summary == tone.reason && event.at == scene.now)
                }
            }
        }
    }

    @Test("with 200 revocations racing with questions nothing is mediated after a revocation")
    func revocationRaces() async throws {
        try await TestServer.run { server in
            try await server.withPeers(2) { peers in
                let servers = [server] + peers
                try await withThrowingTaskGroup { group in
                    for _ in 0..<5 {
                        group.addTask {
                            let scene = try await AIScene(server)
                            for round in 0..<40 { try await race(scene, servers, round) }
                            let entries = try await server.audit(scene.home.id)
                            var isInForce = true
                            for entry in entries {
                                if entry.kind.hasPrefix("consent.") { isInForce = entry.kind == "consent.granted" }
                                #expect(isInForce || !entry.kind.hasPrefix("ai."), "entry \(entry.n)")
                            }
                            #expect(entries.filter { $0.kind == "consent.revoked" }.count == 40)
                            #expect(entries.contains { $0.kind == "ai.select_tone" })
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    /// Three questions on three servers and, somewhere between, the revocation; then the consent again.
    private func race(_ scene: AIScene, _ servers: [TestServer], _ round: Int) async throws {
        let consent: ConsentID = try await scene.server.database.rows(
            """
            SELECT id FROM consents WHERE family_id = \(scene.home.id) AND consent_type = 'ai_mediation' AND revoked_at IS NULL
            """
        ) { try $0["id"] }[0]
        try await withThrowingTaskGroup { group in
            for (number, server) in servers.enumerated() {
                group.addTask {
                    if number == round % 3 {
                        try await server.call(
                            API.updateConsent, ConsentPath(consentID: consent), ConsentUpdate(isRevoked: true),
                            as: scene.home.guardian)
                    }
                    let request = MediatedCall.allCases[round % MediatedCall.allCases.count]
                    let reply = try await request.send(scene, as: scene.home.guardian, on: server)
                    #expect([200, 201, 403].contains(reply.status), "\(reply.text)")
                    if number == round % 3 { #expect(reply.status == 403) }
                }
            }
            try await group.waitForAll()
        }
        try await scene.server.ageRevokedConsents()
        try await servers[round % 3].call(
            API.grantConsent, ConsentCreate(familyID: scene.home.id, type: .aiMediation), as: scene.home.guardian)
    }
}
