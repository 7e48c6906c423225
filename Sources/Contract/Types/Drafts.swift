import Domain
import JSON
import NagzAI

/// Drafts what the AI would send or change for somebody. The body is made of `text`, unless it is given.
public struct DraftCreate: Hashable, WireObject {
    public var familyID: FamilyID
    public var kind: DraftKind
    /// The nag that the draft is about; required where it changes one.
    public var nagID: NagID?
    /// Rows that the draft may be built from: nags, nag events, excuses and mediation events; at most 20.
    public var contextIDs: [ResourceID]
    /// The person's words.
    public var text: String?
    /// The body of the draft, from an engine of the client's.
    public var body: DraftBody?
    /// The recipients of a digest without a body; otherwise not read.
    public var recipientIDs: [UserID]?
    public var source: DraftSource
    /// The reader of the words: the rules, or a model.
    public var taskType: TaskType?
    /// The one of the person's models to ask.
    public var model: String?
    /// A confirmation that an earlier refusal asked for.
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

    /// The options by which the words are read.
    public var options: ExecutionOptions {
        ExecutionOptions(taskType: taskType, model: model, confirmation: confirmation)
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        kind = try fields.required("kind")
        nagID = try fields.optional("nag_id")
        contextIDs = try fields.optional("context_ids") ?? []
        guard contextIDs.count <= DraftLimit.contextRows else {
            throw InvalidInput("must have at most \(DraftLimit.contextRows) ids", field: "context_ids")
        }
        guard Set(contextIDs).count == contextIDs.count else {
            throw InvalidInput("must have each id once", field: "context_ids")
        }
        text = try fields.optionalText("text", DraftLimit.text)
        body = try DraftBody.optional("body", of: kind, in: fields)
        recipientIDs = try DigestMessage.recipients(in: fields)
        source = try fields.defaulted("source", to: .keyboard)
        do throws(InvalidInput) { taskType = try fields.optional("task_type") } catch {
            throw InvalidInput(error.message, field: error.field, code: .taskUnknown)
        }
        model = try fields.optionalText("model", 1...ExecutionOptions.longestModelName)
        confirmation = try fields.optionalText("confirmation", 1...ExecutionOptions.longestToken).map { Secret($0) }
        guard !options.asksForModel || kind == .suggestedNag && body == nil else {
            throw InvalidInput("asks for a model, which reads only the words of a suggested_nag", field: "task_type")
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

    static func check(_ acknowledged: [DraftSideEffect]) throws(InvalidInput) {
        guard Set(acknowledged).count == acknowledged.count else {
            throw InvalidInput("must have each side effect once", field: "acknowledged_side_effects")
        }
    }
}

extension DraftExecution {
    public init(_ draft: DraftVersion, confirmation: Secret?) { self.init(draft: draft, confirmation: confirmation) }
}
