import Domain
import JSON

/// One step of a draft's execution.
public struct DraftPlanStep: Hashable, WireObject {
    public var action: DraftSideEffect
    /// The nag that it is done to; nil where the nag is made by the plan, or there is none.
    public var nagID: NagID?
    /// The people whom it concerns, where the draft names them.
    public var userIDs: [UserID]
    /// The due time that it sets.
    public var dueAt: Timestamp?

    public init(_ action: DraftSideEffect, nagID: NagID? = nil, userIDs: [UserID] = [], dueAt: Timestamp? = nil) {
        self.action = action
        self.nagID = nagID
        self.userIDs = userIDs
        self.dueAt = dueAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        self.init(
            try fields.required("action"), nagID: try fields.optional("nag_id"),
            userIDs: try fields.required("user_ids"), dueAt: try fields.optional("due_at"))
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("action", action)
            json.field("nag_id", nagID)
            json.field("user_ids", userIDs)
            json.field("due_at", dueAt)
        }
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
