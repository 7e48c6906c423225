import Contract
import Domain
import SQL
import Testing

@testable import Server

extension TestServer {
    /// A draft of a nag made from words.
    @discardableResult
    func draft(
        _ text: String = "the dishes", in family: Household, source: DraftSource = .keyboard, as person: Person
    ) async throws -> DraftResponse {
        try await call(
            API.createDraft, DraftCreate(familyID: family.id, kind: .suggestedNag, text: text, source: source),
            as: person)
    }

    /// A draft that moves a nag to a time.
    func draft(
        of nag: NagID, due: Timestamp, in family: Household, as person: Person
    ) async throws -> DraftResponse {
        try await call(
            API.createDraft,
            DraftCreate(
                familyID: family.id, kind: .dueChange, nagID: nag, contextIDs: [nag.retyped()],
                body: .dueChange(DueChange(dueAt: due))), as: person)
    }

    func draft(_ id: DraftID, as person: Person) async throws -> DraftResponse {
        try await call(API.getDraft, DraftPath(draftID: id), as: person)
    }

    @discardableResult
    func edit(
        _ draft: DraftResponse, _ changes: DraftBodyChanges, as person: Person, source: DraftSource = .keyboard,
        ifMatch: String? = nil
    ) async throws -> DraftResponse {
        try await call(
            API.editDraft, DraftPath(draftID: draft.id), DraftUpdate(body: changes, source: source), as: person,
            headers: ifMatch.map { ["If-Match": $0] } ?? [:])
    }

    @discardableResult
    func approve(
        _ draft: DraftResponse, _ effects: [DraftSideEffect]? = nil, as person: Person,
        source: DraftSource = .keyboard
    ) async throws -> DraftResponse {
        try await call(
            API.approveDraft, DraftPath(draftID: draft.id),
            DraftApproval(draft.seen(source), acknowledged: effects ?? draft.kind.sideEffects), as: person)
    }

    func confirm(
        _ draft: DraftResponse, as person: Person, source: DraftSource = .keyboard
    ) async throws -> DraftConfirmation {
        try await call(API.confirmDraft, DraftPath(draftID: draft.id), draft.seen(source), as: person)
    }

    @discardableResult
    func execute(
        _ draft: DraftResponse, _ key: DraftConfirmation?, as person: Person, source: DraftSource = .keyboard
    ) async throws -> DraftResponse {
        try await call(
            API.executeDraft, DraftPath(draftID: draft.id),
            DraftExecution(draft.seen(source), confirmation: key?.confirmation), as: person)
    }

    @discardableResult
    func reject(
        _ draft: DraftResponse, as person: Person, source: DraftSource = .keyboard
    ) async throws -> DraftResponse {
        try await call(API.rejectDraft, DraftPath(draftID: draft.id), draft.seen(source), as: person)
    }

    /// All steps up to the second key, by one person.
    func confirmed(_ draft: DraftResponse, as person: Person) async throws -> DraftConfirmation {
        try await approve(draft, as: person)
        return try await confirm(draft, as: person)
    }

    /// Takes one of the later steps with a draft, as far as it has come.
    func take(
        _ step: DraftStep, _ draft: DraftResponse, _ key: DraftConfirmation?, as person: Person, source: DraftSource
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

/// Drafts of the role matrix.
struct DraftScene: Sendable {
    let open: DraftID
    let approved: DraftID
    let confirmed: DraftID
    let key: Secret

    init(by author: Person, to recipient: Person, in family: FamilyID, _ server: TestServer) async throws {
        let now = server.clock.now()
        let body = DraftBody.suggestedNag(
            SuggestedNag(
                recipientID: recipient.id, category: .chores, description: nil, dueAt: now + .hours(2),
                doneDefinition: .binaryCheck))
        let secret = Secret("\(server.random.identifier(at: now) as DraftID)")
        func insert(_ state: DraftState) async throws -> DraftID {
            let draft = DraftResponse(
                id: server.random.identifier(at: now), familyID: family, nagID: nil, authorID: author.id,
                source: .keyboard, body: body, contextIDs: [], citations: [], model: "client", confidence: nil,
                warnings: [], progress: DraftProgress(expiresAt: now + .hours(24)),
                traceID: server.random.identifier(at: now), createdAt: now)
            let text = String(decoding: draft.body.jsonBytes, as: UTF8.self)
            try await server.sql(
                """
                INSERT INTO drafts (family_id, id, kind, author_id, source, body, context_ids, citations, model,
                                    warnings, state, version, trace_id, created_at, updated_at, expires_at)
                VALUES (\(family), \(draft.id), 'suggested_nag', \(author.id), 'keyboard', \(text)::json, '{}', '{}',
                        'client', '[]', 'draft', 1, \(draft.traceID), \(now), \(now), \(now + .hours(24)))
                """)
            if state != .draft {
                try await server.sql(
                    """
                    UPDATE drafts SET state = 'approved', approved_by = \(author.id), approved_at = \(now)
                    WHERE id = \(draft.id)
                    """)
            }
            if state == .confirmed {
                try await server.sql(
                    """
                    UPDATE drafts SET state = 'confirmed', confirmed_at = \(now), key_owner = \(author.id),
                        key_digest = \(AITokens.digest(secret)), key_expires_at = \(now + .seconds(60))
                    WHERE id = \(draft.id)
                    """)
            }
            return draft.id
        }
        open = try await insert(.draft)
        approved = try await insert(.approved)
        confirmed = try await insert(.confirmed)
        key = secret
    }
}

extension MatrixRow {
    private static let seers = Set<Requester>.guardians.union([.creator])
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
                    familyID: $0.family.id, kind: .suggestedNag, contextIDs: [$0.childNag.retyped()], text: "t")
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
