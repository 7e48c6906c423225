import Contract
import Domain
import NagzAI
import Testing

@Suite("AI operations and their endpoints")
struct AICallTests {
    private let nag = NagID(high: 1, low: 2)

    @Test("every AI operation has one endpoint, in the order of their names")
    func complete() {
        #expect(API.aiCalls.map(\.id) == AIOperationID.allCases)
        func isFound(_ call: some AICall) -> Bool { API.aiCall(for: call.operation) != nil }
        for call in API.aiCalls {
            let isFound = isFound(call)
            #expect(isFound, "\(call.id)")
        }
    }

    @Test("an operation that takes and answers other types than an AI operation has no endpoint")
    func otherShape() {
        let other = AIOperation<NagQuestion, DigestResponse>(
            .digest, rule: { _, _, _ in Outcome(empty, .digestNothingDue) },
            record: { _, _, _, _ in AIRecord(summary: "", inputs: [], classification: "") })
        #expect(API.aiCall(for: other) == nil)
    }

    @Test("an AI request carries its question")
    func questions() {
        let text = ExcuseQuestion(text: "I forgot", nagID: nag)
        #expect(ExcuseSummaryRequest(asking: text).question == text)
        let one = NagQuestion(nagID: nag)
        #expect(ToneSelectRequest(asking: one).question == one && CoachingRequest(asking: one).question == one)
        #expect(PushBackRequest(asking: one).question == one && NagQuery(asking: one).question == one)
        let member = MemberQuestion(userID: UserID(high: 3, low: 4), familyID: FamilyID(high: 5, low: 6))
        #expect(UserInFamilyQuery(asking: member).question == member)
        let family = FamilyQuestion(familyID: FamilyID(high: 5, low: 6))
        #expect(FamilyQuery(asking: family).question == family)
        let own = CoachQuestion(familyID: FamilyID(high: 5, low: 6), text: "What is due?")
        #expect(CoachQuestionRequest(asking: own).question == own)
    }
}

private let empty = DigestResponse(
    familyID: FamilyID(high: 5, low: 6), periodStart: .epoch, periodEnd: .epoch, summaryText: "", memberSummaries: [],
    totals: DigestTotals(totalNags: 0, completed: 0, missed: 0, open: 0, overdue: 0, completionRate: 0))
