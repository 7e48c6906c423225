import Audit
import Contract
import Domain
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Reading the audit log")
struct AuditReadingTests {
    @Test("guardians read their family's audit log, newest first, with people's ids and the entries' details")
    func guardianReads() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let resource: ResourceID = server.random.identifier(at: server.clock.now())
            try await server.write(
                [.nagCreated, .nagCompleted], by: family.participant, about: family.child, resource: resource,
                in: family.id)
            try await server.write([.familyCreated], by: family.stranger, in: family.otherFamilyID)
            let page = try await server.expectOnly {
                try await server.call(API.listAuditEvents, AuditQuery(), as: family.guardian)
            }
            #expect(page.items.map(\.kind) == ["nag.completed", "nag.created"])
            #expect(page.items.map(\.n) == [2, 1])
            #expect(page.nextCursor == nil)
            let entry = try #require(page.items.first)
            #expect(entry.actorID == family.participant.id && entry.subjectID == family.child.id)
            #expect(entry.actor == family.participant.pseudonym && entry.subject == family.child.pseudonym)
            #expect(entry.resourceID == resource && entry.details == ["who": "Pat"])
            #expect(entry.previous == page.items.last?.hash)
            let named = try await server.call(
                API.listAuditEvents, AuditQuery(conditions: .init(familyID: family.id)), as: family.secondGuardian)
            #expect(named == page)
        }
    }

    @Test("erased details and ids of deleted accounts are null, and a filter by such an id finds nothing")
    func erased() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.write([.nagCreated], by: family.participant, in: family.id)
            try await server.sql("DELETE FROM audit_payload WHERE family_id = \(family.id)")
            try await server.deleteAccount(of: family.participant)
            let page = try await server.call(API.listAuditEvents, AuditQuery(), as: family.guardian)
            #expect(page.items.count == 1)
            #expect(page.items.first?.details == nil && page.items.first?.actorID == nil)
            #expect(page.items.first?.actor == family.participant.pseudonym)
            let filtered = try await server.call(
                API.listAuditEvents, AuditQuery(conditions: .init(actorID: family.participant.id)), as: family.guardian)
            #expect(filtered.items.isEmpty)
        }
    }

    @Test("every filter narrows the audit log, alone and together with others")
    func filters() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let resource: ResourceID = server.random.identifier(at: server.clock.now())
            try await server.write([.blockCreated], by: family.guardian, in: family.id)
            server.clock.advance(by: .hours(1))
            try await server.write(
                [.blockCreated, .blockLifted], by: family.child, about: family.participant, in: family.id)
            server.clock.advance(by: .hours(1))
            try await server.write([.blockLifted], by: family.child, resource: resource, in: family.id)
            func numbers(_ query: AuditQuery) async throws -> [Int] {
                try await server.call(API.listAuditEvents, query, as: family.guardian).items.map(\.n)
            }
            let all = try await server.call(API.listAuditEvents, AuditQuery(), as: family.guardian).items
            #expect(all.count == 4)
            #expect(try await numbers(AuditQuery(conditions: .init(kind: "block.created"))) == [2, 1])
            #expect(try await numbers(AuditQuery(conditions: .init(kind: "block"))) == [])
            #expect(try await numbers(AuditQuery(conditions: .init(actorID: family.child.id))) == [4, 3, 2])
            #expect(try await numbers(AuditQuery(conditions: .init(subjectID: family.participant.id))) == [3, 2])
            #expect(try await numbers(AuditQuery(conditions: .init(resourceID: resource))) == [4])
            #expect(try await numbers(AuditQuery(conditions: .init(traceID: all[1].traceID))) == [3, 2])
            let second = ManualClock.start + .hours(1)
            #expect(try await numbers(AuditQuery(conditions: .init(from: second))) == [4, 3, 2])
            #expect(try await numbers(AuditQuery(conditions: .init(to: second))) == [1])
            #expect(try await numbers(AuditQuery(conditions: .init(from: second, to: second + .hours(1)))) == [3, 2])
            #expect(
                try await numbers(
                    AuditQuery(
                        conditions: .init(
                            actorID: family.child.id, subjectID: family.participant.id, kind: "block.lifted",
                            from: second)))
                    == [3])
            // An id that is nobody's narrows to nothing, not to everything.
            #expect(try await numbers(AuditQuery(conditions: .init(actorID: UserID(high: 1, low: 1)))) == [])
        }
    }

    @Test("pages of the audit log join without gap or repeat, while it grows")
    func pages() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.write(
                (1...25).map { $0.isMultiple(of: 2) ? AuditKind.sessionOpened : .sessionRevoked }, by: family.guardian,
                in: family.id)
            for (kind, expected) in [
                (nil, Array((1...25).reversed())), ("session.revoked", Array(stride(from: 25, through: 1, by: -2))),
            ] {
                var seen: [Int] = []
                var cursor: String?
                repeat {
                    let query = AuditQuery(conditions: .init(kind: kind), cursor: cursor, limit: 10)
                    let page = try await server.call(API.listAuditEvents, query, as: family.guardian)
                    #expect(page.items.count == 10 || page.nextCursor == nil)
                    seen += page.items.map(\.n)
                    cursor = page.nextCursor
                    try await server.write([.sessionOpened], by: family.guardian, in: family.id)
                } while cursor != nil
                #expect(seen.filter { $0 <= 25 } == expected)
            }
        }
    }

    @Test("a cursor of another family's audit log, or of none, is refused")
    func foreignCursor() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for text in ["x", "", AuditCursor(family: family.otherFamilyID, number: 5).wireText] {
                let error = try await refusal {
                    try await server.call(API.listAuditEvents, AuditQuery(cursor: text), as: family.guardian)
                }
                #expect(error.code == .validationFailed && error.field == "cursor")
            }
        }
    }

    @Test("nobody but guardians reads the audit log; a member's attempt is an entry")
    func refused() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nobody = try await server.account()
            for person in [family.participant, family.child] {
                let error = try await server.expectOnly(audit: ["audit.read.denied"]) {
                    try await refusal { try await server.call(API.listAuditEvents, AuditQuery(), as: person) }
                }
                #expect(error.code == .authorizationDenied)
            }
            let denied = try #require(try await server.audit(family.id).last)
            #expect(denied.actor == family.child.pseudonym && denied.details == ["reason": "guardian_only"])
            for person in [family.stranger, family.removed, nobody] {
                let error = try await server.expectOnly {
                    try await refusal {
                        try await server.call(
                            API.listAuditEvents, AuditQuery(conditions: .init(familyID: family.id)), as: person)
                    }
                }
                #expect(error.code == .authorizationDenied)
            }
            let error = try await refusal { try await server.call(API.listAuditEvents, AuditQuery(), as: nobody) }
            #expect(error.code == .authorizationDenied)
        }
    }
}

