import Domain
import JSON

/// The condition under which a rule takes effect.
public struct IncentiveCondition: Hashable, WireObject {
    public var type: IncentiveTrigger
    /// 1…100.
    public var count: Int

    public init(type: IncentiveTrigger, count: Int) {
        self.type = type
        self.count = count
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        type = try fields.required("type")
        count = try fields.integer("count", IncentiveTerms.counts)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("type", type)
            json.field("count", count)
        }
    }
}

/// The reward of a rule.
public struct IncentiveAction: Hashable, WireObject {
    public var type: IncentiveReward
    /// 1…1,000: points; without meaning for a badge.
    public var amount: Int

    public init(type: IncentiveReward, amount: Int) {
        self.type = type
        self.amount = amount
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        type = try fields.required("type")
        amount = try fields.integer("amount", IncentiveTerms.amounts)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("type", type)
            json.field("amount", amount)
        }
    }
}

/// Makes an incentive rule.
public struct IncentiveRuleCreate: Hashable, WireObject {
    public var familyID: FamilyID
    public var condition: IncentiveCondition
    public var action: IncentiveAction
    public var approvalMode: IncentiveApprovalMode

    public init(
        familyID: FamilyID, condition: IncentiveCondition, action: IncentiveAction,
        approvalMode: IncentiveApprovalMode = .auto
    ) {
        self.familyID = familyID
        self.condition = condition
        self.action = action
        self.approvalMode = approvalMode
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        condition = try fields.required("condition")
        action = try fields.required("action")
        approvalMode = try fields.defaulted("approval_mode", to: .auto)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("condition", condition)
            json.field("action", action)
            json.field("approval_mode", approvalMode)
        }
    }
}

/// Changes some of a rule and keeps the rest.
public struct IncentiveRuleUpdate: Hashable, WireObject {
    public var condition: IncentiveCondition?
    public var action: IncentiveAction?
    public var approvalMode: IncentiveApprovalMode?
    public var status: IncentiveRuleStatus?

    public init(
        condition: IncentiveCondition? = nil, action: IncentiveAction? = nil,
        approvalMode: IncentiveApprovalMode? = nil, status: IncentiveRuleStatus? = nil
    ) {
        self.condition = condition
        self.action = action
        self.approvalMode = approvalMode
        self.status = status
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        condition = try fields.optional("condition")
        action = try fields.optional("action")
        approvalMode = try fields.optional("approval_mode")
        status = try fields.optional("status")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("condition", condition)
            json.fieldIfPresent("action", action)
            json.fieldIfPresent("approval_mode", approvalMode)
            json.fieldIfPresent("status", status)
        }
    }
}

/// The newest version of an incentive rule.
public struct IncentiveRuleResponse: Hashable, WireObject {
    public var id: IncentiveRuleID
    public var familyID: FamilyID
    /// One more with every change.
    public var version: Int
    public var condition: IncentiveCondition
    public var action: IncentiveAction
    public var approvalMode: IncentiveApprovalMode
    public var status: IncentiveRuleStatus

    public init(
        id: IncentiveRuleID, familyID: FamilyID, version: Int, condition: IncentiveCondition, action: IncentiveAction,
        approvalMode: IncentiveApprovalMode, status: IncentiveRuleStatus
    ) {
        self.id = id
        self.familyID = familyID
        self.version = version
        self.condition = condition
        self.action = action
        self.approvalMode = approvalMode
        self.status = status
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        familyID = try fields.required("family_id")
        version = try fields.required("version")
        condition = try fields.required("condition")
        action = try fields.required("action")
        approvalMode = try fields.required("approval_mode")
        status = try fields.required("status")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("family_id", familyID)
            json.field("version", version)
            json.field("condition", condition)
            json.field("action", action)
            json.field("approval_mode", approvalMode)
            json.field("status", status)
        }
    }

    public var terms: IncentiveTerms {
        IncentiveTerms(
            trigger: condition.type, count: condition.count, reward: action.type, amount: action.amount,
            approvalMode: approvalMode)
    }
}

/// The effect of a rule when a nag was completed.
public struct IncentiveEventResponse: Hashable, WireObject {
    public var id: IncentiveEventID
    public var nagID: NagID
    public var ruleID: IncentiveRuleID
    public var ruleVersion: Int
    /// The person who gets it.
    public var userID: UserID
    public var actionType: IncentiveReward
    public var amount: Int
    /// The guardian who confirmed it; nil while it waits, and for a rule that needs no confirmation.
    public var approvedBy: UserID?
    public var at: Timestamp
    /// The time at which it was given; nil while it waits for a guardian.
    public var appliedAt: Timestamp?

    public init(
        id: IncentiveEventID, nagID: NagID, ruleID: IncentiveRuleID, ruleVersion: Int, userID: UserID,
        actionType: IncentiveReward, amount: Int, approvedBy: UserID?, at: Timestamp, appliedAt: Timestamp?
    ) {
        self.id = id
        self.nagID = nagID
        self.ruleID = ruleID
        self.ruleVersion = ruleVersion
        self.userID = userID
        self.actionType = actionType
        self.amount = amount
        self.approvedBy = approvedBy
        self.at = at
        self.appliedAt = appliedAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.required("id")
        nagID = try fields.required("nag_id")
        ruleID = try fields.required("rule_id")
        ruleVersion = try fields.required("rule_version")
        userID = try fields.required("user_id")
        actionType = try fields.required("action_type")
        amount = try fields.required("amount")
        approvedBy = try fields.optional("approved_by")
        at = try fields.required("at")
        appliedAt = try fields.optional("applied_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("nag_id", nagID)
            json.field("rule_id", ruleID)
            json.field("rule_version", ruleVersion)
            json.field("user_id", userID)
            json.field("action_type", actionType)
            json.field("amount", amount)
            json.field("approved_by", approvedBy)
            json.field("at", at)
            json.field("applied_at", appliedAt)
        }
    }
}
