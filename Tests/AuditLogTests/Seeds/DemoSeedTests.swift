import Audit
import Contract
import Domain
import JSON
import NagzAI
import SQL
import Synchronization
import Testing

@testable import Seeds
@testable import Server
@testable import ServerTestKit

/// Seeds the demo once a database, as `nagz seed demo` does, and looks at it through the API. Takes some seconds.
@Suite("The demo family")
struct DemoSeedTests {
    /// Moments on which the story has to come out the same: a week's first minute, a weekend, a day after the clocks
    /// changed (the harness's own start), and late on a Sunday.
    static let presents = [
        ManualClock.start, Timestamp(rfc3339: "2026-06-15T04:01:00Z"), Timestamp(rfc3339: "2026-11-08T04:59:00Z"),
    ]
    .compactMap { $0 }

    @Test("every answer about the demo family has content, whenever it was seeded", arguments: presents)
    func claims(present: Timestamp) async throws {
        try await TestServer.run { server in
            server.clock.set(to: present)
            let demo = try await Demo(server)
            try await demo.mediator()
            try await demo.digestAndPatterns()
            try await demo.points()
            try await demo.reports()
            try await demo.auditLog()
            try await demo.feed()
            try await demo.firstSync()
            try await demo.reconciliation()
            try await demo.deliveries()
            try await demo.escalation()
        }
    }

    @Test("the demo seed leaves a database that is in use alone")
    func inUse() async throws {
        try await TestServer.run { server in
            _ = try await server.call(
                API.signUp,
                SignupRequest(email: try EmailAddress(wireText: "ada@example.org"), password: Secret("a long one")))
            let told = try await server.expectOnly { try await Demo.seed(server, skipsNonEmpty: true) }
            #expect(told.isEmpty)
            try await server.expectOnly {
                _ = await #expect(throws: SeedFault.self) { try await Demo.seed(server, skipsNonEmpty: false) }
            }
        }
    }
}

/// The demo as its people see it.
private struct Demo {
    let server: TestServer
    let family: FamilyID
    /// By name.
    let people: [String: TestPerson]
    let open: [NagResponse]

    static func seed(_ server: TestServer, skipsNonEmpty: Bool) async throws -> [DemoSignIn] {
        let told = Mutex<[DemoSignIn]>([])
        try await DemoSeed.run(
            databaseURL: server.database.url, auditKeyring: TestServer.auditKeyring, clock: server.clock,
            cost: .testing, skipsNonEmpty: skipsNonEmpty
        ) { _ in
        } announce: { signIns in
            told.withLock { $0 = signIns }
        }
        return told.withLock { $0 }
    }

