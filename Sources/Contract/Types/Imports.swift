import Domain
import JSON

/// The id of an imported item, such as the UID of a calendar's event (RFC 5545 §3.8.4.7). UUIDs are in lower case.
public struct ImportItemID: Hashable, Sendable, WireText {
    /// In Unicode scalars, as every length of a text.
    public static let longest = 255

    public let wireText: String

    public init(_ id: InputID) { wireText = id.description }

    public init(wireText text: String) throws(InvalidInput) {
        guard !text.isEmpty else { throw InvalidInput("must not be empty") }
        guard text.unicodeScalars.count <= Self.longest else {
            throw InvalidInput("must have at most \(Self.longest) characters")
        }
        guard !text.unicodeScalars.contains(where: { $0.value < 0x20 }) else {
            throw InvalidInput("must not contain control characters")
        }
        wireText = InputID(text)?.description ?? text
    }

    /// The id as it is, where it is a UUID.
    public var uuid: InputID? { InputID(wireText) }
}

/// A nag that somebody imports. It becomes a draft, which people approve like any other.
public struct ImportItem: Hashable, WireObject {
    /// The id that the client has chosen: the same id of the same person is the same item, in every import.
    public var itemID: ImportItemID
    public var nag: SuggestedNag

    public init(itemID: ImportItemID, nag: SuggestedNag) {
        self.itemID = itemID
        self.nag = nag
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        itemID = try fields.required("item_id")
        nag = try SuggestedNag(fields)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("item_id", itemID)
            nag.writeFields(to: &json)
        }
    }
}

/// Imports a list of nags.
public struct NagImport: Hashable, WireObject {
    public static let sizes = 1...100

    public var familyID: FamilyID
    /// The id that the client has chosen, for idempotency of the batch. No other import of the family may have it.
    public var importID: ImportID
    public var source: DraftSource
    /// 1…100 items with distinct ids.
    public var items: [ImportItem]
    /// Whether to say only what would happen.
    public var isDryRun: Bool

    public init(
        familyID: FamilyID, importID: ImportID, source: DraftSource, items: [ImportItem], isDryRun: Bool = false
    ) {
        self.familyID = familyID
        self.importID = importID
        self.source = source
        self.items = items
        self.isDryRun = isDryRun
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        importID = try fields.required("import_id")
        source = try fields.required("source")
        items = try fields.required("items")
        try items.requireDistinct(\.itemID, "items")
        isDryRun = try fields.defaulted("dry_run", to: false)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("import_id", importID)
            json.field("source", source)
            json.field("items", items)
            json.field("dry_run", isDryRun)
        }
    }
}

/// The outcome of an imported item.
public enum ImportOutcome: String, Sendable, CaseIterable, WireEnumeration {
    /// It is a draft of this import; in a dry run, it would be.
    case new
    /// An earlier import had it. Nothing was made of it again.
    case alreadyImported = "already_imported"
    /// An earlier import had it otherwise. Its open draft was edited, or a draft proposes the new due time of its nag.
    case changed
    /// It cannot be imported.
    case invalid
}

/// A fault of an imported item.
public struct ImportFault: Hashable, WireObject {
    /// The path of the field, such as `items[3].due_at`.
    public var field: String
    /// A sentence for the user.
    public var message: String

    public init(field: String, message: String) {
        self.field = field
        self.message = message
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        field = try fields.required("field")
        message = try fields.required("message")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("field", field)
            json.field("message", message)
        }
    }
}

/// The result of one imported item.
public struct ImportItemResult: Hashable, WireObject {
    public var itemID: ImportItemID
    public var outcome: ImportOutcome
    /// The draft that it became; nil for an item that is invalid, and in a dry run for one that would become a draft.
    public var draftID: DraftID?
    /// The fault; nil unless the item is invalid.
    public var error: ImportFault?

    public init(itemID: ImportItemID, outcome: ImportOutcome, draftID: DraftID? = nil, error: ImportFault? = nil) {
        self.itemID = itemID
        self.outcome = outcome
        self.draftID = draftID
        self.error = error
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        itemID = try fields.required("item_id")
        outcome = try fields.required("outcome")
        draftID = try fields.optional("draft_id")
        error = try fields.optional("error")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("item_id", itemID)
            json.field("outcome", outcome)
            json.field("draft_id", draftID)
            json.field("error", error)
        }
    }
}

/// The results of an import, in the order of its items. The same import again gets the same results.
public struct ImportResult: Hashable, WireObject {
    public var importID: ImportID
    public var isDryRun: Bool
    public var items: [ImportItemResult]

