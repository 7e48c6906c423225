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

extension ExcuseSummaryRequest: AIRequest {
    public init(asking question: ExcuseQuestion) { self.init(text: question.text, nagID: question.nagID) }
    public var question: ExcuseQuestion { ExcuseQuestion(text: text, nagID: nagID) }
}

extension ToneSelectRequest: NagRequest {}

extension CoachingRequest: NagRequest {}

extension PushBackRequest: NagRequest {
    public init(nagID: NagID) { self.init(nagID: nagID, wantsDraft: false) }
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
