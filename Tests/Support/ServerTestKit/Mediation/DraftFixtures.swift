import Contract
import Domain
import SQL
import Testing

@testable import Server

extension TestServer {
    /// Creates a draft of a nag from a text.
    @discardableResult
    func draft(
        _ text: String = "the dishes", in family: Household, source: DraftSource = .keyboard, as person: TestPerson
    ) async throws -> DraftResponse {
        try await call(
            API.createDraft, DraftCreate(familyID: family.id, kind: .suggestedNag, text: text, source: source),
            as: person)
    }

    /// Creates a draft that changes the due time of a nag.
    func draft(
        of nag: NagID, due: Timestamp, in family: Household, as person: TestPerson
    ) async throws -> DraftResponse {
        try await call(
            API.createDraft,
            DraftCreate(
                familyID: family.id, kind: .dueChange, nagID: nag, contextIDs: [nag.retyped()],
                body: .dueChange(DueChange(dueAt: due))), as: person)
    }

    func draft(_ id: DraftID, as person: TestPerson) async throws -> DraftResponse {
        try await call(API.getDraft, DraftPath(draftID: id), as: person)
    }

    @discardableResult
    func edit(
        _ draft: DraftResponse, _ changes: DraftBodyChanges, as person: TestPerson, source: DraftSource = .keyboard,
        ifMatch: String? = nil
    ) async throws -> DraftResponse {
        try await call(
            API.editDraft, DraftPath(draftID: draft.id), DraftUpdate(body: changes, source: source), as: person,
            headers: ifMatch.map { ["If-Match": $0] } ?? [:])
    }

    @discardableResult
    func approve(
        _ draft: DraftResponse, _ effects: [DraftSideEffect]? = nil, as person: TestPerson,
        source: DraftSource = .keyboard
    ) async throws -> DraftResponse {
        try await call(
            API.approveDraft, DraftPath(draftID: draft.id),
            DraftApproval(draft.seen(source), acknowledged: effects ?? draft.kind.sideEffects), as: person)
    }

    func confirm(
        _ draft: DraftResponse, as person: TestPerson, source: DraftSource = .keyboard
    ) async throws -> DraftConfirmation {
        try await call(API.confirmDraft, DraftPath(draftID: draft.id), draft.seen(source), as: person)
    }

    @discardableResult
    func execute(
        _ draft: DraftResponse, _ key: DraftConfirmation?, as person: TestPerson, source: DraftSource = .keyboard
    ) async throws -> DraftResponse {
        try await call(
            API.executeDraft, DraftPath(draftID: draft.id),
            DraftExecution(draft.seen(source), confirmation: key?.confirmation), as: person)
    }

    @discardableResult
    func reject(
        _ draft: DraftResponse, as person: TestPerson, source: DraftSource = .keyboard
    ) async throws -> DraftResponse {
        try await call(API.rejectDraft, DraftPath(draftID: draft.id), draft.seen(source), as: person)
    }

    /// Approves and confirms a draft as one person, and returns the confirmation that its execution needs.
    func confirmed(_ draft: DraftResponse, as person: TestPerson) async throws -> DraftConfirmation {
        try await approve(draft, as: person)
        return try await confirm(draft, as: person)
    }

    /// Marks the expired drafts, as the server's housekeeping does, and returns their number.
    func markExpiredDrafts() async throws -> Int {
        let (clock, random) = (clock, random)
        return try await database.run { database in
            try await DraftExpiry(database: database, ledger: Ledger(database: database, random: random)).run {
                CallContext(systemActAt: clock.now(), random)
            }
        }
    }

    /// Performs a step on a draft, which must be in the state before that step.
    func take(
        _ step: DraftStep, _ draft: DraftResponse, _ key: DraftConfirmation?, as person: TestPerson, source: DraftSource
    ) async throws {
        switch step {
        case .edit: try await edit(draft, DraftBodyChanges(category: .meds), as: person, source: source)
        case .approve: try await approve(draft, as: person, source: source)
        case .confirm: _ = try await confirm(draft, as: person, source: source)
        case .execute: try await execute(draft, key, as: person, source: source)
        case .reject: try await reject(draft, as: person, source: source)
        }
    }
}

extension DraftResponse {
    func seen(_ source: DraftSource = .keyboard) -> DraftVersion {
        DraftVersion(version: progress.version, source: source)
    }

    var suggestedNag: SuggestedNag? {
        if case .suggestedNag(let nag) = body { nag } else { nil }
    }
}

/// The drafts of the role matrix, by their state.
struct DraftScene: Sendable {
    let open: DraftID
    let approved: DraftID
    let confirmed: DraftID
    let key: Secret
    /// Imports with one draft each, by the state of the draft.
    let imports: [DraftState: (batch: ImportID, draft: DraftChoice)]

