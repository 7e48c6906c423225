import Domain
import Testing

@Suite("Steps and keys of drafts")
struct DraftTests {
    private static let now = Timestamp(seconds: 1_800_000_000)

    private static func progress(_ state: DraftState) -> DraftProgress {
        DraftProgress(state: state, version: 3, expiresAt: now)
    }

    /// What becomes of each step in each state, for the version that the person has seen.
    private static let table: [(DraftState, [DraftStep: DraftProgress.Verdict])] = [
        (
            .draft,
            [
                .edit: .allowed, .approve: .allowed, .confirm: .missing(.approve), .execute: .missing(.approve),
                .reject: .allowed,
            ]
        ),
        (
            .approved,
            [
                .edit: .allowed, .approve: .alreadyDone, .confirm: .allowed, .execute: .missing(.confirm),
                .reject: .allowed,
            ]
        ),
        (
            .confirmed,
            [.edit: .allowed, .approve: .alreadyDone, .confirm: .allowed, .execute: .allowed, .reject: .allowed]
        ),
        (
            .executed,
            [
                .edit: .ended(.executed), .approve: .ended(.executed), .confirm: .ended(.executed),
                .execute: .alreadyDone,
                .reject: .ended(.executed),
            ]
        ),
        (
            .rejected,
            [
                .edit: .ended(.rejected), .approve: .ended(.rejected), .confirm: .ended(.rejected),
                .execute: .ended(.rejected), .reject: .alreadyDone,
            ]
        ),
        (
            .expired,
            [
                .edit: .ended(.expired), .approve: .ended(.expired), .confirm: .ended(.expired),
                .execute: .ended(.expired), .reject: .ended(.expired),
            ]
        ),
    ]

    @Test("every step in every state of a draft has its verdict")
    func steps() {
        #expect(Self.table.map(\.0) == DraftState.allCases)
        for (state, verdicts) in Self.table {
            for step in DraftStep.allCases {
                #expect(
                    Self.progress(state).verdict(on: step, of: 3, at: Self.now) == verdicts[step], "\(step) \(state)")
                #expect(Self.progress(state).verdict(on: step, of: nil, at: Self.now) == verdicts[step])
            }
        }
    }

    @Test("a step of another version is answered only if it is what ended the draft", arguments: DraftState.allCases)
    func versions(state: DraftState) {
        for step in DraftStep.allCases {
            let verdict = Self.progress(state).verdict(on: step, of: 2, at: Self.now)
            switch (state, step) {
            case (.executed, .execute), (.rejected, .reject): #expect(verdict == .alreadyDone)
            default: #expect(verdict == (state.isOpen ? .edited : .ended(state)))
            }
        }
    }

    @Test(
        "an open draft is over a microsecond after its time, an ended one stays what it is",
        arguments: DraftState.allCases)
    func expiry(state: DraftState) {
        let late = Self.now + Timestamp.Span(microseconds: 1)
        #expect(Self.progress(state).state(at: Self.now) == state)
        #expect(Self.progress(state).state(at: late) == (state.isOpen ? .expired : state))
        if state.isOpen {
            for step in DraftStep.allCases {
                #expect(Self.progress(state).verdict(on: step, of: 3, at: late) == .ended(.expired))
            }
        }
    }

    @Test("a key opens for its person until 60.000000 s after it was given")
    func key() {
        let (owner, other) = (UserID(high: 1, low: 1), UserID(high: 1, low: 2))
        let key = ConfirmationKey(
            digest: [1, 2], owner: owner, expiresAt: Self.now + DraftLimit.confirmationKeyLifetime)
        #expect(key.allowsUse(of: [1, 2], by: owner, at: Self.now + .seconds(60)))
        #expect(!key.allowsUse(of: [1, 2], by: owner, at: Self.now + Timestamp.Span(microseconds: 60_000_001)))
        #expect(!key.allowsUse(of: [1, 2], by: other, at: Self.now))
        #expect(!key.allowsUse(of: [1, 3], by: owner, at: Self.now))
    }

    @Test("every kind of draft has side effects, each once", arguments: DraftKind.allCases)
    func effects(kind: DraftKind) {
        #expect(!kind.sideEffects.isEmpty && Set(kind.sideEffects).count == kind.sideEffects.count)
    }
}
