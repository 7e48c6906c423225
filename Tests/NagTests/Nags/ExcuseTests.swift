import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Excuses")
struct ExcuseTests {
    private static func submit(
        _ text: String, category: String? = nil, for nag: NagID, as person: TestPerson, on server: TestServer
    ) async throws -> ExcuseResponse {
        try await server.call(
            API.submitExcuse, NagPath(nagID: nag), ExcuseCreate(text: text, category: category), as: person)
    }

    @Test("an excuse is summarized, its words are in neither feed nor audit log, and the nag does not change")
    func submit() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child)
            let text = "I forgot, because grandmother's xylophone was so loud"
            let excuse = try await server.expectOnly(
                audit: ["excuse.submitted"], events: ["excuse_submitted"], stamped: 0
            ) { try await Self.submit(text, for: nag.id, as: family.child, on: server) }
            #expect(excuse.summary == text && excuse.nagID == nag.id && excuse.at == server.clock.now())
            let kept = try await server.rows("SELECT text, category, confidence, author_id FROM excuses")[0]
            #expect(kept["text"]?.stringValue == text && kept["category"]?.stringValue == "forgot")
            #expect(kept["confidence"]?.doubleValue == 0.9)
            #expect(try await server.payloads("excuse_submitted", of: nag.id) == [#"{"category": "forgot"}"#])
            #expect(
                try await server.audit(family.id).last?.details
                    == ["category": "forgot", "text_length": "\(text.unicodeScalars.count)", "source": "text"])
            #expect(try await server.call(API.getNag, NagPath(nagID: nag.id), as: family.child) == nag)
        }
    }

    @Test("an excuse with a category is a summary made on the device, and no words are kept beside it")
    func summary() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let excuse = try await Self.submit(
                "Ran late", category: "refused", for: nag.id, as: family.child, on: server)
            #expect(excuse.summary == "Ran late")
            let kept = try await server.rows("SELECT text, summary, category FROM excuses")[0]
            #expect(kept["text"] == .null && kept["category"]?.stringValue == "refused")
            try await server.expectOnly {
                for odd in ["laziness", "", "Forgot"] {
                    try await server.expect(.refusal(.validationFailed, "category")) {
                        try await Self.submit("No", category: odd, for: nag.id, as: family.child, on: server)
                    }
                }
                try await server.expect(.refusal(.validationFailed, "text")) {
                    try await Self.submit("", for: nag.id, as: family.child, on: server)
                }
            }
        }
    }

    @Test("only the recipient submits an excuse, with the consent, and a child if its settings allow it")
    func refusals() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.participant, to: family.child)
            let adult = try await server.nag(from: family.guardian, to: family.participant)
            for person in [family.participant, family.guardian] {
                try await server.expectOnly(audit: ["nag.submit_excuse.denied"]) {
                    try await server.expect(.refusal(.authorizationDenied)) {
                        try await Self.submit("No", for: nag.id, as: person, on: server)
                    }
                }
            }
            try await server.sql("UPDATE child_settings SET can_submit_excuses = false")
            try await server.expectOnly(audit: ["nag.submit_excuse.denied"]) {
                try await server.expect(.refusal(.policyForbidden)) {
                    try await Self.submit("No", for: nag.id, as: family.child, on: server)
                }
            }
            _ = try await Self.submit("No", for: adult.id, as: family.participant, on: server)
            try await server.sql("UPDATE child_settings SET can_submit_excuses = true")
            try await server.revokeConsent(.aiMediation)
            let error = try await server.expectOnly(audit: ["nag.submit_excuse.denied"]) {
                try await refusal { try await Self.submit("No", for: nag.id, as: family.child, on: server) }
            }
            #expect(error.code == .authorizationDenied && error.message.contains("consent to AI mediation"))
            #expect(try await server.audit(family.id).last?.details == ["reason": "consent_missing"])
        }
    }

    @Test("an excuse for a missed nag is accepted, and one for a completed nag refused")
    func status() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let done = try await server.nag(from: family.guardian, to: family.child)
            _ = try await server.complete(done.id, as: family.child)
            try await server.expectOnly {
                try await server.expect(.refusal(.conflict)) {
                    try await Self.submit("No", for: done.id, as: family.child, on: server)
                }
            }
            let missed = try await server.nag(from: family.guardian, to: family.child)
            try await server.sql("UPDATE nags SET status = 'missed', closed_at = now() WHERE status = 'open'")
            _ = try await Self.submit("No", for: missed.id, as: family.child, on: server)
        }
    }

    @Test("creator, guardians and author list the excuses of a nag, newest first")
    func list() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let other = try await server.member("Olga", .participant, of: family)
            let nag = try await server.nag(from: family.participant, to: family.child)
            var made: [ExcuseResponse] = []
            for text in ["I forgot", "I was busy", "No"] {
                server.clock.advance(by: .seconds(1))
                made.append(try await Self.submit(text, for: nag.id, as: family.child, on: server))
            }
            func list(_ person: TestPerson, _ page: PageRequest = PageRequest()) async throws -> Page<ExcuseResponse> {
                try await server.call(API.listExcuses, ExcuseListQuery(nagID: nag.id, page: page), as: person)
            }
            try await server.expectOnly {
                for person in [family.participant, family.guardian, family.child] {
                    let page = try await list(person)
                    #expect(page.items == made.reversed() && page.total == 3)
                }
                let page = try await list(family.guardian, PageRequest(limit: 1, offset: 1))
                #expect(page.items == [made[1]] && page.total == 3 && page.limit == 1)
                try await server.expect(.refusal(.notFound)) { try await list(family.stranger) }
            }
            try await server.expectOnly(audit: ["nag.read_excuses.denied"]) {
                try await server.expect(.refusal(.authorizationDenied)) { try await list(other) }
            }
        }
    }
}
