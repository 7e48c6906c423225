import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Drafts: order and preconditions of steps")
struct DraftStepTests {
    @Test("a step after a skipped one is refused with the name of the missing one")
    func skipped() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (draft, other) = (
                try await server.draft(in: family, as: family.guardian),
                try await server.draft(in: family, as: family.guardian)
            )
            let key = try await server.confirmed(other, as: family.guardian)
            func expect(_ reason: String, _ body: () async throws -> Void) async throws {
                try await server.expectOnly {
                    let refusal = try await expectRefusal(409) { try await body() }
                    #expect(refusal.code == .conflict && refusal.reason == reason, "\(reason)")
                }
            }
            try await expect("approve_missing") { _ = try await server.confirm(draft, as: family.guardian) }
            try await expect("approve_missing") { try await server.execute(draft, key, as: family.guardian) }
            try await server.approve(draft, as: family.guardian)
            try await expect("confirm_missing") { try await server.execute(draft, key, as: family.guardian) }
            _ = try await server.confirm(draft, as: family.guardian)
            try await expect("confirmation_invalid") { try await server.execute(draft, key, as: family.guardian) }
            try await server.expect(.refusal(.validationFailed, "confirmation")) {
                try await server.execute(draft, nil, as: family.guardian)
            }
            try await server.reject(draft, as: family.guardian)
            for step in DraftStep.allCases where step != .reject {
                try await expect("rejected") {
                    try await server.take(step, draft, key, as: family.guardian, source: .keyboard)
                }
            }
            try await server.expectOnly { try await server.reject(draft, as: family.guardian) }
        }
    }

    @Test("voice and shortcuts create drafts, but take no step with them", arguments: [DraftSource.voice, .shortcut])
    func sources(source: DraftSource) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft(in: family, source: source, as: family.guardian)
            try await server.approve(draft, as: family.guardian)
            let key = try await server.confirm(draft, as: family.guardian)
            for step in DraftStep.allCases {
                let refusal = try await expectRefusal(403) {
                    try await server.take(step, draft, key, as: family.guardian, source: source)
                }
                #expect(refusal.code == .policyForbidden && refusal.reason == "voice_only_creates")
            }
            #expect(try await server.draft(draft.id, as: family.guardian).progress.state == .confirmed)
            try await server.execute(draft, key, as: family.guardian, source: .camera)
        }
    }

    @Test("a second key is valid until 60.000000 s after it was given")
    func keyTime() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let (draft, later) = (
                try await server.draft(in: family, as: family.guardian),
                try await server.draft(in: family, as: family.guardian)
            )
            let keys = (
                try await server.confirmed(draft, as: family.guardian),
                try await server.confirmed(later, as: family.guardian)
            )
            server.clock.advance(by: .seconds(60))
            try await server.execute(draft, keys.0, as: family.guardian)
            server.clock.advance(by: Timestamp.Span(microseconds: 1))
            try await server.expectOnly {
                let refusal = try await expectRefusal(409) {
                    try await server.execute(later, keys.1, as: family.guardian)
                }
                #expect(refusal.reason == "confirmation_invalid")
            }
            let again = try await server.confirm(later, as: family.guardian)
            try await expectRefusal(409) { try await server.execute(later, keys.1, as: family.guardian) }
            try await server.execute(later, again, as: family.guardian)
        }
    }

    @Test("a key is valid for its person alone, and a later key voids it")
    func keyOwner() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft(in: family, as: family.participant)
            let first = try await server.confirmed(draft, as: family.participant)
            try await expectRefusal(409) { try await server.execute(draft, first, as: family.guardian) }
            let second = try await server.confirm(draft, as: family.guardian)
            try await expectRefusal(409) { try await server.execute(draft, first, as: family.participant) }
            try await expectRefusal(409) { try await server.execute(draft, second, as: family.participant) }
            try await server.execute(draft, second, as: family.guardian)
        }
    }

    @Test("an edit voids approval and key, and every step with the earlier version is refused")
    func edited() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft(in: family, as: family.guardian)
            let key = try await server.confirmed(draft, as: family.guardian)
            let edited = try await server.edit(
                draft, DraftBodyChanges(description: .value("more")), as: family.guardian)
            #expect(edited.progress.state == .draft && edited.approvedBy == nil && edited.confirmedAt == nil)
            for step in [DraftStep.approve, .confirm, .execute, .reject] {
                try await server.expectOnly {
                    let refusal = try await expectRefusal(409) {
                        try await server.take(step, draft, key, as: family.guardian, source: .keyboard)
                    }
                    #expect(refusal.reason == "version_changed")
                }
            }
            let refusal = try await expectRefusal(409) { try await server.execute(edited, key, as: family.guardian) }
            #expect(refusal.reason == "approve_missing")
            try await server.expectOnly {
                try await expectRefusal(412) {
                    try await server.edit(
                        edited, DraftBodyChanges(category: .meds), as: family.guardian, ifMatch: "\"1\"")
                }
                try await server.edit(edited, DraftBodyChanges(description: .value("more")), as: family.guardian)
            }
        }
    }

    @Test("50 executions at once have one effect, and all the same answer")
    func parallel() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft("Cleo: dishes", in: family, as: family.guardian)
            let key = try await server.confirmed(draft, as: family.guardian)
            let answers = try await server.expectOnly(audit: ["nag.created"], events: ["nag_created"], stamped: 1) {
                try await together(50) { _ in try await server.execute(draft, key, as: family.guardian) }
            }
            #expect(Set(answers).count == 1 && answers[0].resultID != nil)
            server.clock.advance(by: .days(2))
            try await server.expectOnly {
                let replay = try await server.execute(draft, nil, as: family.guardian)
                #expect(replay == answers[0])
            }
        }
    }

    @Test("of an edit and an execution at once one succeeds, and no edited text is carried out unapproved")
    func editedMeanwhile() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            for number in 0..<FamilyPolicy.dailyNagCapRange.upperBound {
                let draft = try await server.draft("Cleo: dishes", in: family, as: family.guardian)
                let key = try await server.confirmed(draft, as: family.guardian)
                let changes = DraftBodyChanges(description: .value("other \(number)"))
                let outcomes = try await together(outcomesOf: 2) { index in
                    index == 0
                        ? try await server.execute(draft, key, as: family.guardian)
                        : try await server.edit(draft, changes, as: family.guardian)
                }
                #expect(outcomes.count { (try? $0.get()) != nil } == 1)
            }
            let nags = try await server.rows("SELECT description FROM nags WHERE description LIKE 'other%'")
            #expect(nags.isEmpty)
        }
    }

    @Test("drafts expire after 24 hours, and housekeeping marks each once")
    func expired() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft(in: family, as: family.guardian)
            let done = try await server.draft(in: family, as: family.guardian)
            try await server.execute(
                done, try await server.confirmed(done, as: family.guardian), as: family.guardian)
            server.clock.advance(by: .hours(24))
            let key = try await server.confirmed(draft, as: family.guardian)
            server.clock.advance(by: Timestamp.Span(microseconds: 1))
            try await server.expectOnly {
                for step in DraftStep.allCases {
                    let refusal = try await expectRefusal(409) {
                        try await server.take(step, draft, key, as: family.guardian, source: .keyboard)
                    }
                    #expect(refusal.reason == "expired")
                }
            }
            #expect(try await server.draft(draft.id, as: family.guardian).progress.state == .expired)
            let counts = try await server.expectOnly(audit: ["draft.expired"]) {
                try await together(2) { _ in try await server.markExpiredDrafts() }
            }
            #expect(counts.reduce(0, +) == 1)
            let states = try await server.rows("SELECT state FROM drafts ORDER BY id")
            #expect(states == [["state": "expired"], ["state": "executed"]])
        }
    }

    @Test("when a member leaves, their open drafts, approvals and keys end")
    func removed() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let own = try await server.draft(in: family, as: family.participant)
            let approved = try await server.draft(in: family, as: family.child)
            let confirmed = try await server.draft(in: family, as: family.child)
            try await server.approve(approved, as: family.secondGuardian)
            try await server.approve(confirmed, as: family.guardian)
            let key = try await server.confirm(confirmed, as: family.secondGuardian)
            for person in [family.participant, family.secondGuardian] {
                try await server.call(
                    API.removeMember, MemberPath(familyID: family.id, userID: person.id), as: family.guardian)
            }
            func state(_ draft: DraftResponse) async throws -> DraftState {
                try await server.draft(draft.id, as: family.guardian).progress.state
            }
            #expect(try await state(own) == .rejected)
            #expect(try await state(approved) == .draft)
            #expect(try await state(confirmed) == .approved)
            for step in DraftStep.allCases {
                for person in [family.secondGuardian, family.participant, family.stranger] {
                    try await server.expect(.refusal(.notFound)) {
                        try await server.take(step, confirmed, key, as: person, source: .keyboard)
                    }
                }
            }
            try await expectRefusal(409) { try await server.execute(confirmed, key, as: family.guardian) }
        }
    }

    @Test("the account of a guardian with drafts can be deleted")
    func deletedAccount() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let draft = try await server.draft(in: family, as: family.secondGuardian)
            _ = try await server.nag(from: family.guardian, to: family.secondGuardian)
            try await server.call(
                API.deleteAccount, AccountPath(userID: family.secondGuardian.id), as: family.secondGuardian)
            #expect(try await server.draft(draft.id, as: family.guardian).progress.state == .rejected)
        }
    }
}