    init(by author: TestPerson, to recipient: TestPerson, in family: FamilyID, _ server: TestServer) async throws {
        let now = server.clock.now()
        let body = DraftBody.suggestedNag(
            SuggestedNag(
                recipientID: recipient.id, category: .chores, description: nil, dueAt: now + .hours(2),
                doneDefinition: .binaryCheck))
        let secret = Secret("\(server.random.identifier(at: now) as DraftID)")
        func insert(_ state: DraftState, of batch: ImportID? = nil) async throws -> DraftID {
            let draft = DraftResponse(
                id: server.random.identifier(at: now), familyID: family, nagID: nil, authorID: author.id,
                source: .keyboard, body: body, contextIDs: [], citations: [], model: "client", confidence: nil,
                warnings: [], progress: DraftProgress(expiresAt: now + .hours(24)),
                traceID: server.random.identifier(at: now), createdAt: now)
            let text = String(decoding: draft.body.jsonBytes, as: UTF8.self)
            try await server.sql(
                """
                INSERT INTO drafts (family_id, id, kind, author_id, source, body, context_ids, citations, model,
                                    warnings, state, version, import_id, item_id, trace_id, created_at, updated_at,
                                    expires_at)
                VALUES (\(family), \(draft.id), 'suggested_nag', \(author.id), 'keyboard', \(text)::json, '{}', '{}',
                        'client', '[]', 'draft', 1, \(batch), \(batch), \(draft.traceID), \(now), \(now),
                        \(now + .hours(24)))
                """)
            if state != .draft {
                try await server.sql(
                    """
                    UPDATE drafts SET state = 'approved', approved_by = \(author.id), approved_at = \(now)
                    WHERE id = \(draft.id)
                    """)
            }
            if state == .confirmed {
                let chosen = ImportSelection(drafts: [DraftChoice(draftID: draft.id, version: 1)])
                let digest = batch == nil ? AITokens.digest(secret) : chosen.digest(of: secret)
                try await server.sql(
                    """
                    UPDATE drafts SET state = 'confirmed', confirmed_at = \(now), key_owner = \(author.id),
                        key_digest = \(digest), key_expires_at = \(now + .seconds(60))
                    WHERE id = \(draft.id)
                    """)
            }
            return draft.id
        }
        open = try await insert(.draft)
        approved = try await insert(.approved)
        confirmed = try await insert(.confirmed)
        key = secret
        var imports: [DraftState: (batch: ImportID, draft: DraftChoice)] = [:]
        for state in [DraftState.draft, .approved, .confirmed] {
            let batch: ImportID = server.random.identifier(at: now)
            imports[state] = (batch, DraftChoice(draftID: try await insert(state, of: batch), version: 1))
        }
        self.imports = imports
    }
}

extension DraftScene {
    fileprivate func path(_ state: DraftState) -> ImportPath {
        ImportPath(importID: imports[state]?.batch ?? ImportID(high: 0, low: 0))
    }

    fileprivate func selection(_ state: DraftState) -> ImportSelection {
        ImportSelection(drafts: imports[state].map { [$0.draft] } ?? [])
    }
}

extension MatrixRow {
    static let ingestion: [MatrixRow] = [
        MatrixRow(API.importNags, allowed: .members) {
            let nag = SuggestedNag(
                recipientID: $0.family.child.id, category: .chores, description: nil,
                dueAt: Timestamp.epoch + .days(40_000),
                doneDefinition: .binaryCheck)
            return (
                NoParameters(),
                NagImport(
                    familyID: $0.family.id, importID: ImportID(high: 0, low: 1), source: .document,
                    items: [ImportItem(itemID: ImportItemID(InputID(high: 0, low: 1)), nag: nag)], isDryRun: true)
            )
        },
        MatrixRow(API.getImport, allowed: seers) { ($0.drafts.path(.draft), NoBody()) },
        MatrixRow(API.approveImport, allowed: seers) {
            (
                $0.drafts.path(.draft),
                ImportApproval($0.drafts.selection(.draft), acknowledged: DraftKind.suggestedNag.sideEffects)
            )
        },
        MatrixRow(API.confirmImport, allowed: seers) {
            ($0.drafts.path(.approved), $0.drafts.selection(.approved))
        },
        MatrixRow(API.executeImport, allowed: [.creator], refusals: [403, 404, 409]) {
            (
                $0.drafts.path(.confirmed),
                ImportExecution($0.drafts.selection(.confirmed), confirmation: $0.drafts.key)
            )
        },
    ]

    private static let seers = Set<MatrixRequester>.guardians.union([.creator])
    private static let version = DraftVersion(version: 1)

    static let drafted: [MatrixRow] = [
        MatrixRow(API.createDraft, allowed: .members) {
            (NoParameters(), DraftCreate(familyID: $0.family.id, kind: .suggestedNag, text: "the dishes"))
        },
        MatrixRow(API.createDraft, "about a nag", allowed: .readers) {
            (
                NoParameters(),
                DraftCreate(familyID: $0.family.id, kind: .dueChange, nagID: $0.nag, text: "tomorrow at 5")
            )
        },
        MatrixRow(API.createDraft, "from a nag", allowed: .readersOfChild) {
            (
                NoParameters(),
                DraftCreate(
                    familyID: $0.family.id, kind: .dueChange, nagID: $0.childNag,
                    contextIDs: [$0.childNag.retyped()], text: "tomorrow at 5")
            )
        },
        MatrixRow(API.listDrafts, allowed: .members) { (DraftListQuery(familyID: $0.family.id), NoBody()) },
        MatrixRow(API.getDraft, allowed: seers) { (DraftPath(draftID: $0.drafts.open), NoBody()) },
        MatrixRow(API.editDraft, allowed: seers) {
            (DraftPath(draftID: $0.drafts.open), DraftUpdate(body: DraftBodyChanges(category: .meds)))
        },
        MatrixRow(API.approveDraft, allowed: seers) {
            (
                DraftPath(draftID: $0.drafts.open),
                DraftApproval(version, acknowledged: [.notifyRecipient, .createNag])
            )
        },
        MatrixRow(API.confirmDraft, allowed: seers) { (DraftPath(draftID: $0.drafts.approved), version) },
        MatrixRow(API.executeDraft, allowed: [.creator], refusals: [403, 404, 409]) {
            (DraftPath(draftID: $0.drafts.confirmed), DraftExecution(version, confirmation: $0.drafts.key))
        },
        MatrixRow(API.rejectDraft, allowed: seers) { (DraftPath(draftID: $0.drafts.open), version) },
    ]
}
