import Domain

extension API {
    /// Draft what the AI would send or change for somebody.
    public static let createDraft = Endpoint<NoParameters, DraftCreate, DraftResponse>(
        Operation("createDraft", .post, "/api/v1/ai/drafts", tag: .drafts, status: 201))

    /// List the drafts that the caller sees, the newest first.
    public static let listDrafts = Endpoint<DraftListQuery, NoBody, Page<DraftResponse>>(
        Operation("listDrafts", .get, "/api/v1/ai/drafts", tag: .drafts))

    /// Get one draft.
    public static let getDraft = Endpoint<DraftPath, NoBody, DraftResponse>(
        Operation("getDraft", .get, "/api/v1/ai/drafts/{draft_id}", tag: .drafts))

    /// Change what a draft does.
    public static let editDraft = Endpoint<DraftPath, DraftUpdate, DraftResponse>(
        Operation("editDraft", .patch, "/api/v1/ai/drafts/{draft_id}", tag: .drafts))

    /// Approve a draft.
    public static let approveDraft = Endpoint<DraftPath, DraftApproval, DraftResponse>(
        Operation("approveDraft", .post, "/api/v1/ai/drafts/{draft_id}/approve", tag: .drafts))

    /// Get the second key of an approved draft.
    public static let confirmDraft = Endpoint<DraftPath, DraftVersion, DraftConfirmation>(
        Operation("confirmDraft", .post, "/api/v1/ai/drafts/{draft_id}/confirm", tag: .drafts))

    /// Do what a draft says.
    public static let executeDraft = Endpoint<DraftPath, DraftExecution, DraftResponse>(
        Operation("executeDraft", .post, "/api/v1/ai/drafts/{draft_id}/execute", tag: .drafts))

    /// Give a draft up.
    public static let rejectDraft = Endpoint<DraftPath, DraftVersion, DraftResponse>(
        Operation("rejectDraft", .post, "/api/v1/ai/drafts/{draft_id}/reject", tag: .drafts))

    static let draftsOperations: [Operation] = [
        createDraft.operation, listDrafts.operation, getDraft.operation, editDraft.operation, approveDraft.operation,
        confirmDraft.operation, executeDraft.operation, rejectDraft.operation,
    ]
}

// MARK: Parameters

/// The draft in a path.
public struct DraftPath: WireParameters, Hashable {
    public var draftID: DraftID

    public init(draftID: DraftID) {
        self.draftID = draftID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        draftID = try parameters.path("draft_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("draft_id", draftID)
    }
}

/// A page of the drafts of a family.
public struct DraftListQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    /// The state to filter by; nil for all drafts.
    public var state: DraftState?
    public var page: PageRequest

    public init(familyID: FamilyID, state: DraftState? = nil, page: PageRequest = PageRequest()) {
        self.familyID = familyID
        self.state = state
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        state = try parameters.optionalQuery("state", or: "status")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("state", state)
        page.write(to: &parameters)
    }
}
