import Domain
import JSON

/// One line of an audit log export: an object whose only member names the type of the line.
public enum AuditExportLine: Sendable, Hashable {
    case header(Header)
    /// A signed note: the entries of a family that retention has removed, and the hash from which its chain continues.
    case prune(note: String)
    case entry(Entry)
    /// A position of the log whose entry was pruned.
    case leaf(LeafPosition)
    /// A stored hash of the Merkle log: the root of the 256^`level` leaves at this position of the level. At level 0 it
    /// is the hash of a leaf that does not match its entry.
    case node(level: Int, position: Int, hash: HexDigest)
    /// A signed note: the state of the log.
    case checkpoint(note: String)
    /// The proof that a log of `size` leaves contains an entry.
    case inclusion(LeafPosition, size: Int, path: [HexDigest])
    /// The proof that a log begins with an earlier state of it.
    case consistency(ConsistencyProof)
    /// The state of a family's ledger: the number and the hash of its newest entry.
    case clock(FamilyID, n: Int, head: HexDigest)
    /// The last line, with the numbers of `entry` lines and of `clock` lines; the latter is nil in exports of older
    /// servers.
    case end(entries: Int, clocks: Int?)
    /// A line of a later version, which is ignored.
    case other

    /// The scope and origin of the export.
    public struct Header: Sendable, Hashable {
        /// The version of this format.
        public static let formatVersion = 1
        /// The log's name, as in its checkpoints.
        public var origin: String
        /// The family; nil for all families.
        public var familyID: FamilyID?
        public var madeAt: Timestamp
        public var keys: [AuditKey]

        public init(origin: String, familyID: FamilyID?, madeAt: Timestamp, keys: [AuditKey]) {
            self.origin = origin
            self.familyID = familyID
            self.madeAt = madeAt
            self.keys = keys
        }
    }

    /// An entry with its body and its position in the log.
    public struct Entry: Sendable, Hashable {
        /// The family whose chain this is, or the connection, whose ID takes the place of a family's; the nil ID for
        /// acts outside both.
        public var familyID: FamilyID
        /// The number of the entry in its chain: 1, 2, 3, …
        public var n: Int
        /// The time in microseconds since 1970-01-01T00:00:00Z.
        public var atMicroseconds: Int
        public var kind: String
        public var actor: Pseudonym
        /// The person whom the act concerns; nil if there is none.
        public var subject: Pseudonym?
        public var resourceID: ResourceID?
        public var traceID: TraceID
        public var requestID: RequestID
        /// The commitment to the body. It remains when the body is erased.
        public var commitment: HexDigest
        /// The hash of the previous entry of the chain.
        public var previous: HexDigest
        public var hash: HexDigest
        /// The position in the log; nil if the entry is not in the log yet.
        public var position: Int?
        /// The state of the body: `whole`, `erased` or `unreadable`.
        public var bodyState: String
        /// The salt of the commitment; nil unless `bodyState` is `whole`.
        public var salt: HexDigest?
        /// The body in hexadecimal digits; nil unless `bodyState` is `whole`.
        public var body: String?

        public init(
            familyID: FamilyID, n: Int, atMicroseconds: Int, kind: String, actor: Pseudonym, subject: Pseudonym?,
            resourceID: ResourceID?, traceID: TraceID, requestID: RequestID, commitment: HexDigest, previous: HexDigest,
            hash: HexDigest, position: Int?, bodyState: String, salt: HexDigest?, body: String?
        ) {
            self.familyID = familyID
            self.n = n
            self.atMicroseconds = atMicroseconds
            self.kind = kind
            self.actor = actor
            self.subject = subject
            self.resourceID = resourceID
            self.traceID = traceID
            self.requestID = requestID
            self.commitment = commitment
            self.previous = previous
            self.hash = hash
            self.position = position
            self.bodyState = bodyState
            self.salt = salt
            self.body = body
        }
    }

    /// A position in the log, and the entry at it.
    public struct LeafPosition: Sendable, Hashable, WireInput {
        public var position: Int
        public var familyID: FamilyID
        /// The number of the entry in its chain.
        public var n: Int
        /// The hash of the leaf at the position.
        public var hash: HexDigest

        public init(position: Int, familyID: FamilyID, n: Int, hash: HexDigest) {
            self.position = position
            self.familyID = familyID
            self.n = n
            self.hash = hash
        }

        public init(_ fields: FieldReader) throws(InvalidInput) {
            position = try fields.required("position")
            familyID = try fields.required("family_id")
            n = try fields.required("n")
            hash = try fields.required("hash")
        }

        fileprivate func writeMembers(to json: inout JSONWriter) {
            json.field("position", position)
            json.field("family_id", familyID)
            json.field("n", n)
            json.field("hash", hash)
        }
    }
}

// MARK: Reading