    /// Seeds, and signs everybody in with what was told.
    init(_ server: TestServer) async throws {
        var people: [String: TestPerson] = [:]
        for signIn in try await Self.seed(server, skipsNonEmpty: true) {
            let answer: AuthResponse
            if let email = signIn.email {
                answer = try await server.call(
                    API.logIn, LoginRequest(email: try EmailAddress(wireText: email), password: Secret(signIn.secret)))
            } else {
                answer = try await server.call(
                    API.childLogIn,
                    ChildLoginRequest(
                        familyCode: signIn.familyCode, username: signIn.childUsername,
                        pin: try PIN(wireText: signIn.secret))
                )
            }
            let claims = try server.tokens.verify(answer.accessToken.wireText, at: server.clock.now())
            #expect(answer.familyRole == signIn.role)
            people[signIn.name] = TestPerson(
                id: answer.user.id, session: claims.session, pseudonym: Pseudonym(high: 0, low: 0), name: signIn.name,
                email: signIn.email, familyID: answer.familyID, role: answer.familyRole)
        }
        self.server = server
        self.people = people
        let nora = try #require(people["Nora"])
        family = try #require(nora.familyID)
        open = try await server.call(API.listNags, NagListQuery(familyID: family, status: .open), as: nora).items
        #expect(
            people.values.map { $0.role?.rawValue ?? "" }.sorted() == [
                "child", "child", "guardian", "guardian", "participant",
            ])
    }

    private func person(_ name: String) throws -> TestPerson { try #require(people[name]) }

    private func open(for name: String, _ category: NagCategory? = nil) throws -> NagResponse {
        let id = try person(name).id
        return try #require(open.first { $0.recipientID == id && (category == nil || $0.category == category) })
    }

    // MARK: What is claimed

    /// The story's nags have escalated as it went on: a server that starts has nothing to catch up.
    func escalation() async throws {
        let caughtUp = try await server.withScheduler { rounds in
            try await rounds.run()
            return rounds.status.steps.value
        }
        #expect(caughtUp == 0)
        let counts = try await server.rows(
            """
            SELECT count(*) FILTER (WHERE event_type = 'nag_escalated') AS steps,
                   count(DISTINCT nag_id) FILTER (WHERE event_type = 'nag_missed') AS misses,
                   count(*) FILTER (WHERE event_type = 'nag_missed') AS events FROM nag_events
            """)
        let found = try #require(counts.first)
        #expect(found["steps"]?.integerValue ?? 0 > 200 && found["misses"] == found["events"])
        let overdue = try #require(open.first { $0.dueAt < server.clock.now() })
        #expect(try await server.phase(of: overdue.id, as: person("Nora")) == 3)
    }

    /// A phone of the old contract has everything with its first poll.
    func firstSync() async throws {
        for name in ["Nora", "Daniel", "Maya"] {
            var syncer = LegacySyncer(try person(name), family)
            try await syncer.catchUp(server)
            #expect(syncer.polls == 1, "\(name)")
        }
    }

    /// The notifications of the ninety days were sent, also once a worker has looked at them.
    func deliveries() async throws {
        func statuses() async throws -> Set<String> { Set(try await server.deliveryRows().map(\.status)) }
        #expect(try await statuses() == ["sent"])
        try await server.withWorker(DeliveryOptions()) { try await $0.run() }
        #expect(try await statuses() == ["sent"])
        for nag in open {
            let list = try await server.call(
                API.listDeliveries, DeliveryListQuery(nagID: nag.id), as: person("Nora"))
            #expect(list.items.allSatisfy { $0.status == .sent })
        }
    }

    func mediator() async throws {
        let nora = try person("Nora")
        for (name, tone) in [("Leo", AITone.firm), ("Maya", .neutral), ("Walter", .supportive)] {
            let answer = try await server.call(
                API.selectTone, ToneSelectRequest(nagID: try open(for: name).id), as: nora)
            #expect(answer.tone == tone, "\(name)")
        }
        let scenarios = [
            ("Leo", nil, "general"), ("Maya", NagCategory.homework, "high_completion_homework"),
            ("Daniel", nil, "repeated_time_conflict"),
            ("Nora", nil, "first_miss"), ("Walter", nil, "streak_3"),
        ]
        for (name, category, scenario) in scenarios {
            let nag = try open(for: name, category)
            let answer = try await server.call(API.coach, CoachingRequest(nagID: nag.id), as: nora)
            #expect(answer.scenario == scenario, "\(name)")
        }
        var likelihoods: [Double] = []
        for nag in open {
            likelihoods.append(
                try await server.call(API.predictCompletion, NagQuery(nagID: nag.id), as: nora).likelihood)
        }
        #expect(likelihoods.contains { $0 < 0.4 } && likelihoods.contains { $0 > 0.85 } && Set(likelihoods).count >= 4)

        let overdue = try #require(open.first { $0.dueAt < server.clock.now() })
        let pushBack = try await server.call(API.evaluatePushBack, PushBackRequest(nagID: overdue.id), as: nora)
        #expect(pushBack.shouldPushBack && pushBack.tone == .firm && pushBack.message != nil)
        let excuse = try await server.call(
            API.summarizeExcuse, ExcuseSummaryRequest(text: "I forgot", nagID: overdue.id), as: nora)
        #expect(excuse.category == .forgot)
    }

    func digestAndPatterns() async throws {
        let (nora, leo) = (try person("Nora"), try person("Leo"))
        let digest = try await server.call(API.generateDigest, FamilyQuery(familyID: family), as: nora)
        #expect(digest.memberSummaries.count == 5 && digest.totals.missed >= 4 && digest.totals.open >= 1)
        #expect(
            digest.memberSummaries.contains {
                $0.displayName == "Walter" && $0.completionRate == 1 && $0.totalNags >= 7
            })
        #expect(digest.summaryText.contains("Walter"))
        let patterns = try await server.call(
            API.detectPatterns, UserInFamilyQuery(userID: leo.id, familyID: family), as: nora)
        #expect(patterns.insights.first?.dayOfWeek == .sunday && patterns.insights.first?.missCount ?? 0 >= 3)
    }

    func points() async throws {
        let (nora, walter) = (try person("Nora"), try person("Walter"))
        var streaks: [Int] = []
        for person in people.values {
            let summary = try await server.call(API.getGamificationSummary, FamilyQuery(familyID: family), as: person)
            streaks.append(summary.currentStreak)
        }
        #expect(streaks.contains { $0 >= 7 } && streaks.contains { (3..<7).contains($0) } && streaks.contains(0))
        let badges = try await server.call(
            API.listBadges, UserInFamilyQuery(userID: walter.id, familyID: family), as: nora)
        #expect(Set(badges.map(\.badgeType)) == Set(BadgeType.allCases).subtracting([.familyAward]))
        let board = try await server.call(API.getLeaderboard, FamilyQuery(familyID: family), as: nora)
        #expect(board.entries.count == 5)
        let events = try await server.call(
            API.listGamificationEvents, GamificationEventsQuery(userID: walter.id), as: nora)
        #expect(events.total > 90)
    }

    func reports() async throws {
        let nora = try person("Nora")
        let report = try await server.call(API.getWeeklyReport, FamilyQuery(familyID: family), as: nora).metrics
        let trend = report["weekly_trend"]?.arrayValue ?? []
        #expect(trend.count == 4 && trend.allSatisfy { $0["total_nags"]?.integerValue ?? 0 > 0 })
        let metrics = try await server.call(API.getFamilyMetrics, FamilyMetricsQuery(familyID: family), as: nora)
        #expect(metrics.totalNags > 300 && metrics.missed > 20 && (0.6..<0.95).contains(metrics.completionRate))
        let excuses = try await server.rows("SELECT DISTINCT category FROM excuses")
        #expect(excuses.count == ExcuseCategory.allCases.count)
    }

    func auditLog() async throws {
        let kinds = Set(try await server.audit(family).map(\.kind))
        let expected: Set<String> = [
            "family.created", "member.role_changed", "member.joined", "member.created", "member.removed",
            "consent.granted",
            "consent.revoked", "preferences.changed", "child_settings.changed", "child_credentials.set",
            "session.opened",
            "session.refreshed", "session.revoked", "sign_in.failed", "nag.created", "nag.completed", "nag.missed",
            "nag.withdrawn", "nag.dismissed", "nag.undismissed", "nag.committed", "nag.snoozed", "nag.updated",
            "excuse.submitted", "nag.create.denied", "audit.read.denied", "report.read.denied", "block.created",
            "block.lifted", "ai.select_tone", "ai.summarize_excuse", "ai.coaching", "ai.patterns", "ai.digest",
            "ai.predict_completion", "ai.push_back", "demo.seeded",
        ]
        #expect(expected.subtracting(kinds) == [])
        let nora = try person("Nora")
        let page = try await server.call(API.listAuditEvents, AuditQuery(limit: 200), as: nora)
        #expect(page.items.count == 200 && page.nextCursor != nil)
        let first = try #require(try await server.audit(family).first)
        #expect(server.clock.now() - first.at > .days(89))
    }

    /// The audit log explains every row of the ninety days.
    func reconciliation() async throws {
        let report = try await server.reconcile()
        #expect(report.findings.map(\.description) == [])
        #expect(report.verdict == "explained" && report.gaps.isEmpty && report.comparedCount > 500, "\(report)")
    }

    func feed() async throws {
        let nora = try person("Nora")
        var (pages, rows) = (0, 0)
        var cursor = "start"
        var more = true
        while more, pages < 50 {
            let page = try await server.page(SyncQuery(familyID: family, cursor: cursor), as: nora)
            pages += 1
            rows +=
                page.nags.count + page.nagEvents.count + page.gamificationEvents.count + page.aiMediationEvents.count
            (cursor, more) = (page.cursor, page.hasMore)
        }
        #expect(pages >= 3 && rows > 1_500, "\(pages) pages of \(rows) rows")
    }
}
