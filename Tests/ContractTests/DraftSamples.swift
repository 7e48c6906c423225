import Contract
import Domain

extension Sample {
    private static let suggested = DraftBody.suggestedNag(
        SuggestedNag(
            recipientID: id(4), category: .meds, description: "pills", dueAt: moment, doneDefinition: .binaryCheck))
    private static let dueChange = DraftBody.dueChange(DueChange(dueAt: moment))
    private static let pushBack = DraftBody.pushBack(PushBackMessage(message: "soon"))
    private static let consequence = DraftBody.consequence(
        Consequence(ruleID: id(30), actionType: .bonusPoints, amount: 5))
    private static let digest = DraftBody.digest(DigestMessage(message: "well done", recipientIDs: [id(4)]))
    private static let path = DraftPath(draftID: id(50))
    private static let version = DraftVersion(version: 2, source: .camera)

    private static func draft(_ body: DraftBody, _ state: DraftState = .draft) -> DraftResponse {
        DraftResponse(
            id: id(50), familyID: id(2), nagID: id(5), authorID: id(1), source: .voice, body: body,
            contextIDs: [id(5), id(6)], citations: [id(5)], model: "heuristic", confidence: 0.3, warnings: ["long"],
            progress: DraftProgress(state: state, version: 2, expiresAt: moment), traceID: id(43), createdAt: moment)
    }

    private static let executed: DraftResponse = {
        var draft = Self.draft(suggested, .executed)
        (draft.approvedBy, draft.approvedAt, draft.confirmedAt) = (id(1), moment, moment)
        (draft.executedBy, draft.executedAt, draft.resultID) = (id(1), moment, id(5))
        (draft.importID, draft.itemID) = (id(51), id(52))
        draft.addresseeID = id(4)
        (draft.editedBy, draft.editedAt, draft.bodyHash) = (id(1), moment, "ab12")
        (draft.rejectedBy, draft.rejectedAt) = (id(1), moment)
        return draft
    }()

    static let drafts = [
        Sample(
            API.createDraft, NoParameters(),
            DraftCreate(
                familyID: id(2), kind: .suggestedNag, nagID: id(5), contextIDs: [id(5)], text: "words",
                body: suggested, recipientIDs: [id(4)], source: .shortcut, taskType: .heuristic, model: "m",
                confirmation: Secret("c")),
            draft(suggested)),
        Sample(
            API.listDrafts, DraftListQuery(familyID: id(2), state: .approved, page: page), NoBody(),
            Page(
                items: [draft(dueChange, .approved), draft(pushBack), draft(consequence), draft(digest)], total: 4,
                answering: page)),
        Sample(API.getDraft, path, NoBody(), executed),
        Sample(
            API.editDraft, path,
            DraftUpdate(
                body: DraftBodyChanges(
                    recipientID: id(1), category: .chores, description: .null, dueAt: moment,
                    doneDefinition: .acknowledgeOnly, message: "m", ruleID: id(30), actionType: .badge, amount: 2,
                    recipientIDs: [id(4)]),
                source: .document), draft(suggested)),
        Sample(
            API.approveDraft, path, DraftApproval(version, acknowledged: DraftKind.suggestedNag.sideEffects),
            draft(suggested, .approved)),
        Sample(
            API.confirmDraft, path, version,
            DraftConfirmation(confirmation: Secret("key"), expiresAt: moment)),
        Sample(API.executeDraft, path, DraftExecution(version, confirmation: Secret("key")), executed),
        Sample(API.rejectDraft, path, version, draft(dueChange, .rejected)),
    ]

    // MARK: Imports

    private static let batch = ImportPath(importID: id(51))
    private static let selection = ImportSelection(drafts: [DraftChoice(draftID: id(50), version: 2)], source: .gallery)
    private static let imported = ImportResponse(
        importID: id(51), familyID: id(2), authorID: id(1), source: .imported, createdAt: moment,
        drafts: [executed, draft(suggested)])

    static let imports = [
        Sample(
            API.importNags, NoParameters(),
            NagImport(
                familyID: id(2), importID: id(51), source: .imported,
                items: [
                    ImportItem(
                        itemID: ImportItemID(id(52)),
                        nag: SuggestedNag(
                            recipientID: id(4), category: .meds, description: "pills", dueAt: moment,
                            doneDefinition: .binaryCheck))
                ], isDryRun: true),
            ImportResult(
                importID: id(51), isDryRun: true,
                items: [
                    ImportItemResult(itemID: ImportItemID(id(52)), outcome: .alreadyImported, draftID: id(50)),
                    ImportItemResult(
                        itemID: ImportItemID(id(53)), outcome: .invalid,
                        error: ImportFault(field: "items[1].due_at", message: "m")),
                ])),
        Sample(API.getImport, batch, NoBody(), imported),
        Sample(
            API.approveImport, batch,
            ImportApproval(selection, acknowledged: DraftKind.suggestedNag.sideEffects), imported),
        Sample(
            API.confirmImport, batch, selection, DraftConfirmation(confirmation: Secret("key"), expiresAt: moment)),
        Sample(API.executeImport, batch, ImportExecution(selection, confirmation: Secret("key")), imported),
    ]
}
