import Domain
import JSON

extension DraftPlanStep {
    init(_ action: DraftSideEffect, nagID: NagID? = nil, userIDs: [UserID] = [], dueAt: Timestamp? = nil) {
        self.init(action: action, nagID: nagID, userIDs: userIDs, dueAt: dueAt)
    }
}

/// The engine or person that wrote a draft's body.
public enum DraftWriter: String, Sendable, CaseIterable, WireEnumeration {
    case rules
    /// The model that `DraftResponse.model` names.
    case model
    /// An engine of the client.
    case client
    /// A person, who has edited the body.
    case person
}

extension DraftResponse {
    /// The steps of the execution, in order.
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

    /// The writer of the present body.
    public var writer: DraftWriter {
        if editedAt != nil { return .person }
        return switch model {
        case Self.rulesModel: .rules
        case Self.clientModel: .client
        default: .model
        }
    }
}
