import Audit
import Domain
import Testing

@Suite("Incentives in the details of entries")
struct IncentiveNoteTests {
    private static let note = IncentiveNote(
        event: ResourceID(high: 1, low: 2), rule: ResourceID(high: 3, low: 4), version: 5,
        terms: IncentiveTerms(
            trigger: .streakReached, count: 100, reward: .bonusPoints, amount: 1_000, approvalMode: .guardianConfirmed))

    @Test("an incentive note reads back as it was written")
    func read() {
        #expect(IncentiveNote(Self.note.text) == Self.note)
        #expect(
            Self.note.text
                == "00000000-0000-0001-0000-000000000002 00000000-0000-0003-0000-000000000004 5 streak_reached 100 "
                + "bonus_points 1000 guardian_confirmed")
    }

    @Test(
        "a text that is no incentive note is refused",
        arguments: ["", " ", "1 2 3 4 5 6 7 8", "\(note.text) more", "\(note.text.dropLast())"])
    func refused(text: String) {
        #expect(IncentiveNote(text) == nil)
    }
}
