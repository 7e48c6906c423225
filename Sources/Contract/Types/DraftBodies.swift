import Domain
import JSON

/// The body of a draft: the exact effect of its execution.
public enum DraftBody: Hashable, Sendable {
    case suggestedNag(SuggestedNag)
    case dueChange(DueChange)
    case pushBack(PushBackMessage)
    case consequence(Consequence)
    case digest(DigestMessage)

    public var kind: DraftKind {
        switch self {
        case .suggestedNag: .suggestedNag
        case .dueChange: .dueChange
        case .pushBack: .pushBack
        case .consequence: .consequence
        case .digest: .digest
        }
    }

    public init(_ kind: DraftKind, _ fields: FieldReader) throws(InvalidInput) {
        switch kind {
        case .suggestedNag: self = .suggestedNag(try SuggestedNag(fields))
        case .dueChange: self = .dueChange(try DueChange(fields))
        case .pushBack: self = .pushBack(try PushBackMessage(fields))
        case .consequence: self = .consequence(try Consequence(fields))
        case .digest: self = .digest(try DigestMessage(fields))
        }
    }

    /// Reads the member `name` of an object; nil without one.
    static func readIfPresent(
        _ name: String, of kind: DraftKind, in fields: FieldReader
    ) throws(InvalidInput) -> DraftBody? {
        guard let object: JSONObject = try fields.optional(name) else { return nil }
        do {
            return try DraftBody(kind, FieldReader(object))
        } catch {
            throw error.nested(in: name)
        }
    }
}

extension DraftBody: WireOutput {
    public func write(to json: inout JSONWriter) {
        switch self {
        case .suggestedNag(let nag): nag.write(to: &json)
        case .dueChange(let change): change.write(to: &json)
        case .pushBack(let message): message.write(to: &json)
        case .consequence(let consequence): consequence.write(to: &json)
        case .digest(let digest): digest.write(to: &json)
        }
    }
}

extension SuggestedNag {
    /// The maximum length of a description, in Unicode scalars.
    public static let maxDescriptionLength = 2000
}

/// A digest of the family's week for chosen guardians.
public struct DigestMessage: Hashable, WireObject {
    public var message: String
    /// The recipients: 1 to 8 people, each once.
    public var recipientIDs: [UserID]

    public init(message: String, recipientIDs: [UserID]) {
        self.message = message
        self.recipientIDs = recipientIDs
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        message = try fields.text("message", DraftLimit.digestLengths)
        guard let recipients = try Self.readRecipients(in: fields) else {
            throw .required("recipient_ids")
        }
        recipientIDs = recipients
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("message", message)
            json.field("recipient_ids", recipientIDs)
        }
    }

    /// Reads the member `recipient_ids`; nil without one.
    static func readRecipients(in fields: FieldReader) throws(InvalidInput) -> [UserID]? {
        guard let ids: [UserID] = try fields.optional("recipient_ids") else { return nil }
        guard DraftLimit.digestRecipientCounts.contains(ids.count) else {
            throw .wrongCount(DraftLimit.digestRecipientCounts, of: "ids", in: "recipient_ids")
        }
        guard Set(ids).count == ids.count else {
            throw .repeated("id", in: "recipient_ids")
        }
        return ids
    }
}
