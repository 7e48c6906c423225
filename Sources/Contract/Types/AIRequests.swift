import Domain
import JSON
import NagzAI

/// Parameters or a body that encode the question of an AI operation.
public protocol AIRequest: Sendable {
    associatedtype Question: AIQuestion

    init(asking question: Question)
    var question: Question { get }
    /// Whether the answer becomes a draft.
    var wantsDraft: Bool { get }
}

extension AIRequest {
    public var wantsDraft: Bool { false }
}

/// A request about one nag.
public protocol NagRequest: AIRequest where Question == NagQuestion {
    init(nagID: NagID)
    var nagID: NagID { get }
}

extension NagRequest {
    public init(asking question: NagQuestion) { self.init(nagID: question.nagID) }

    public var question: NagQuestion { NagQuestion(nagID: nagID) }
}

extension NagRequest where Self: WireInput & WireMembers {
    public init(_ fields: FieldReader) throws(InvalidInput) { self.init(nagID: try fields.required("nag_id")) }

    public func writeMembers(to json: inout JSONWriter) { json.field("nag_id", nagID) }
}

/// Requests a summary and a category of an excuse.
public struct ExcuseSummaryRequest: Hashable, WireObject, WireMembers, AIRequest {
    public var text: String
    public var nagID: NagID

    public init(text: String, nagID: NagID) {
        self.text = text
        self.nagID = nagID
    }

    public init(asking question: ExcuseQuestion) { self.init(text: question.text, nagID: question.nagID) }

    public var question: ExcuseQuestion { ExcuseQuestion(text: text, nagID: nagID) }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        text = try fields.text("text", 1...2000)
        nagID = try fields.required("nag_id")
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("text", text)
        json.field("nag_id", nagID)
    }
}

/// Requests the tone for a nag's recipient.
public struct ToneSelectRequest: Hashable, WireObject, WireMembers, NagRequest {
    public var nagID: NagID

    public init(nagID: NagID) { self.nagID = nagID }
}

/// Requests a tip for a nag.
public struct CoachingRequest: Hashable, WireObject, WireMembers, NagRequest {
    public var nagID: NagID

    public init(nagID: NagID) { self.nagID = nagID }
}

/// Requests a push-back on an overdue nag, within the family's limits.
public struct PushBackRequest: Hashable, WireObject, WireMembers, NagRequest {
    public var nagID: NagID
    /// Whether a push-back becomes a draft, with which it can be sent.
    public var wantsDraft: Bool

    public init(nagID: NagID) { self.init(nagID: nagID, wantsDraft: false) }

    public init(nagID: NagID, wantsDraft: Bool) {
        self.nagID = nagID
        self.wantsDraft = wantsDraft
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        nagID = try fields.required("nag_id")
        wantsDraft = try fields.defaulted("draft", to: false)
    }

    public func writeMembers(to json: inout JSONWriter) {
        json.field("nag_id", nagID)
        json.field("draft", wantsDraft)
    }
}

extension NagQuery: NagRequest {}

extension UserInFamilyQuery: AIRequest {
    public init(asking question: MemberQuestion) {
        self.init(userID: question.userID, familyID: question.familyID)
    }

    public var question: MemberQuestion { MemberQuestion(userID: userID, familyID: familyID) }
}

extension FamilyQuery: AIRequest {
    public init(asking question: FamilyQuestion) { self.init(familyID: question.familyID) }

    public var question: FamilyQuestion { FamilyQuestion(familyID: familyID) }
}
