import Domain
import JSON
import NagzAI

/// A draft as its author, its addressee and the family's guardians see it.
public struct DraftResponse: Hashable, WireObject {
    public var id: DraftID
    public var familyID: FamilyID
    public var nagID: NagID?
    public var authorID: UserID
    public var source: DraftSource
    public var body: DraftBody
    /// The rows that the author selected; for a draft of `evaluatePushBack`, the push-back's event.
    public var contextIDs: [ResourceID]
    /// The selected rows that the draft is based on.
    public var citations: [ResourceID]
    /// The engine that wrote the first body: `heuristic`, `client`, or a model's provider and name, such as
    /// `server_gateway/NAME`.
    public var model: String
    /// A keyed digest of the body, as recorded in the audit log with each step; nil without a key.
    public var bodyHash: String?
    /// The reason why the rules wrote the draft instead of the requested model; `none` if they did not.
    public var fallbackReason = noFallback
    /// The confidence in the draft, 0 to 1; nil for a body from the client.
    public var confidence: Double?
    /// The warnings and prompts of constraints about the author's words, and the words that were not understood as a
    /// time.
    public var warnings: [String]
    public var progress: DraftProgress
    public var editedBy: UserID?
    public var editedAt: Timestamp?
    public var approvedBy: UserID?
    public var approvedAt: Timestamp?
    /// The time of the last confirmation of this version; nil before.
    public var confirmedAt: Timestamp?
    public var executedBy: UserID?
    public var executedAt: Timestamp?
    public var rejectedBy: UserID?
    public var rejectedAt: Timestamp?
    /// The row that the execution created or changed.
    public var resultID: ResourceID?
    /// The import that created the draft; nil for other drafts.
    public var importID: ImportID?
    /// The ID of the import's item from which the draft was made, or a UUID derived from it if it is none; nil for
    /// other drafts.
    public var itemID: InputID?
    /// The person who is to decide about the draft: the creator of a nag whose recipient asks for a later time, or for
    /// which another person's import proposes a new due time; nil for other drafts.
    public var addresseeID: UserID?
    public var traceID: TraceID
    public var createdAt: Timestamp
    public var updatedAt: Timestamp

    public static let noFallback = "none"
    /// The values of `model` for bodies from the rules and from the client.
    public static let (rulesModel, clientModel) = (ProviderName.heuristic.rawValue, "client")

    public var usedFallback: Bool { fallbackReason != Self.noFallback }
    public var kind: DraftKind { body.kind }
    public var etag: String { "\"\(progress.version)\"" }

    public init(
        id: DraftID, familyID: FamilyID, nagID: NagID?, authorID: UserID, source: DraftSource, body: DraftBody,
        contextIDs: [ResourceID], citations: [ResourceID], model: String, confidence: Double?, warnings: [String],
        progress: DraftProgress, traceID: TraceID, createdAt: Timestamp
    ) {
        self.id = id
        self.familyID = familyID
        self.nagID = nagID
        self.authorID = authorID
        self.source = source
        self.body = body
        self.contextIDs = contextIDs
        self.citations = citations
        self.model = model
        self.confidence = confidence
        self.warnings = warnings
        self.progress = progress
        self.traceID = traceID
        self.createdAt = createdAt
        updatedAt = createdAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        let kind: DraftKind = try fields.required("kind")
        guard let body = try DraftBody.readIfPresent("body", of: kind, in: fields) else {
            throw .required("body")
        }
        self.init(
            id: try fields.required("id"), familyID: try fields.required("family_id"),
            nagID: try fields.optional("nag_id"), authorID: try fields.required("author_id"),
            source: try fields.required("source"), body: body, contextIDs: try fields.required("context_ids"),
            citations: try fields.required("citations"), model: try fields.required("model"),
            confidence: try fields.optional("confidence"), warnings: try fields.required("warnings"),
            progress: DraftProgress(
                state: try fields.required("state"), version: try fields.required("version"),
                expiresAt: try fields.required("expires_at"), endReason: try fields.optional("end_reason")),
            traceID: try fields.required("trace_id"), createdAt: try fields.required("created_at"))
        fallbackReason = try fields.required("fallback_reason")
        bodyHash = try fields.optional("body_hash")
        editedBy = try fields.optional("edited_by")
        editedAt = try fields.optional("edited_at")
        rejectedBy = try fields.optional("rejected_by")
        rejectedAt = try fields.optional("rejected_at")
        approvedBy = try fields.optional("approved_by")
        approvedAt = try fields.optional("approved_at")
        confirmedAt = try fields.optional("confirmed_at")
        executedBy = try fields.optional("executed_by")
        executedAt = try fields.optional("executed_at")
        resultID = try fields.optional("result_id")
        importID = try fields.optional("import_id")
        itemID = try fields.optional("item_id")
        addresseeID = try fields.optional("addressee_id")
        updatedAt = try fields.required("updated_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            json.field("family_id", familyID)
            json.field("kind", kind)
            json.field("nag_id", nagID)
            json.field("author_id", authorID)
            json.field("source", source)
            json.field("body", body)
            json.field("body_hash", bodyHash)
            json.field("side_effects", kind.sideEffects)
            json.field("plan", plan)
            json.field("context_ids", contextIDs)
            json.field("citations", citations)
            json.field("written_by", writer)
            json.field("model", model)
            json.field("used_fallback", usedFallback)
            json.field("fallback_reason", fallbackReason)
            json.field("confidence", confidence)
            json.field("warnings", warnings)
            json.field("state", progress.state)
            json.field("version", progress.version)
            json.field("etag", etag)
            json.field("edited_by", editedBy)
            json.field("edited_at", editedAt)
            json.field("approved_by", approvedBy)
            json.field("approved_at", approvedAt)
            json.field("confirmed_at", confirmedAt)
            json.field("executed_by", executedBy)
            json.field("executed_at", executedAt)
            json.field("rejected_by", rejectedBy)
            json.field("rejected_at", rejectedAt)
            json.field("result_id", resultID)
            json.field("import_id", importID)
            json.field("item_id", itemID)
            json.field("addressee_id", addresseeID)
            json.field("trace_id", traceID)
            json.field("created_at", createdAt)
            json.field("updated_at", updatedAt)
            json.field("expires_at", progress.expiresAt)
            json.field("end_reason", progress.endReason)
        }
    }
}
