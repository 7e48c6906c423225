import Domain
import JSON
import NagzAI

/// A person's own question to the coach.
public struct CoachQuestionRequest: Hashable, WireObject, WireMembers, AIRequest {
    public static let lengths = 1...4_000

    public var familyID: FamilyID
    public var text: String

    public init(familyID: FamilyID, text: String) {
        self.familyID = familyID
        self.text = text
    }

    public init(asking question: CoachQuestion) { self.init(familyID: question.familyID, text: question.text) }

    public var question: CoachQuestion { CoachQuestion(familyID: familyID, text: text) }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        text = try fields.text("text", Self.lengths)
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("family_id", familyID)
        json.field("text", text)
    }
}

extension CoachTopic: WireEnumeration {}

extension CoachAnswer: WireObject, WireMembers {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            familyID: try fields.required("family_id"), answer: try fields.required("answer"),
            topic: try fields.required("topic"), citations: try fields.required("citations"),
            confidence: try fields.required("confidence"))
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("family_id", familyID)
        json.field("answer", answer)
        json.field("topic", topic)
        json.field("citations", citations)
        json.field("confidence", confidence)
    }
}
