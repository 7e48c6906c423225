import Audit
import Contract
import Domain
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Reads of administrators as entries of the audit log")
struct RecordedReadTests {
    @Test("one entry covers an administrator's reads of one page view: the same trace, the same or a narrower scope")
    func pageViews() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for _ in 0..<3 { try await server.write([.aiCoaching, .aiDigest], by: family.guardian, in: family.id) }
            let (admin, other) = (try await server.admin(), try await server.admin("Grace"))
            var view = 0
            func entries(as person: TestPerson = admin, _ reads: [AuditRead]) async throws -> Int {
                let before = try await server.audit(.outside).count
                for read in reads { try await read(server, person, ["traceparent": Self.trace(view)]) }
                return try await server.audit(.outside).count - before
            }
            func scene(_ reads: AuditRead...) async throws -> Int {
                view += 1
                return try await entries(reads)
            }
            let (all, page) = (AuditRead.events(AuditQuery()), AuditRead.events(AuditQuery(limit: 2)))
            let (ofFamily, ofKind) = (
                AuditQuery(conditions: .init(familyID: family.id)), AuditQuery(conditions: .init(kind: "ai.digest"))
            )
            let ofTime = AuditRead.events(AuditQuery(conditions: .init(from: server.clock.now() - .hours(1))))
            let secret = AuditRead.events(AuditQuery(conditions: .init(q: "somebody")))
            #expect(try await scene(.status, .families, .people(nil)) == 1, "an overview")
            #expect(
                try await scene(all, .people(family.id), page, .events(ofFamily), ofTime, secret, .entry(family.id, 2))
                    == 1)
            #expect(try await scene(.events(ofKind), .events(ofKind)) == 1, "the pages of a list")
            let consents = AuditRead.events(AuditQuery(conditions: .init(familyID: family.id, q: "consent.")))
            #expect(
                try await scene(
                    .events(AuditQuery(conditions: .init(q: "consent."), limit: 1)), consents, .people(family.id),
                    .consents(family.id),
                    .consents(family.id)) == 1, "the view of consents")
            // What is wider, or something else, is recorded.
            #expect(try await scene(.status, all) == 2, "figures cover no entries")
            #expect(try await scene(.events(ofKind), all) == 2, "a kind covers no others")
            #expect(try await scene(.events(ofFamily), all) == 2, "a family covers no others")
            #expect(try await scene(.people(family.id), .consents(family.id)) == 2, "names cover no consents")
            #expect(try await scene(.consents(family.id), consents) == 2, "those in force cover no history")
            #expect(try await scene(.events(ofKind), .consents(family.id)) == 2, "entries of a kind cover no consents")
            #expect(try await scene(.entry(family.id, 1), .entry(family.id, 2)) == 2, "an entry covers no other")
            #expect(try await scene(secret, secret) == 2, "what was searched for is not in the log")
            #expect(
                try await scene(all, .verification, .verification, .export, .export) == 5, "these are always recorded")
            #expect(try await scene(.deliveries(.failed), .deliveries(.failed), .deliveries(.sent)) == 2)
            // Another person, another trace, and an hour later.
            view += 1
            #expect(try await entries([all]) == 1)
            #expect(try await entries(as: other, [all]) == 1)
            #expect(try await entries([all]) == 0)
            let seen = view
            for _ in 0..<4 {
                // A session of an administrator ends half an hour after its last use.
                server.clock.advance(by: .minutes(16))
                #expect(try await scene(all) == 1)
            }
            view = seen
            #expect(try await entries([all]) == 1)
        }
    }

    private static func trace(_ view: Int) -> String {
        "00-0000000000000000000000000000\(1_000 + view)-0000000000000001-01"
    }

    @Test("list and export leave out an administrator's own reads on request, and nobody else's")
    func withoutOwnReads() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (admin, other) = (try await server.admin(), try await server.admin("Grace"))
            for person in [admin, other] { try await server.call(API.listAuditEvents, AuditQuery(), as: person) }
            try await server.write([.sessionOpened], by: admin, in: .outside)
            let query = AuditQuery(conditions: .init(withoutOwnReads: true))
            for (reader, left) in [(admin, other), (other, admin)] {
                let page = try await server.call(API.listAuditEvents, query, as: reader)
                let readers = page.items.filter { $0.kind == "admin.read" }.map(\.actor)
                #expect(!readers.isEmpty && readers.allSatisfy { $0 == left.pseudonym })
                #expect(page.items.contains { $0.kind == "session.opened" && $0.actor == admin.pseudonym })
                let text = try await server.call(
                    API.exportAuditEvents, AuditEventsExportQuery(conditions: query.conditions, format: .ndjson),
                    as: reader
                ).text
                let reads = text.split(separator: "\n").filter { $0.contains(#""admin.read""#) }
                #expect(!reads.isEmpty && reads.allSatisfy { !$0.contains(reader.pseudonym.description) })
            }
            try await server.write([.aiCoaching], by: family.guardian, in: family.id)
            let own = try await server.call(API.listAuditEvents, query, as: family.guardian)
            #expect(own.items.map(\.kind) == ["ai.coaching"])
        }
    }
}

/// A request of an administrator that reads the audit log.
private struct AuditRead: Sendable {
    let run: @Sendable (TestServer, TestPerson, [String: String]) async throws -> Void

    func callAsFunction(_ server: TestServer, _ person: TestPerson, _ headers: [String: String]) async throws {
        try await run(server, person, headers)
    }

    private static func of<Parameters: Sendable, Answer>(
        _ endpoint: Endpoint<Parameters, NoBody, Answer>, _ parameters: Parameters
    ) -> AuditRead {
        AuditRead { server, person, headers in
            _ = try await server.call(endpoint, parameters, as: person, headers: headers)
        }
    }

    static var status: AuditRead { of(API.getAuditStatus, NoParameters()) }
    static var families: AuditRead { of(API.listAuditFamilies, AuditFamiliesQuery()) }
    static var verification: AuditRead { of(API.verifyAuditLog, AuditScopeQuery()) }
    static var export: AuditRead { of(API.exportAuditLog, AuditExportQuery(familyID: nil)) }
    static func people(_ family: FamilyID?) -> AuditRead { of(API.listAuditPeople, AuditScopeQuery(familyID: family)) }
    static func consents(_ family: FamilyID) -> AuditRead { of(API.listAuditConsents, FamilyQuery(familyID: family)) }
    static func events(_ query: AuditQuery) -> AuditRead { of(API.listAuditEvents, query) }
    static func entry(_ family: FamilyID, _ n: Int) -> AuditRead {
        of(API.getAuditEvent, AuditEntryPath(familyID: family, n: n))
    }
    static func deliveries(_ status: DeliveryStatus) -> AuditRead {
        of(API.listDeliveryReviews, DeliveryReviewQuery(status: status))
    }
}