    public init(importID: ImportID, isDryRun: Bool, items: [ImportItemResult]) {
        self.importID = importID
        self.isDryRun = isDryRun
        self.items = items
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        importID = try fields.required("import_id")
        isDryRun = try fields.required("dry_run")
        items = try fields.required("items")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("import_id", importID)
            json.field("dry_run", isDryRun)
            json.field("items", items)
        }
    }
}

/// An import as its author and guardians see it. It has no state but that of its drafts.
public struct ImportResponse: Hashable, WireObject {
    public var importID: ImportID
    public var familyID: FamilyID
    public var authorID: UserID
    public var source: DraftSource
    public var createdAt: Timestamp
    /// The drafts in the order of the items.
    public var drafts: [DraftResponse]

    /// The number of the drafts that can still be executed.
    public var openDrafts: Int { drafts.count { $0.progress.state.isOpen } }

    public init(
        importID: ImportID, familyID: FamilyID, authorID: UserID, source: DraftSource, createdAt: Timestamp,
        drafts: [DraftResponse]
    ) {
        self.importID = importID
        self.familyID = familyID
        self.authorID = authorID
        self.source = source
        self.createdAt = createdAt
        self.drafts = drafts
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        importID = try fields.required("import_id")
        familyID = try fields.required("family_id")
        authorID = try fields.required("author_id")
        source = try fields.required("source")
        createdAt = try fields.required("created_at")
        drafts = try fields.required("drafts")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("import_id", importID)
            json.field("family_id", familyID)
            json.field("author_id", authorID)
            json.field("source", source)
            json.field("created_at", createdAt)
            json.field("open_drafts", openDrafts)
            json.field("drafts", drafts)
        }
    }
}

// MARK: Steps with several drafts

/// A draft in the version that the person has seen.
public struct DraftChoice: Hashable, WireObject {
    public var draftID: DraftID
    public var version: Int

    public init(draftID: DraftID, version: Int) {
        self.draftID = draftID
        self.version = version
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        draftID = try fields.required("draft_id")
        version = try fields.integer("version", DraftVersion.versions)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("draft_id", draftID)
            json.field("version", version)
        }
    }
}

/// The drafts of an import that a step is about: all of these take it, or none.
public struct ImportSelection: Hashable, WireObject {
    /// 1…100 drafts, each once.
    public var drafts: [DraftChoice]
    public var source: DraftSource

    public init(drafts: [DraftChoice], source: DraftSource = .keyboard) {
        self.drafts = drafts
        self.source = source
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        drafts = try fields.required("drafts")
        try drafts.requireDistinct(\.draftID, "drafts")
        source = try fields.defaulted("source", to: .keyboard)
    }

    public func write(to json: inout JSONWriter) { json.object { writeFields(to: &$0) } }

    fileprivate func writeFields(to json: inout JSONWriter) {
        json.field("drafts", drafts)
        json.field("source", source)
    }
}

/// Approves drafts of an import, knowing what each of them does.
public struct ImportApproval: Hashable, WireObject {
    public var selection: ImportSelection
    /// All side effects of each draft, in any order.
    public var acknowledged: [DraftSideEffect]

    public init(_ selection: ImportSelection, acknowledged: [DraftSideEffect]) {
        self.selection = selection
        self.acknowledged = acknowledged
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        selection = try ImportSelection(fields)
        acknowledged = try DraftApproval.acknowledged(fields)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            selection.writeFields(to: &json)
            json.field("acknowledged_side_effects", acknowledged)
        }
    }
}

/// Executes drafts of an import.
public struct ImportExecution: Hashable, WireObject {
    public var selection: ImportSelection
    /// The second key, of exactly these drafts in these versions.
    public var confirmation: Secret?

    public init(_ selection: ImportSelection, confirmation: Secret?) {
        self.selection = selection
        self.confirmation = confirmation
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        selection = try ImportSelection(fields)
        confirmation = try DraftExecution.confirmation(fields)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            selection.writeFields(to: &json)
            json.fieldIfPresent("confirmation", confirmation)
        }
    }
}

extension Array {
    /// - Throws: `InvalidInput` unless the list has 1 to 100 elements, each with an id of its own.
    fileprivate func requireDistinct<ID: Hashable>(
        _ id: (Element) -> ID, _ name: String
    ) throws(InvalidInput) {
        guard NagImport.sizes.contains(count) else {
            throw InvalidInput("must have 1 to \(NagImport.sizes.upperBound) elements", field: name)
        }
        guard Set(map(id)).count == count else { throw InvalidInput("must have each id once", field: name) }
    }
}
