import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Abuse reports")
struct AbuseReportTests {
    @Test("an abuse report is acknowledged at once, with an entry outside the family that has none of its words")
    func create() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let report = try await server.expectOnly(audit: ["abuse_report.created"]) {
                try await server.report(family.guardian, as: family.child)
            }
            #expect(report.reporterID == family.child.id && report.targetID == family.guardian.id)
            #expect(report.reason == "canary: rude words" && report.status == .open)
            #expect(try await server.audit(family.id).isEmpty)
            let entry = try #require(try await server.audit(.outside).last)
            #expect(entry.kind == "abuse_report.created" && entry.actor == family.child.pseudonym)
            #expect(entry.subject == family.guardian.pseudonym && entry.resource == report.id.retyped())
            #expect(entry.details == ["reason_length": "18"])
            let rows = try await server.rows("SELECT severity, family_id FROM abuse_reports")
            #expect(rows.count == 1 && rows[0]["severity"] == "standard")
            #expect(rows[0]["family_id"] == .string(family.id.description))
        }
    }

    @Test("the reporter and the guardians read an abuse report, but no guardian whom it is about, and nobody else")
    func readers() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let about = try await server.report(family.secondGuardian, as: family.child)
            let other = try await server.report(family.participant, as: family.child)
            try await server.expectOnly {
                for person in [family.child, family.guardian] {
                    #expect(try await server.read(about, as: person) == about)
                }
                for person in [family.child, family.guardian, family.secondGuardian] {
                    #expect(try await server.read(other, as: person) == other)
                }
                var answers: Set<APIError> = []
                for person in [family.secondGuardian, family.participant, family.stranger, family.removed] {
                    answers.insert(try await expectRefusal(404) { try await server.read(about, as: person) })
                }
                answers.insert(try await expectRefusal(404) { try await server.read(other, as: family.participant) })
                let nothing = AbuseReportPath(reportID: server.random.identifier(at: server.clock.now()))
                answers.insert(
                    try await expectRefusal(404) {
                        try await server.call(API.getAbuseReport, nothing, as: family.guardian)
                    })
                #expect(answers.count == 1)
            }
            // Who was a guardian reads it no more; the reporter does, also after leaving.
            try await server.call(API.leaveFamily, FamilyPath(familyID: family.id), as: family.secondGuardian)
            try await expectRefusal(404) { try await server.read(other, as: family.secondGuardian) }
            try await server.call(
                API.removeMember, MemberPath(familyID: family.id, userID: family.participant.id), as: family.guardian)
            try await expectRefusal(404) { try await server.read(other, as: family.participant) }
        }
    }

    @Test("nobody can report themself or a stranger, and a former member can report and be reported")
    func targets() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let gone = try await server.account("Gone", status: "deleted")
            let loner = try await server.account()
            try await server.expectOnly {
                try await server.expect(.refusal(.validationFailed, "target_id")) {
                    try await server.report(family.child, as: family.child)
                }
                var answers: Set<APIError> = []
                for (target, person) in [
                    (family.stranger, family.child), (family.child, family.stranger), (gone, family.child),
                    (loner, family.guardian), (family.guardian, loner),
                ] {
                    answers.insert(try await expectRefusal(404) { try await server.report(target, as: person) })
                }
                #expect(answers.count == 1)
            }
            let ofRemoved = try await server.report(family.removed, as: family.child)
            #expect(try await server.read(ofRemoved, as: family.guardian) == ofRemoved)
            let byRemoved = try await server.report(family.guardian, as: family.removed)
            #expect(try await server.read(byRemoved, as: family.removed) == byRemoved)
            try await expectRefusal(404) { try await server.read(byRemoved, as: family.secondGuardian) }
            // An invitation is enough to know somebody from.
            let now = server.clock.now()
            let id: ConnectionID = server.random.identifier(at: now)
            try await server.sql(
                """
                INSERT INTO connections (id, inviter_id, invitee_id, invitee_email, status, created_at)
                VALUES (\(id), \(loner.id), \(family.guardian.id), 'gia@example.org', 'pending', \(now))
                """)
            let report = try await server.report(loner, as: family.guardian)
            #expect(try await server.read(report, as: family.guardian) == report)
            try await expectRefusal(404) { try await server.read(report, as: family.secondGuardian) }
        }
    }

    @Test("the reason of an abuse report has 1 to 2,000 characters")
    func input() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            _ = try await server.report(family.guardian, String(repeating: "é", count: 2_000), as: family.child)
            try await server.expectOnly {
                for reason in ["", String(repeating: "x", count: 2_001)] {
                    try await server.expect(.refusal(.validationFailed, "reason")) {
                        try await server.report(family.guardian, reason, as: family.child)
                    }
                }
            }
        }
    }

    @Test(
        "a person reports ten times an hour, also at once on two servers, and the eleventh waits for the first's hour")
    func limit() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.withPeers(1) { peers in
                _ = try await server.report(family.guardian, as: family.child)
                server.clock.advance(by: .minutes(10))
                peers[0].clock.set(to: server.clock.now())
                let outcomes = try await together(outcomesOf: 14) { number in
                    try await [server, peers[0]][number % 2].report(family.guardian, as: family.child)
                }
                #expect(outcomes.count { (try? $0.get()) != nil } == 9)
                let refusal = try await server.expectOnly {
                    try await expectRefusal(429) { try await server.report(family.participant, as: family.child) }
                }
                #expect(refusal.code == .rateLimited && refusal.retryAfter == 3_000)
                // Others are not held up.
                _ = try await server.report(family.guardian, as: family.participant)
                server.clock.advance(by: .seconds(3_000))
                _ = try await server.report(family.guardian, as: family.child)
                try await expectRefusal(429) { try await server.report(family.guardian, as: family.child) }
            }
        }
    }

    @Test("an abuse report that is repeated with its Idempotency-Key is the same report")
    func idempotency() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let body: JSONValue = ["target_id": .string(family.guardian.id.description), "reason": "rude"]
            let replies = try await server.expectOnly(audit: ["abuse_report.created"]) {
                try await together(4) { _ in
                    try await server.call(
                        "POST", "/api/v1/abuse-reports", as: family.child, body: body,
                        headers: ["Idempotency-Key": "one"])
                }
            }
            #expect(replies.allSatisfy { $0.status == 201 } && Set(replies.map(\.body)).count == 1)
        }
    }
}

