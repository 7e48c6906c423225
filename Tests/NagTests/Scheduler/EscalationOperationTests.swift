import Contract
import Domain
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Read and recompute operations of an escalation")
struct EscalationOperationTests {
    @Test(
        "creator, recipient and guardians read and recompute an escalation; others get 403 or 404",
        arguments: [
            (Who.guardian, Who.guardian, Expected.success), (.guardian, .secondGuardian, .success),
            (.guardian, .child, .success), (.guardian, .participant, .refusal(.authorizationDenied)),
            (.guardian, .removed, .refusal(.notFound)), (.guardian, .stranger, .refusal(.notFound)),
            (.participant, .participant, .success),
        ])
    func readers(creator: Who, who: Who, expected: Expected) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: creator(family), to: family.child)
            let path = NagPath(nagID: nag.id)
            try await server.expect(expected) {
                let answer = try await server.call(API.getEscalation, path, as: who(family))
                #expect(answer.currentPhase == .initial && answer.nextStepAt == nag.dueAt - .hours(1))
            }
            server.clock.set(to: nag.dueAt)
            try await server.expect(expected) {
                let answer = try await server.call(API.recomputeEscalation, path, as: who(family))
                #expect(answer.currentPhase == .overdueSoft && answer.nextStepAt == nag.dueAt + .hours(1))
            }
            let isAllowed = if case .success = expected { true } else { false }
            #expect(try await server.steps(of: nag.id) == (isAllowed ? ["1", "2"] : []))
        }
    }

    @Test("a recompute takes exactly the due steps, once, at any number of requests, and a read takes none")
    func recompute() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let nag = try await server.nag(from: family.guardian, to: family.child)
            let path = NagPath(nagID: nag.id)
            let early = try await server.expectOnly {
                try await server.call(API.recomputeEscalation, path, as: family.child)
            }
            #expect(early.currentPhase == .initial && early.nextStepAt == nag.dueAt - .hours(1))
            server.clock.set(to: nag.dueAt + .hours(1))
            let read = try await server.expectOnly { try await server.call(API.getEscalation, path, as: family.child) }
            #expect(read.currentPhase == .overdueBoundedPushBack, "as of now, before anybody has taken the steps")
            let answers = try await together(8) { number in
                try await server.call(
                    API.recomputeEscalation, path, as: number.isMultiple(of: 2) ? family.child : family.guardian)
            }
            #expect(Set(answers.map(\.currentPhase)) == [.overdueBoundedPushBack])
            #expect(try await server.steps(of: nag.id) == ["1", "2", "3"])
            #expect(try await server.escalationDeliveries(of: nag.id) == ["Cleo 3 push pending"])
            try await server.expectOnly { try await server.call(API.recomputeEscalation, path, as: family.guardian) }
            server.clock.set(to: nag.dueAt + .hours(24))
            let missed = try await server.call(API.recomputeEscalation, path, as: family.guardian)
            #expect(missed.currentPhase == .guardianReview && missed.nextStepAt == nil && missed.nextReminderAt == nil)
            #expect(try await server.call(API.getNag, path, as: family.child).status == .missed)
        }
    }

    @Test("a recompute counts with status changes and excuses, and a read with the reads below one nag")
    func tiers() {
        #expect(API.recomputeEscalation.operation.tier == .frequentWrite)
        #expect(API.getEscalation.operation.tier == .nagDetail)
    }
}
