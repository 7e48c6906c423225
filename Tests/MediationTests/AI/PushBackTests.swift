import Contract
import Domain
import NagzAI
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("AI: push-backs and their limits")
struct PushBackTests {
    @Test("a push-back's reasons for refusal are checked in their order, and refusals do not count")
    func reasons() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let child = scene.home.child
            let quiet = #""quiet_hours_enabled": true, "quiet_hours_start": "10:00", "quiet_hours_end": "12:00""#
            func expect(
                _ reason: PushBackDecisionReason, _ sourceLocation: SourceLocation = #_sourceLocation
            ) async throws {
                let type = reason == .boundedPushBack ? "push_back" : "push_back_refused"
                let answer = try await server.expectOnly(
                    audit: ["ai.push_back"], mediations: [type], sourceLocation: sourceLocation
                ) {
                    try await scene.pushBack()
                }
                #expect(answer.reason == reason.rawValue, sourceLocation: sourceLocation)
                #expect(answer.shouldPushBack == (reason == .boundedPushBack), sourceLocation: sourceLocation)
                #expect(
                    (answer.message != nil) == answer.shouldPushBack && (answer.tone != nil) == answer.shouldPushBack)
            }
            // It is 11:00 in New York. Everything speaks against it at once; then one reason after the other goes away.
            try await scene.prefer(#"{"pushback_mode": "off", \#(quiet)}"#, child)
            try await scene.setPolicy(maxPushBack: 0)
            try await expect(.modeOff)
            try await scene.prefer(#"{"pushback_mode": "bounded", \#(quiet)}"#, child)
            try await expect(.maxAttemptsReached)
            try await scene.setPolicy(maxPushBack: 2)
            try await expect(.quietHours)
            try await scene.prefer("{}", child)
            try await expect(.boundedPushBack)
            try await expect(.cooldownActive)
            server.clock.advance(by: .hours(1) - .milliseconds(1))
            try await expect(.cooldownActive)
            try await scene.prefer("{\(quiet.replacing("12:00", with: "12:01"))}", child)
            server.clock.advance(by: .milliseconds(1))
            try await expect(.quietHours)
            try await scene.prefer("{\(quiet)}", child)
            try await expect(.boundedPushBack)
            server.clock.advance(by: .hours(5))
            try await expect(.maxAttemptsReached)
            try await server.commit([FeedRows.close(scene.nag, as: .completed, at: scene.now)], in: scene.home.id)
            try await expect(.nagNotOpen)
        }
    }

    /// When it is quiet for the child.
    struct Quiet: Sendable, CustomTestStringConvertible {
        /// UTC on 10 March 2026; New York is four hours behind.
        let time: String
        var preferences = "{}"
        var childStart: String?
        var childEnd: String?
        let isQuiet: Bool
        var testDescription: String { "\(time) \(preferences) \(childStart ?? "-")" }
    }

    private static let night = #"{"quiet_hours_enabled": true}"#
    private static let tokyo = #"{"quiet_hours_enabled": true, "timezone": "Asia/Tokyo"}"#

    @Test(
        "no push-back is in quiet hours of the recipient's zone, and a child's own come first",
        arguments: [
            Quiet(time: "2026-03-11T01:59:59.999Z", preferences: night, isQuiet: false),
            Quiet(time: "2026-03-11T02:00:00.000Z", preferences: night, isQuiet: true),
            Quiet(time: "2026-03-11T10:59:59.999Z", preferences: night, isQuiet: true),
            Quiet(time: "2026-03-11T11:00:00.000Z", preferences: night, isQuiet: false),
            Quiet(time: "2026-03-11T02:00:00.000Z", isQuiet: false),
            Quiet(time: "2026-03-11T13:00:00.000Z", preferences: tokyo, isQuiet: true),
            Quiet(time: "2026-03-11T12:59:59.000Z", preferences: tokyo, isQuiet: false),
            Quiet(time: "2026-03-10T18:30:00.000Z", childStart: "14:00", childEnd: "15:00", isQuiet: true),
            Quiet(time: "2026-03-10T19:00:00.000Z", childStart: "14:00", childEnd: "15:00", isQuiet: false),
            Quiet(
                time: "2026-03-11T02:30:00.000Z", preferences: night, childStart: "14:00", childEnd: "15:00",
                isQuiet: false),
        ])
    func quietHours(_ quiet: Quiet) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await scene.prefer(quiet.preferences, scene.home.child)
            // The requester's own quiet hours are not the recipient's.
            try await scene.prefer(
                #"{"quiet_hours_enabled": true, "quiet_hours_start": "00:00", "quiet_hours_end": "23:59"}"#,
                scene.home.guardian)
            try await server.sql(
                """
                UPDATE child_settings SET quiet_hours_start = \(quiet.childStart)::time, quiet_hours_end = \(quiet.childEnd)::time
                WHERE user_id = \(scene.home.child.id)
                """)
            server.clock.set(to: try #require(Timestamp(rfc3339: quiet.time)))
            #expect(try await scene.pushBack().reason == (quiet.isQuiet ? "quiet_hours" : "bounded_push_back"))
        }
    }

    @Test(
        "push-backs exceed neither the maximum nor the cooldown, with fifty requests at once on three servers",
        arguments: [1, 3])
    func bounds(_ maximum: Int) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await scene.setPolicy(maxPushBack: maximum, cooldownMinutes: 15)
            try await server.withPeers(2) { peers in
                let servers = [server] + peers
                for round in 0..<(maximum + 1) {
                    let answers = try await withThrowingTaskGroup(of: PushBackResponse.self) { group in
                        for number in 0..<50 {
                            group.addTask {
                                try await scene.pushBack(
                                    as: number % 2 == 0 ? scene.home.guardian : scene.home.secondGuardian,
                                    on: servers[number % 3])
                            }
                        }
                        return try await group.reduce(into: []) { $0.append($1) }
                    }
                    #expect(answers.filter(\.shouldPushBack).count == (round < maximum ? 1 : 0))
                    for peer in servers { peer.clock.advance(by: .minutes(15)) }
                }
                let types = try await server.feed(scene.home.id).filter { $0.entity == .mediation }.map(\.type)
                #expect(types.filter { $0 == "push_back" }.count == maximum)
                #expect(types.count == 50 * (maximum + 1), "refused ones are recorded too")
            }
        }
    }

    @Test("after the clock was set back, earlier push-backs still count")
    func clockSetBack() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await scene.setPolicy(maxPushBack: 3, cooldownMinutes: 15)
            // The nag's cycle began after what this clock now shows.
            server.clock.advance(by: .minutes(-5))
            #expect(try await scene.pushBack().shouldPushBack)
            for _ in 0..<4 { #expect(try await scene.pushBack().reason == "cooldown_active") }
            var count = 1
            for _ in 0..<6 {
                server.clock.advance(by: .minutes(15))
                if try await scene.pushBack().shouldPushBack { count += 1 }
            }
            #expect(count == 3)
        }
    }

    @Test("a due time moved by the guardian begins a new cycle of push-backs, and one moved by the recipient does not")
    func cycles() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await scene.setPolicy(maxPushBack: 1)
            #expect(try await scene.pushBack().shouldPushBack)
            server.clock.advance(by: .hours(2))
            #expect(try await scene.pushBack().reason == "max_attempts_reached")
            let snooze = NagUpdate(dueAt: ManualClock.start + .hours(24) + .minutes(10))
            try await server.call(API.updateNag, NagPath(nagID: scene.nag), snooze, as: scene.home.child)
            server.clock.advance(by: .hours(2))
            #expect(try await scene.pushBack().reason == "max_attempts_reached")
            let move = NagUpdate(dueAt: ManualClock.start + .hours(48))
            try await server.call(API.updateNag, NagPath(nagID: scene.nag), move, as: scene.home.guardian)
            server.clock.advance(by: .hours(1))
            #expect(try await scene.pushBack().shouldPushBack)
            server.clock.advance(by: .minutes(1))
            let again = NagUpdate(dueAt: ManualClock.start + .hours(49))
            try await server.call(API.updateNag, NagPath(nagID: scene.nag), again, as: scene.home.guardian)
            server.clock.advance(by: .minutes(58))
            let early = try await scene.pushBack()
            #expect(early.reason == "cooldown_active", "the cooldown outlives the cycle")
            server.clock.advance(by: .minutes(1))
            #expect(try await scene.pushBack().shouldPushBack)
        }
    }
}

private func - (left: Timestamp.Span, right: Timestamp.Span) -> Timestamp.Span {
    Timestamp.Span(microseconds: left.microseconds - right.microseconds)
}
