import Domain
import JSON
import NagzAI

extension CoachQuestionRequest: AIRequest {
    public static let lengths = 1...4_000
    public init(asking question: CoachQuestion) { self.init(familyID: question.familyID, text: question.text) }
    public var question: CoachQuestion { CoachQuestion(familyID: familyID, text: text) }
}

extension CoachTopic: WireEnumeration {}
