import Domain
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Windows of escalation as an operator writes them")
struct EscalationPlanTextTests {
    @Test("a plan's text may omit windows, which are then standard, and reads back as the plan")
    func reads() throws {
        #expect(try EscalationPlan(text: "") == .standard)
        let plan = try EscalationPlan(
            text: """
                # a day in a minute
                phase_1 = -5s, phase_2=0
                phase_3=5s,phase_4=10s

                missed=1m,reminders=2s # quick
                """)
        #expect(plan.dueSoon == .seconds(-5) && plan.overdueSoft == .seconds(0) && plan.missed == .minutes(1))
        #expect(plan.overduePushBack == .seconds(5) && plan.guardianReview == .seconds(10))
        #expect(plan.reminderInterval == .seconds(2))
        #expect(try EscalationPlan(text: plan.text) == plan)
        #expect(try EscalationPlan(text: EscalationPlan.standard.text) == .standard)
        #expect(try EscalationPlan(text: "missed=2d").missed == .days(2))
    }

    @Test(
        "the error of a malformed plan text names the fault",
        arguments: [
            ("phase_5=1m", "phase_5"), ("missed", "missed"), ("missed=soon", "soon"), ("missed=5", "5"),
            ("missed=1m", "follow"), ("missed=1d,missed=2d", "twice"), ("missed=400d", "year"),
            ("missed=99999999999999999999d", "no time"), ("reminders=0s", "reminders"), ("phase_1==1m", "no window"),
            ("missed=9223372036854775807d", "no time"), ("phase_1=--1m", "no time"),
        ])
    func refuses(text: String, word: String) {
        let error = #expect(throws: EscalationPlan.Malformed.self) { try EscalationPlan(text: text) }
        #expect(error?.description.contains(word) ?? false, "\(error?.description ?? "")")
    }
}
