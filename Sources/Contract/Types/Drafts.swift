import Domain
import JSON
import NagzAI

/// The request that creates a draft of an action of the AI. Without `body`, the server makes the body, such as from
/// `text`.
public struct DraftCreate: Hashable, WireObject {
    public var familyID: FamilyID
    public var kind: DraftKind
    /// The nag that the draft is about; required for kinds that need one.
    public var nagID: NagID?
    /// Rows that the draft may be based on: nags, nag events, excuses and mediation events; at most 20.
    public var contextIDs: [ResourceID]
    /// The person's words.
    public var text: String?
    /// The body of the draft, from an engine of the client.
    public var body: DraftBody?
    /// The recipients of a digest without a body; ignored for other drafts.
    public var recipientIDs: [UserID]?
    public var source: DraftSource
    /// The kind of engine that reads the words, the rules or a model; nil for the default.
    public var taskType: TaskType?
    /// The model to ask, among those of the person.
    public var model: String?
    /// The confirmation that an earlier refusal asked for.
    public var confirmation: Secret?

    public init(
        familyID: FamilyID, kind: DraftKind, nagID: NagID? = nil, contextIDs: [ResourceID] = [], text: String? = nil,
        body: DraftBody? = nil, recipientIDs: [UserID]? = nil, source: DraftSource = .keyboard,
        taskType: TaskType? = nil, model: String? = nil, confirmation: Secret? = nil
    ) {
        self.familyID = familyID
        self.kind = kind
        self.nagID = nagID
        self.contextIDs = contextIDs
        self.text = text
        self.body = body
        self.recipientIDs = recipientIDs
        self.source = source
        self.taskType = taskType
        self.model = model
        self.confirmation = confirmation
    }

    /// The options for reading the words.
    public var options: ExecutionOptions {
        ExecutionOptions(taskType: taskType, model: model, confirmation: confirmation)
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        kind = try fields.required("kind")
        nagID = try fields.optional("nag_id")
        contextIDs = try fields.optional("context_ids") ?? []
        guard contextIDs.count <= DraftLimit.maxContextRows else {
            throw .tooMany("ids", max: DraftLimit.maxContextRows, in: "context_ids")
        }
        guard Set(contextIDs).count == contextIDs.count else {
            throw .repeated("id", in: "context_ids")
        }
        text = try fields.optionalText("text", DraftLimit.sourceTextLengths)
        body = try DraftBody.readIfPresent("body", of: kind, in: fields)
        recipientIDs = try DigestMessage.readRecipients(in: fields)
        source = try fields.defaulted("source", to: .keyboard)
        do throws(InvalidInput) { taskType = try fields.optional("task_type") } catch {
            throw InvalidInput(error.message, field: error.field, code: .taskUnknown)
        }
        model = try fields.optionalText("model", 1...ExecutionOptions.maxModelNameLength)
        confirmation = try fields.optionalText("confirmation", 1...ExecutionOptions.maxSecretLength).map { Secret($0) }
        guard !options.asksForModel || kind == .suggestedNag && body == nil else {
            throw .modelReadsOnlySuggestions
        }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("kind", kind)
            json.fieldIfPresent("nag_id", nagID)
            json.field("context_ids", contextIDs)
            json.fieldIfPresent("text", text)
            json.fieldIfPresent("body", body)
            json.fieldIfPresent("recipient_ids", recipientIDs)
            json.field("source", source)
            json.fieldIfPresent("task_type", taskType)
            json.fieldIfPresent("model", model)
            json.fieldIfPresent("confirmation", confirmation)
        }
    }
}

extension DraftVersion {
    public static let versionRange = 1...1_000_000
}

extension DraftApproval {
    public init(_ draft: DraftVersion, acknowledged: [DraftSideEffect]) {
        self.init(draft: draft, acknowledged: acknowledged)
    }

    func check() throws(InvalidInput) { try Self.check(acknowledged) }

    /// Checks that no side effect occurs twice.
    static func check(_ acknowledged: [DraftSideEffect]) throws(InvalidInput) {
        guard Set(acknowledged).count == acknowledged.count else {
            throw .repeated("side effect", in: "acknowledged_side_effects")
        }
    }
}

extension DraftExecution {
    public init(_ draft: DraftVersion, confirmation: Secret?) { self.init(draft: draft, confirmation: confirmation) }
}
