import Contract
import Domain
import NagzAI

/// An answer, and the act that records it in the feed as `event`.
final class RecordedAnswer<Response: WireInput & WireMembers & Hashable> {
    var answer: AIAnswer<Response>
    let event: EventID
    let author: Authorship
    let report: ExecutionReport
    var act: Act

    init(
        _ answer: AIAnswer<Response>, _ event: EventID, by author: Authorship, _ report: ExecutionReport, _ act: Act
    ) {
        self.answer = answer
        self.event = event
        self.author = author
        self.report = report
        self.act = act
    }
}