/// Who may do what in the group `audit`.
extension MatrixRow {
    static let audit: [MatrixRow] = [
        MatrixRow(API.listAuditEvents, allowed: .auditors) {
            (AuditQuery(conditions: .init(familyID: $0.family.id)), NoBody())
        },
        MatrixRow(API.exportAuditEvents, allowed: .auditors) {
            (AuditEventsExportQuery(conditions: .init(familyID: $0.family.id)), NoBody())
        },
        MatrixRow(API.listAuditPeople, allowed: .auditors) { (AuditScopeQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.listAuditConsents, allowed: .auditors) { (inFamily($0), NoBody()) },
        MatrixRow(API.getAuditEvent, allowed: .auditors) {
            (AuditEntryPath(familyID: $0.family.id, n: 1), NoBody())
        },
        MatrixRow(API.exportAuditLog, allowed: .auditors) { (AuditExportQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.verifyAuditLog, allowed: .auditors) { (AuditScopeQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.checkAuditLog, allowed: .auditors) { (NoParameters(), AuditCheckOrder(familyID: $0.family.id)) },
        MatrixRow(API.listAuditFindings, allowed: [.administrator], refusals: [403]) { _ in
            (AuditFindingsQuery(), NoBody())
        },
        MatrixRow(API.acknowledgeAuditFinding, allowed: [.administrator], refusals: [403]) {
            (AuditFindingPath(findingID: $0.finding), FindingAcknowledgement(reason: "A restored backup."))
        },
        MatrixRow(API.getAuditStatus, concern: .caller, allowed: .auditors) { _ in (NoParameters(), NoBody()) },
        MatrixRow(API.listAuditFamilies, concern: .caller, allowed: .auditors) { _ in (AuditFamiliesQuery(), NoBody())
        },
        MatrixRow(API.getAuditActivity, allowed: .auditors) {
            (AuditActivityQuery(familyID: $0.family.id), NoBody())
        },
    ]
}
