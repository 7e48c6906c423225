import Audit
import Contract
import Domain
import JSON
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Reports")
struct ReportTests {
    /// A nag straight into the database, due so many hours from now.
    private static func insert(
        due hours: Int64, _ category: NagCategory = .chores, _ status: NagStatus, late: Bool = false,
        in family: Household, on server: TestServer
    ) async throws {
        let id: NagID = server.random.identifier(at: server.clock.now())
        let due = server.clock.now() + .hours(hours)
        let completed = status == .completed ? (late ? due + .minutes(1) : due) : nil
        let closed = status == .open ? nil : due
        let order = server.order(for: family.child, in: family.id, category)
        let nag = NagResponse(
            id: id, familyID: family.id, connectionID: nil, creatorID: family.guardian.id, recipientID: family.child.id,
            creatorDisplayName: nil, recipientDisplayName: nil, dueAt: due, category: order.category,
            doneDefinition: .binaryCheck, description: nil, strategyTemplate: .friendlyReminder, recurrence: nil,
            parentNagID: nil, status: .open, createdAt: due - .hours(1), completedAt: nil, committedAt: nil,
            recipientDismissedAt: nil)
        let context = server.context
        try await server.database.run { database in
            let act = Act(
                kind: .nagCreated, basis: .nothing, actor: family.guardian.pseudonym,
                statements: [NagStatements.insert(nag, policy: nil, nextStep: nag.dueAt, source: .text)])
            let ledger = Ledger(database: database, random: server.random)
            let _: NoAnswer = try await ledger.write(context, in: family.id) { _ in .perform(act, NoAnswer()) }
        }
        try await server.sql(
            "UPDATE nags SET status = \(status), completed_at = \(completed), closed_at = \(closed) WHERE id = \(id)")
    }

    @Test("family metrics count what was completed of all that was due, without withdrawn and cancelled nags")
    func metrics() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for (hours, status) in [
                (-50, NagStatus.completed), (-30, .completed), (-26, .missed), (-2, .open), (1, .open), (2, .completed),
                (3, .withdrawn), (4, .cancelledRelationshipChange),
            ] { try await Self.insert(due: Int64(hours), .chores, status, in: family, on: server) }
            let now = server.clock.now()
            func metrics(_ from: Int64?, _ to: Int64?) async throws -> [Double] {
                let query = FamilyMetricsQuery(
                    familyID: family.id, fromDate: from.map { now + .hours($0) }, toDate: to.map { now + .hours($0) })
                let answer = try await server.call(API.getFamilyMetrics, query, as: family.guardian)
                #expect(answer.fromDate == query.fromDate && answer.toDate == query.toDate)
                return [
                    Double(answer.totalNags), Double(answer.completed), Double(answer.missed), answer.completionRate,
                ]
            }
            try await server.expectOnly {
                #expect(try await metrics(nil, nil) == [6, 3, 1, 0.5])
                // Both ends are included.
                #expect(try await metrics(-50, -26) == [3, 2, 1, 0.6667])
                #expect(try await metrics(-49, -27) == [1, 1, 0, 1])
                #expect(try await metrics(1, nil) == [2, 1, 0, 0.5])
                #expect(try await metrics(nil, -40) == [1, 1, 0, 1])
                #expect(try await metrics(-20, -10) == [0, 0, 0, 0])
                try await server.expect(.refusal(.validationFailed, "from_date")) { try await metrics(1, 0) }
            }
        }
    }

    @Test("the weekly report has the current local week by category, and the trend of four weeks")
    func weekly() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            // It is Tuesday 11:00 in New York; the week began 35 hours ago, the clocks went forward an hour before that.
            let before: Int64 = -36
            try await Self.insert(due: -35, .chores, .completed, in: family, on: server)
            try await Self.insert(due: -35, .chores, .completed, late: true, in: family, on: server)
            try await Self.insert(due: 24, .meds, .missed, in: family, on: server)
            try await Self.insert(due: 7 * 24 - 36, .meds, .open, in: family, on: server)
            try await Self.insert(due: 7 * 24 - 35, .meds, .open, in: family, on: server)
            try await Self.insert(due: before, .homework, .completed, in: family, on: server)
            try await Self.insert(due: before - 13 * 24, .homework, .missed, in: family, on: server)
            try await Self.insert(due: before - 28 * 24, .homework, .missed, in: family, on: server)
            let own = try await server.nag(from: family.guardian, to: family.child)
            try await server.call(
                API.submitExcuse, NagPath(nagID: own.id), ExcuseCreate(text: "I forgot"), as: family.child)
            let report = try await server.expectOnly {
                try await server.call(API.getWeeklyReport, FamilyQuery(familyID: family.id), as: family.secondGuardian)
            }
            #expect(report.periodStart == server.clock.now() - .hours(35))
            func figures(_ json: JSONValue?) -> [Double?] {
                ["total_nags", "completed", "completed_on_time", "missed", "open", "completion_rate"].map {
                    json?.objectValue?[$0]?.doubleValue
                }
            }
            #expect(figures(.object(report.metrics)) == [5, 2, 1, 1, 2, 0.4])
            let categories = report.metrics["by_category"]?.objectValue
            #expect(figures(categories?["chores"]) == [3, 2, 1, 0, 1, 0.6667])
            #expect(figures(categories?["meds"]) == [2, 0, 0, 1, 1, 0])
            #expect(figures(categories?["homework"]) == [0, 0, 0, 0, 0, 0])
            let excuses = report.metrics["by_excuse_category"]?.objectValue
            #expect(excuses?["forgot"] == .integer(1) && excuses?["other"] == .integer(0) && excuses?.count == 6)
            let trend = try #require(report.metrics["weekly_trend"]?.arrayValue)
            #expect(trend.map { $0["total_nags"]?.integerValue } == [0, 1, 1, 5])
            #expect(trend.map { $0["missed"]?.integerValue } == [0, 1, 0, 1])
            #expect(trend.last?["period_start"]?.stringValue == report.periodStart.rfc3339)
            // The hour that was skipped makes the week before an hour shorter.
            #expect(
                trend[2]["period_start"]?.stringValue == (report.periodStart - .hours(7 * 24 - 1)).rfc3339)
        }
    }

    @Test("a family without nags has a report of zeros")
    func empty() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let report = try await server.call(
                API.getWeeklyReport, FamilyQuery(familyID: family.id), as: family.guardian)
            #expect(report.metrics["total_nags"] == .integer(0) && report.metrics["completion_rate"]?.doubleValue == 0)
            #expect(report.metrics["weekly_trend"]?.arrayValue?.count == 4)
        }
    }

    @Test(
        "nobody but guardians reads reports, and a member's attempt is an audit entry",
        arguments: [Who.participant, .child, .stranger, .removed])
    func refused(_ who: Who) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let isMember = who == .participant || who == .child
            // The second refusal of the hour is counted.
            try await server.expectOnly(audit: isMember ? ["report.read.denied"] : []) {
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.call(API.getWeeklyReport, FamilyQuery(familyID: family.id), as: who(family))
                }
                try await server.expect(.refusal(.authorizationDenied)) {
                    try await server.call(
                        API.getFamilyMetrics, FamilyMetricsQuery(familyID: family.id), as: who(family))
                }
            }
        }
    }
}

/// Who may do what in the group `reports`.
extension MatrixRow {
    static let reports: [MatrixRow] = [
        MatrixRow(API.getWeeklyReport, allowed: .guardians) { (inFamily($0), NoBody()) },
        MatrixRow(API.getFamilyMetrics, allowed: .guardians) { (FamilyMetricsQuery(familyID: $0.family.id), NoBody()) },
    ]
}