extension AuditExportLine: WireInput {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        if let entry: Entry = try fields.optional("entry") {
            self = .entry(entry)
        } else if let header: Header = try fields.optional("header") {
            self = .header(header)
        } else if let node: Node = try fields.optional("node") {
            self = .node(level: node.level, position: node.position, hash: node.hash)
        } else if let leaf: LeafPosition = try fields.optional("leaf") {
            self = .leaf(leaf)
        } else if let signed: SignedNote = try fields.optional("checkpoint") {
            self = .checkpoint(note: signed.note)
        } else if let signed: SignedNote = try fields.optional("prune") {
            self = .prune(note: signed.note)
        } else if let proof: Inclusion = try fields.optional("inclusion") {
            self = .inclusion(proof.leaf, size: proof.size, path: proof.path)
        } else if let proof: ConsistencyProof = try fields.optional("consistency") {
            self = .consistency(proof)
        } else if let clock: Clock = try fields.optional("clock") {
            self = .clock(clock.family, n: clock.n, head: clock.head)
        } else if let end: End = try fields.optional("end") {
            self = .end(entries: end.entries, clocks: end.clocks)
        } else {
            self = .other
        }
    }

    private struct SignedNote: WireInput {
        let note: String
        init(_ fields: FieldReader) throws(InvalidInput) { note = try fields.required("note") }
    }

    private struct Node: WireInput {
        let level: Int
        let position: Int
        let hash: HexDigest
        init(_ fields: FieldReader) throws(InvalidInput) {
            level = try fields.required("level")
            position = try fields.required("position")
            hash = try fields.required("hash")
        }
    }

    private struct Inclusion: WireInput {
        let leaf: LeafPosition
        let size: Int
        let path: [HexDigest]
        init(_ fields: FieldReader) throws(InvalidInput) {
            leaf = try LeafPosition(fields)
            size = try fields.required("size")
            path = try fields.required("path")
        }
    }

    private struct Clock: WireInput {
        let family: FamilyID
        let n: Int
        let head: HexDigest
        init(_ fields: FieldReader) throws(InvalidInput) {
            family = try fields.required("family_id")
            n = try fields.required("n")
            head = try fields.required("head")
        }
    }

    private struct End: WireInput {
        let entries: Int
        let clocks: Int?
        init(_ fields: FieldReader) throws(InvalidInput) {
            entries = try fields.required("entries")
            clocks = try fields.optional("clocks")
        }
    }
}

extension AuditExportLine.Header: WireInput {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        guard let format: Int = try fields.optional("format"), format == Self.formatVersion else {
            throw .notVersion(Self.formatVersion, "format")
        }
        origin = try fields.required("origin")
        familyID = try fields.optional("family_id")
        madeAt = try fields.required("made_at")
        keys = try fields.required("keys")
    }
}

extension AuditExportLine.Entry: WireInput {
    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        n = try fields.required("n")
        atMicroseconds = try fields.required("at_us")
        kind = try fields.required("kind")
        actor = try fields.required("actor")
        subject = try fields.optional("subject")
        resourceID = try fields.optional("resource_id")
        traceID = try fields.required("trace_id")
        requestID = try fields.required("request_id")
        commitment = try fields.required("commit")
        previous = try fields.required("prev")
        hash = try fields.required("hash")
        position = try fields.optional("position")
        bodyState = try fields.required("payload")
        salt = try fields.optional("salt")
        body = try fields.optional("body")
    }
}

// MARK: Writing

extension AuditExportLine: WireOutput {
    public func write(to json: inout JSONWriter) {
        json.object { json in
            switch self {
            case .header(let header):
                json.key("header")
                json.object { json in
                    json.field("format", Header.formatVersion)
                    json.field("origin", header.origin)
                    json.field("family_id", header.familyID)
                    json.field("made_at", header.madeAt)
                    json.field("keys", header.keys)
                }
            case .entry(let entry): json.field("entry", entry)
            case .leaf(let leaf):
                json.key("leaf")
                json.object { leaf.writeMembers(to: &$0) }
            case .node(let level, let position, let hash):
                json.key("node")
                json.object { json in
                    json.field("level", level)
                    json.field("position", position)
                    json.field("hash", hash)
                }
            case .prune(let note):
                json.key("prune")
                json.object { $0.field("note", note) }
            case .checkpoint(let note):
                json.key("checkpoint")
                json.object { $0.field("note", note) }
            case .inclusion(let leaf, let size, let path):
                json.key("inclusion")
                json.object { json in
                    leaf.writeMembers(to: &json)
                    json.field("size", size)
                    json.field("path", path)
                }
            case .consistency(let proof): json.field("consistency", proof)
            case .clock(let family, let n, let head):
                json.key("clock")
                json.object { json in
                    json.field("family_id", family)
                    json.field("n", n)
                    json.field("head", head)
                }
            case .end(let entries, let clocks):
                json.key("end")
                json.object { json in
                    json.field("entries", entries)
                    if let clocks { json.field("clocks", clocks) }
                }
            case .other: break
            }
        }
    }
}

extension AuditExportLine.Entry: WireOutput {
    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("n", n)
            json.field("at_us", atMicroseconds)
            json.field("kind", kind)
            json.field("actor", actor)
            json.field("subject", subject)
            json.field("resource_id", resourceID)
            json.field("trace_id", traceID)
            json.field("request_id", requestID)
            json.field("commit", commitment)
            json.field("prev", previous)
            json.field("hash", hash)
            json.field("position", position)
            json.field("payload", bodyState)
            json.field("salt", salt)
            json.field("body", body)
        }
    }
}
