import Domain
import Testing

@Suite("Due times")
struct DueTimeLimitTests {
    @Test("a due time is ahead, by two years at most")
    func bounds() {
        let now = Timestamp.epoch + .days(20_000)
        #expect(DueTimeLimit.fault(of: now, now: now) == "The due time must lie in the future.")
        #expect(DueTimeLimit.fault(of: now + .milliseconds(1), now: now) == nil)
        #expect(DueTimeLimit.fault(of: now + .days(731), now: now) == nil)
        #expect(DueTimeLimit.fault(of: now + .days(731) + .milliseconds(1), now: now) == DueTimeLimit.tooFarMessage)
    }
}
