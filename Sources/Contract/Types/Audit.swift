import Domain
import JSON

/// Entries of the audit log, newest first.
public struct AuditPage: Hashable, WireObject {
    public var items: [AuditEntry]
    public var nextCursor: String?
    /// The time back to which the page has searched, if it ended before it was full and there is more to search.
    public var searchedTo: Timestamp?

    public init(items: [AuditEntry], nextCursor: String?, searchedTo: Timestamp? = nil) {
        self.items = items
        self.nextCursor = nextCursor
        self.searchedTo = searchedTo
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        items = try fields.required("items")
        nextCursor = try fields.optional("next_cursor")
        searchedTo = try fields.optional("searched_to")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("items", items)
            json.field("next_cursor", nextCursor)
            json.field("searched_to", searchedTo)
        }
    }
}

/// An entry of the audit log: a person's act on a resource, with the entry's hashes.
public struct AuditEntry: Hashable, WireObject {
    public var familyID: FamilyID
    /// The entry's number in the family's chain, without gaps.
    public var n: Int
    public var at: Timestamp
    public var kind: String
    /// The pseudonym of the person who acted.
    public var actor: Pseudonym
    public var subject: Pseudonym?
    public var actorID: UserID?
    public var subjectID: UserID?
    public var resourceID: ResourceID?
    public var traceID: TraceID
    public var requestID: RequestID
    public var commit: HexDigest
    public var previous: HexDigest
    public var hash: HexDigest
    public var details: [String: String]?

    public init(
        familyID: FamilyID, n: Int, at: Timestamp, kind: String, actor: Pseudonym, subject: Pseudonym?,
        actorID: UserID?, subjectID: UserID?, resourceID: ResourceID?, traceID: TraceID, requestID: RequestID,
        commit: HexDigest, previous: HexDigest, hash: HexDigest, details: [String: String]?
    ) {
        self.familyID = familyID
        self.n = n
        self.at = at
        self.kind = kind
        self.actor = actor
        self.subject = subject
        self.actorID = actorID
        self.subjectID = subjectID
        self.resourceID = resourceID
        self.traceID = traceID
        self.requestID = requestID
        self.commit = commit
        self.previous = previous
        self.hash = hash
        self.details = details
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        n = try fields.required("n")
        at = try fields.required("at")
        kind = try fields.required("kind")
        actor = try fields.required("actor")
        subject = try fields.optional("subject")
        actorID = try fields.optional("actor_id")
        subjectID = try fields.optional("subject_id")
        resourceID = try fields.optional("resource_id")
        traceID = try fields.required("trace_id")
        requestID = try fields.required("request_id")
        commit = try fields.required("commit")
        previous = try fields.required("prev")
        hash = try fields.required("hash")
        details = try fields.optional("details")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("n", n)
            json.field("at", at)
            json.field("kind", kind)
            json.field("actor", actor)
            json.field("subject", subject)
            json.field("actor_id", actorID)
            json.field("subject_id", subjectID)
            json.field("resource_id", resourceID)
            json.field("trace_id", traceID)
            json.field("request_id", requestID)
            json.field("commit", commit)
            json.field("prev", previous)
            json.field("hash", hash)
            json.field("details", details)
        }
    }
}
