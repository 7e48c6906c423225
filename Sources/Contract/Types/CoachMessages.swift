import Domain
import JSON
import NagzAI

extension CoachQuestionRequest {
    public static let lengthRange = 1...4_000
}

extension CoachTopic: WireEnumeration {}