@Suite("The review of abuse reports")
struct AbuseReportReviewTests {
    private static func list(
        _ status: AbuseReportStatus? = nil, _ page: PageRequest = PageRequest(), as person: TestPerson,
        on server: TestServer
    ) async throws -> Page<AbuseReportReview> {
        try await server.call(
            API.listAbuseReportReviews, AbuseReportReviewQuery(status: status, page: page), as: person)
    }

    private static func review(
        _ report: AbuseReportResponse, _ status: AbuseReportStatus, _ severity: AbuseReportSeverity? = nil,
        _ note: String? = nil, as person: TestPerson, on server: TestServer
    ) async throws -> AbuseReportReview {
        try await server.call(
            API.updateAbuseReportReview, AbuseReportPath(reportID: report.id),
            AbuseReportReviewUpdate(status: status, severity: severity, note: note), as: person)
    }

    @Test("administrators see all abuse reports, the oldest first, with age and review target; each look is an entry")
    func queue() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let admin = try await server.admin()
            let first = try await server.report(family.guardian, as: family.child)
            server.clock.advance(by: .minutes(90))
            let second = try await server.report(family.child, as: family.participant)
            let page = try await server.expectOnly(audit: ["admin.read"]) {
                try await Self.list(.open, as: admin, on: server)
            }
            #expect(page.items.map(\.report) == [first, second] && page.total == 2)
            #expect(page.items.map(\.age) == [5_400, 0] && page.items.map(\.severity) == [.standard, .standard])
            #expect(page.items[0].reviewDueAt == page.items[0].createdAt + .hours(24))
            #expect(page.items.map(\.familyID) == [family.id, family.id])
            let look = try #require(try await server.audit(.outside).last)
            #expect(look.details == ["operation": "listAbuseReportReviews", "status": "open"])
            let one = try await server.expectOnly(audit: ["admin.read"]) {
                try await server.call(
                    API.getAbuseReportReview, AbuseReportPath(reportID: first.id), as: admin)
            }
            #expect(one == page.items[0])
            let entry = try #require(try await server.audit(.outside).last)
            #expect(entry.resource == first.id.retyped() && entry.subject == family.guardian.pseudonym)
            try await server.expectOnly {
                try await expectRefusal(404) {
                    let unknown: AbuseReportID = server.random.identifier(at: server.clock.now())
                    try await server.call(
                        API.getAbuseReportReview, AbuseReportPath(reportID: unknown), as: admin)
                }
            }
            let part = try await Self.list(nil, PageRequest(limit: 1, offset: 1), as: admin, on: server)
            #expect(part.items.map(\.report) == [second] && part.total == 2)
            let none = try await Self.list(.resolved, as: admin, on: server)
            #expect(none.items.isEmpty && none.total == 0)
        }
    }

    @Test("a review goes from open to investigating to its end, each step with an entry and its note")
    func steps() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let admin = try await server.admin()
            let report = try await server.report(family.guardian, as: family.child)
            for status in [AbuseReportStatus.resolved, .dismissed] {
                try await server.expectOnly {
                    try await expectRefusal(409) { try await Self.review(report, status, as: admin, on: server) }
                }
            }
            server.clock.advance(by: .hours(1))
            let begun = try await server.expectOnly(audit: ["abuse_report.reviewed"]) {
                try await Self.review(report, .investigating, .critical, "asked the school", as: admin, on: server)
            }
            #expect(begun.report.status == .investigating && begun.severity == .critical)
            #expect(begun.reviewDueAt == begun.createdAt + .hours(4) && begun.updatedAt == server.clock.now())
            let entry = try #require(try await server.audit(.outside).last)
            #expect(entry.subject == family.guardian.pseudonym && entry.resource == report.id.retyped())
            #expect(
                entry.details == [
                    "from": "open", "status": "investigating", "severity": "critical", "note": "asked the school",
                ])
            #expect(try await server.audit(family.id).isEmpty)
            let again = try await server.expectOnly {
                try await Self.review(report, .investigating, .critical, as: admin, on: server)
            }
            #expect(again.report == begun.report && again.updatedAt == begun.updatedAt)
            let low = try await server.expectOnly(audit: ["abuse_report.reviewed"]) {
                try await Self.review(report, .investigating, .low, as: admin, on: server)
            }
            #expect(low.reviewDueAt == low.createdAt + .hours(72))
            let ended = try await Self.review(report, .resolved, nil, "talked to both", as: admin, on: server)
            #expect(ended.report.status == .resolved && ended.severity == .low)
            try await server.expectOnly {
                for status in [AbuseReportStatus.open, .investigating, .dismissed] {
                    try await expectRefusal(409) { try await Self.review(report, status, as: admin, on: server) }
                }
                try await expectRefusal(409) {
                    try await Self.review(report, .resolved, .critical, as: admin, on: server)
                }
                try await expectRefusal(409) {
                    try await Self.review(report, .resolved, nil, "x", as: admin, on: server)
                }
                #expect(try await Self.review(report, .resolved, as: admin, on: server).report == ended.report)
                #expect(try await server.read(report, as: family.child).status == .resolved)
            }
        }
    }

    @Test("of several ends of a review at once one counts")
    func race() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (one, other) = (try await server.admin(), try await server.admin())
            let report = try await server.report(family.guardian, as: family.child)
            _ = try await Self.review(report, .investigating, as: one, on: server)
            let outcomes = try await server.expectOnly(audit: ["abuse_report.reviewed"]) {
                try await together(outcomesOf: 8) { number in
                    try await Self.review(
                        report, number.isMultiple(of: 2) ? .resolved : .dismissed,
                        as: number.isMultiple(of: 2) ? one : other, on: server
                    ).report.status
                }
            }
            #expect(Set(outcomes.compactMap { try? $0.get() }).count == 1)
        }
    }

    @Test("nobody but administrators sees or reviews abuse reports, and attempts are in the family's log")
    func refused() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let loner = try await server.account()
            let report = try await server.report(family.guardian, as: family.child)
            for person in [family.guardian, family.child] {
                try await server.expectOnly(audit: ["abuse_report.review.denied"]) {
                    let refusal = try await expectRefusal(403) { try await Self.list(as: person, on: server) }
                    #expect(refusal.reason == "administrator_only")
                    try await expectRefusal(403) {
                        try await Self.review(report, .investigating, as: person, on: server)
                    }
                }
            }
            try await server.expectOnly {
                for person in [family.removed, loner] {
                    try await expectRefusal(403) { try await Self.list(as: person, on: server) }
                    try await expectRefusal(403) {
                        try await Self.review(report, .investigating, as: person, on: server)
                    }
                }
            }
            let admin = try await server.admin()
            try await server.sql("UPDATE admins SET revoked_at = now() WHERE user_id = \(admin.id)")
            try await expectRefusal(403) { try await Self.list(as: admin, on: server) }
        }
    }
}

/// Who may do what about abuse reports.
extension MatrixRow {
    static let abuseReports: [MatrixRow] = [
        MatrixRow(
            API.createAbuseReport, concern: .caller, allowed: .members.subtracting([.participant]),
            refusals: [404, 422]
        ) {
            (NoParameters(), AbuseReportCreate(targetID: $0.family.participant.id, reason: "rude"))
        },
        MatrixRow(API.getAbuseReport, "about the co-guardian", allowed: [.guardian, .participant], refusals: [404]) {
            (AbuseReportPath(reportID: $0.report), NoBody())
        },
        MatrixRow(API.listAbuseReportReviews, allowed: [.administrator], refusals: [403]) { _ in
            (AbuseReportReviewQuery(), NoBody())
        },
        MatrixRow(API.getAbuseReportReview, allowed: [.administrator], refusals: [403]) {
            (AbuseReportPath(reportID: $0.report), NoBody())
        },
        MatrixRow(API.updateAbuseReportReview, allowed: [.administrator], refusals: [403]) {
            (AbuseReportPath(reportID: $0.report), AbuseReportReviewUpdate(status: .investigating))
        },
    ]
}
