import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Sources of words")
struct ProvenanceTests {
    /// What the recipient of a nag says by a request.
    enum Saying: String, CaseIterable, Sendable {
        case excuse, status, promise, snooze
    }

    private static func say(
        _ saying: Saying, _ capture: Capture, on nag: NagResponse, _ server: TestServer, as person: TestPerson
    ) async throws {
        let path = NagPath(nagID: nag.id)
        switch saying {
        case .excuse:
            _ = try await server.call(
                API.submitExcuse, path, ExcuseCreate(text: "the bus", capture: capture), as: person)
        case .status:
            _ = try await server.call(
                API.updateNagStatus, path, NagStatusUpdate(status: .completed, capture: capture), as: person)
        case .promise, .snooze:
            var update =
                saying == .promise
                ? NagUpdate(committedAt: .value(nag.dueAt - .minutes(5))) : NagUpdate(dueAt: nag.dueAt + .minutes(10))
            update.capture = capture
            _ = try await server.call(API.updateNag, path, update, as: person)
        }
    }

    @Test(
        "each input has its source, confidence and context, in feed, audit log and export as well",
        arguments: Saying.allCases)
    func told(_ saying: Saying) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            try await Self.say(
                saying, Capture(.dictation, confidence: 0.25, context: .capture), on: nag, server, as: family.child)
            let inputs = try await server.rows(
                "SELECT kind, source, confidence, source_context FROM inputs WHERE user_id = \(family.child.id)")
            #expect(
                inputs == [
                    [
                        "kind": .string(saying.rawValue), "source": "voice", "confidence": 0.25,
                        "source_context": "capture",
                    ]
                ])
            let page = try await server.call(API.syncEvents, SyncQuery(familyID: family.id), as: family.guardian)
            #expect(page.nagEvents.map(\.source) == ["text", "voice"])
            let details = try #require(try await server.audit(family.id).last?.details)
            #expect(details["source"] == "voice" && details["source_confidence"] == "0.25")
            #expect(details["source_context"] == "capture")
            let export = try await server.call("GET", "/api/v1/accounts/export", as: family.child)
            let text = String(decoding: export.body, as: UTF8.self)
            #expect(text.contains(#""source": "voice""#) || text.contains(#""source":"voice""#))
            #expect(text.contains("source_context") && text.contains("capture"))
        }
    }

    @Test("dismissing and undismissing a nag leave an input each, and repetitions none")
    func dismissals() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            for endpoint in [API.dismissNag, API.dismissNag, API.undismissNag] {
                _ = try await server.call(endpoint, NagPath(nagID: nag.id), as: family.child)
            }
            let inputs = try await server.rows(
                """
                SELECT i.kind, e.event_type FROM inputs i
                JOIN nag_events e ON e.family_id = i.family_id AND e.id = i.event_id
                WHERE i.user_id = \(family.child.id) ORDER BY i.received_at, i.kind
                """)
            #expect(
                inputs == [
                    ["kind": "dismiss", "event_type": "nag_dismissed"],
                    ["kind": "undismiss", "event_type": "nag_undismissed"],
                ])
        }
    }

    @Test(
        "an invalid source, confidence or context is refused by its field",
        arguments: [
            ("source", #""telepathy""#), ("source", "null"), ("confidence", "1.5"), ("confidence", "-0.1"),
            ("source_context", #""kitchen""#),
        ])
    func invalid(_ field: String, _ value: String) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let bodies = [
                ("POST", "excuses", #"{"text": "the bus""#), ("POST", "status", #"{"status": "completed""#),
                ("PATCH", "", #"{"committed_at": null"#),
            ]
            for (method, path, body) in bodies {
                let json = try JSONValue(parsing: Array("\(body), \"\(field)\": \(value)}".utf8).span)
                let url = "/api/v1/nags/\(nag.id)" + (path.isEmpty ? "" : "/\(path)")
                let reply = try await server.expectOnly {
                    try await server.call(method, url, as: family.child, body: json)
                }
                #expect(
                    reply.status == 422 && reply.json?["error"]?["details"]?["field"]?.stringValue == field, "\(path)")
            }
        }
    }
}
