import Domain
import JSON

/// Changes of a draft's body. An absent value keeps the current one.
public struct DraftBodyChanges: Hashable, WireObject {
    public var recipientID: UserID?
    public var category: NagCategory?
    /// The new description; null removes it.
    public var description: Patch<String>
    public var dueAt: Timestamp?
    public var doneDefinition: DoneDefinition?
    public var message: String?
    public var ruleID: IncentiveRuleID?
    public var actionType: IncentiveReward?
    /// The number of points; it has no meaning for a badge.
    public var amount: Int?
    public var recipientIDs: [UserID]?

    public init(
        recipientID: UserID? = nil, category: NagCategory? = nil, description: Patch<String> = .absent,
        dueAt: Timestamp? = nil, doneDefinition: DoneDefinition? = nil, message: String? = nil,
        ruleID: IncentiveRuleID? = nil, actionType: IncentiveReward? = nil, amount: Int? = nil,
        recipientIDs: [UserID]? = nil
    ) {
        self.recipientID = recipientID
        self.category = category
        self.description = description
        self.dueAt = dueAt
        self.doneDefinition = doneDefinition
        self.message = message
        self.ruleID = ruleID
        self.actionType = actionType
        self.amount = amount
        self.recipientIDs = recipientIDs
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        recipientID = try fields.optional("recipient_id")
        category = try fields.optional("category")
        description = try fields.textPatch("description", 0...SuggestedNag.maxDescriptionLength)
        dueAt = try fields.optional("due_at")
        doneDefinition = try fields.optional("done_definition")
        message = try fields.optionalText("message", DraftLimit.digestLengths)
        ruleID = try fields.optional("rule_id")
        actionType = try fields.optional("action_type")
        amount = try fields.optionalInteger("amount", IncentiveTerms.amountRange)
        recipientIDs = try DigestMessage.readRecipients(in: fields)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("recipient_id", recipientID)
            json.fieldIfPresent("category", category)
            json.patch("description", description)
            json.fieldIfPresent("due_at", dueAt)
            json.fieldIfPresent("done_definition", doneDefinition)
            json.fieldIfPresent("message", message)
            json.fieldIfPresent("rule_id", ruleID)
            json.fieldIfPresent("action_type", actionType)
            json.fieldIfPresent("amount", amount)
            json.fieldIfPresent("recipient_ids", recipientIDs)
        }
    }

    /// The names of the fields that have a value.
    private var presentFieldNames: [String] {
        let fields: [(name: String, isPresent: Bool)] = [
            ("recipient_id", recipientID != nil), ("category", category != nil),
            ("description", !description.isAbsent), ("due_at", dueAt != nil),
            ("done_definition", doneDefinition != nil), ("message", message != nil), ("rule_id", ruleID != nil),
            ("action_type", actionType != nil), ("amount", amount != nil), ("recipient_ids", recipientIDs != nil),
        ]
        return fields.filter(\.isPresent).map(\.name)
    }

    /// Returns the names of the fields that a body of a kind has.
    private static func fieldNames(of kind: DraftKind) -> Set<String> {
        switch kind {
        case .suggestedNag: ["recipient_id", "category", "description", "due_at", "done_definition"]
        case .dueChange: ["due_at"]
        case .pushBack: ["message"]
        case .consequence: ["rule_id", "action_type", "amount"]
        case .digest: ["message", "recipient_ids"]
        }
    }

    /// Returns the body after the changes.
    /// - Throws: `InvalidInput` for a field that a draft of this kind does not have, or a message that is too long.
    public func applied(to body: DraftBody) throws(InvalidInput) -> DraftBody {
        if let other = presentFieldNames.first(where: { !Self.fieldNames(of: body.kind).contains($0) }) {
            throw .notInDraft("body.\(other)")
        }
        switch body {
        case .suggestedNag(var nag):
            nag.recipientID = recipientID ?? nag.recipientID
            nag.category = category ?? nag.category
            nag.description = description.applied(to: nag.description)
            nag.dueAt = dueAt ?? nag.dueAt
            nag.doneDefinition = doneDefinition ?? nag.doneDefinition
            return .suggestedNag(nag)
        case .dueChange(var change):
            change.dueAt = dueAt ?? change.dueAt
            return .dueChange(change)
        case .pushBack(var push):
            push.message = message ?? push.message
            guard DraftLimit.messageLengths.contains(push.message.unicodeScalars.count) else {
                throw .tooMany(
                    "characters", max: DraftLimit.messageLengths.upperBound, in: "body.message")
            }
            return .pushBack(push)
        case .consequence(var consequence):
            consequence.ruleID = ruleID ?? consequence.ruleID
            consequence.actionType = actionType ?? consequence.actionType
            consequence.amount = amount ?? consequence.amount
            return .consequence(consequence)
        case .digest(var digest):
            digest.message = message ?? digest.message
            digest.recipientIDs = recipientIDs ?? digest.recipientIDs
            return .digest(digest)
        }
    }
}
