import Domain
import JSON
import NagzAI

extension CoachQuestionRequest {
    public static let lengths = 1...4_000
}

extension CoachTopic: WireEnumeration {}
