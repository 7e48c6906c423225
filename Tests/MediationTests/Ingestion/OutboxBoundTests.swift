import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// Attacks on a family's log and feed by a member whose outbox is never empty: a request of it holds a hundred inputs.
@Suite("Limits of what an outbox writes")
struct OutboxBoundTests {
    private static func items(
        _ scene: OutboxScene, _ numbers: Range<UInt64>, on nag: NagID? = nil, _ act: InputAct
    ) -> [OutboxItem] { numbers.map { scene.item(act, on: nag, id: $0) } }

    @Test(
        "an item that is not applied is always answered, and kept two hundred times an hour", arguments: [true, false])
    func notApplied(isDone: Bool) async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let act: InputAct
            if isDone {
                // Of a report that the nag is done there is one; the others say what is so already.
                _ = try await scene.upload([scene.item(.status(.completed, note: nil), id: 10_000)])
                act = .status(.completed, note: nil)
            } else {
                act = .note(text: "Nobody has this nag")
            }
            let (nag, outcome) = isDone ? (scene.nag, InputOutcome.alreadyDone) : (NagID(high: 9, low: 9), .refused)
            let before = try await (entries: server.audit(scene.home.id).count, inputs: scene.inputs().all)
            for start in stride(from: UInt64(0), to: 500, by: 100) {
                let results = try await scene.upload(Self.items(scene, start..<start + 100, on: nag, act))
                #expect(results.allSatisfy { $0.outcome == outcome }, "\(start)")
            }
            #expect(try await scene.inputs().all - before.inputs == 200)
            #expect(try await server.audit(scene.home.id).count - before.entries == 200)

            // What was kept is told again; another person and another hour have their own.
            let again = try await scene.upload(Self.items(scene, 0..<100, on: nag, act))
            #expect(again.allSatisfy { $0.outcome == outcome })
            server.clock.advance(by: .hours(1))
            try await server.expectOnly(audit: ["input.not_applied"]) {
                _ = try await scene.upload([scene.item(act, on: nag, id: 20_000)])
            }
        }
    }

    @Test("excuses have a daily limit, also in an outbox, and the other items are applied")
    func excuses() async throws {
        try await TestServer.run { server in
            let scene = try await OutboxScene(server)
            let excuse = InputAct.excuse(text: "I forgot", category: nil)
            let first = try await scene.upload(Self.items(scene, 0..<49, excuse))
            #expect(first.allSatisfy { $0.outcome == .applied })
            let rest = try await scene.upload(
                Self.items(scene, 49..<52, excuse) + [scene.item(.note(text: "On my way"), id: 99)])
            #expect(rest.map(\.outcome) == [.applied, .refused, .refused, .applied])
            let error = try await expectRefusal(403) {
                try await server.call(
                    API.submitExcuse, NagPath(nagID: scene.nag), ExcuseCreate(text: "I forgot"), as: scene.home.child)
            }
            #expect(error.code == .policyForbidden && error.reason == "excuse_limit_reached")
            server.clock.advance(by: .days(1))
            #expect(try await scene.upload([scene.item(excuse, id: 200)]).map(\.outcome) == [.applied], "another day")
        }
    }
}
