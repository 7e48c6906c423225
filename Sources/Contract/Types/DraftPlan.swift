import Domain
import JSON

extension DraftPlanStep {
    init(_ action: DraftSideEffect, nagID: NagID? = nil, userIDs: [UserID] = [], dueAt: Timestamp? = nil) {
        self.init(action: action, nagID: nagID, userIDs: userIDs, dueAt: dueAt)
    }
}

/// The author of a draft's body.
public enum DraftWriter: String, Sendable, CaseIterable, WireEnumeration {
    case rules
    /// The draft's `model`.
    case model
    /// An engine of the client's.
    case client
    /// A person, who has changed it since.
    case person
}

extension DraftResponse {
    /// The steps of the execution, in this order.
    public var plan: [DraftPlanStep] {
        switch body {
        case .suggestedNag(let nag):
            [
                DraftPlanStep(.createNag, userIDs: [nag.recipientID], dueAt: nag.dueAt),
                DraftPlanStep(.notifyRecipient, userIDs: [nag.recipientID]),
            ]
        case .dueChange(let change): [DraftPlanStep(.changeNag, nagID: nagID, dueAt: change.dueAt)]
        case .pushBack: [DraftPlanStep(.notifyRecipient, nagID: nagID)]
        case .consequence: [DraftPlanStep(.giveIncentive, nagID: nagID)]
        case .digest(let digest): [DraftPlanStep(.notifyGuardians, userIDs: digest.recipientIDs)]
        }
    }

    public var writer: DraftWriter {
        if editedAt != nil { return .person }
        return switch model {
        case Self.ofRules: .rules
        case Self.ofClient: .client
        default: .model
        }
    }
}
