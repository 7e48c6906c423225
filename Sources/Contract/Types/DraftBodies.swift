import Domain
import JSON

/// What a draft does: exactly this, when it is executed.
public enum DraftBody: Hashable, Sendable {
    case suggestedNag(SuggestedNag)
    case dueChange(DueChange)

    public var kind: DraftKind {
        switch self {
        case .suggestedNag: .suggestedNag
        case .dueChange: .dueChange
        }
    }

    public init(_ kind: DraftKind, _ fields: FieldReader) throws(InvalidInput) {
        switch kind {
        case .suggestedNag: self = .suggestedNag(try SuggestedNag(fields))
        case .dueChange: self = .dueChange(try DueChange(fields))
        }
    }

    /// Reads the member `name` of an object.
    static func optional(
        _ name: String, of kind: DraftKind, in fields: FieldReader
    ) throws(InvalidInput) -> DraftBody? {
        guard let object: JSONObject = try fields.optional(name) else { return nil }
        do {
            return try DraftBody(kind, FieldReader(object))
        } catch {
            throw error.inside(name)
        }
    }
}

extension DraftBody: WireOutput {
    public func write(to json: inout JSONWriter) {
        switch self {
        case .suggestedNag(let nag): nag.write(to: &json)
        case .dueChange(let change): change.write(to: &json)
        }
    }
}

/// A nag that the AI suggests.
public struct SuggestedNag: Hashable, WireObject {
    public static let longestDescription = 2000

    public var recipientID: UserID
    public var category: NagCategory
    public var description: String?
    public var dueAt: Timestamp
    public var doneDefinition: DoneDefinition

    public init(
        recipientID: UserID, category: NagCategory, description: String?, dueAt: Timestamp,
        doneDefinition: DoneDefinition
    ) {
        self.recipientID = recipientID
        self.category = category
        self.description = description
        self.dueAt = dueAt
        self.doneDefinition = doneDefinition
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        recipientID = try fields.required("recipient_id")
        category = try fields.required("category")
        description = try fields.optionalText("description", 0...Self.longestDescription)
        dueAt = try fields.required("due_at")
        doneDefinition = try fields.required("done_definition")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("recipient_id", recipientID)
            json.field("category", category)
            json.field("description", description)
            json.field("due_at", dueAt)
            json.field("done_definition", doneDefinition)
        }
    }
}

/// A due time that the AI suggests for a nag.
public struct DueChange: Hashable, WireObject {
    public var dueAt: Timestamp

    public init(dueAt: Timestamp) {
        self.dueAt = dueAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        dueAt = try fields.required("due_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { $0.field("due_at", dueAt) }
    }
}

/// Changes of a draft's body. What is absent stays.
public struct DraftBodyChanges: Hashable, WireObject {
    public var recipientID: UserID?
    public var category: NagCategory?
    /// Null removes it.
    public var description: Patch<String>
    public var dueAt: Timestamp?
    public var doneDefinition: DoneDefinition?

    public init(
        recipientID: UserID? = nil, category: NagCategory? = nil, description: Patch<String> = .absent,
        dueAt: Timestamp? = nil, doneDefinition: DoneDefinition? = nil
    ) {
        self.recipientID = recipientID
        self.category = category
        self.description = description
        self.dueAt = dueAt
        self.doneDefinition = doneDefinition
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        recipientID = try fields.optional("recipient_id")
        category = try fields.optional("category")
        description = try fields.textPatch("description", 0...SuggestedNag.longestDescription)
        dueAt = try fields.optional("due_at")
        doneDefinition = try fields.optional("done_definition")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.fieldIfPresent("recipient_id", recipientID)
            json.fieldIfPresent("category", category)
            json.patch("description", description)
            json.fieldIfPresent("due_at", dueAt)
            json.fieldIfPresent("done_definition", doneDefinition)
        }
    }

    /// - Throws: `InvalidInput` for a field that a draft of this kind does not have.
    public func applied(to body: DraftBody) throws(InvalidInput) -> DraftBody {
        switch body {
        case .suggestedNag(var nag):
            nag.recipientID = recipientID ?? nag.recipientID
            nag.category = category ?? nag.category
            nag.description = description.applied(to: nag.description)
            nag.dueAt = dueAt ?? nag.dueAt
            nag.doneDefinition = doneDefinition ?? nag.doneDefinition
            return .suggestedNag(nag)
        case .dueChange(var change):
            let others = [
                ("recipient_id", recipientID != nil), ("category", category != nil),
                ("description", !description.isAbsent), ("done_definition", doneDefinition != nil),
            ]
            if let other = others.first(where: \.1)?.0 {
                throw InvalidInput("is not part of a draft of this kind", field: "body.\(other)")
            }
            change.dueAt = dueAt ?? change.dueAt
            return .dueChange(change)
        }
    }
}
