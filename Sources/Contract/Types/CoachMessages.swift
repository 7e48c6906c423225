import Domain
import JSON
import NagzAI

extension CoachQuestionRequest {
    /// The lengths of a question, in Unicode scalars.
    public static let lengthRange = 1...4_000
}

extension CoachTopic: WireEnumeration {}
