import Domain
import JSON

/// The status of the Merkle log.
public struct AuditStatus: Hashable, WireObject {
    /// The caller's role: `admin` or `guardian`.
    public var reader: String
    /// The guardian's family.
    public var familyID: FamilyID?
    /// `current`, `late`, `broken` or `off`.
    public var state: String
    /// The reason for `broken`.
    public var fault: String?
    public var origin: String?
    public var size: Int?
    public var root: HexDigest?
    /// The time at which the newest checkpoint was signed.
    public var checkpointAt: Timestamp?
    /// The checkpoint, a C2SP signed note.
    public var checkpoint: String?
    /// The age of the oldest entry without a checkpoint, in milliseconds.
    public var exposureMilliseconds: Int
    public var keys: [AuditKey]
    /// The status of the background check; null if this server runs none.
    public var check: AuditCheckStatus?
    /// The number of findings of verifications on request that nobody has acknowledged.
    public var findings: Int

    public init(
        reader: String, familyID: FamilyID?, state: String, fault: String?, origin: String?, size: Int?,
        root: HexDigest?, checkpointAt: Timestamp?, checkpoint: String?, exposureMilliseconds: Int, keys: [AuditKey],
        check: AuditCheckStatus?, findings: Int = 0
    ) {
        self.reader = reader
        self.familyID = familyID
        self.state = state
        self.fault = fault
        self.origin = origin
        self.size = size
        self.root = root
        self.checkpointAt = checkpointAt
        self.checkpoint = checkpoint
        self.exposureMilliseconds = exposureMilliseconds
        self.keys = keys
        self.check = check
        self.findings = findings
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        reader = try fields.required("reader")
        familyID = try fields.optional("family_id")
        state = try fields.required("state")
        fault = try fields.optional("fault")
        origin = try fields.optional("origin")
        size = try fields.optional("size")
        root = try fields.optional("root")
        checkpointAt = try fields.optional("checkpoint_at")
        checkpoint = try fields.optional("checkpoint")
        exposureMilliseconds = try fields.required("exposure_ms")
        keys = try fields.required("keys")
        check = try fields.optional("check")
        findings = try fields.optional("findings") ?? 0
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("reader", reader)
            json.field("family_id", familyID)
            json.field("state", state)
            json.field("fault", fault)
            json.field("origin", origin)
            json.field("size", size)
            json.field("root", root)
            json.field("checkpoint_at", checkpointAt)
            json.field("checkpoint", checkpoint)
            json.field("exposure_ms", exposureMilliseconds)
            json.field("keys", keys)
            json.field("check", check)
            json.field("findings", findings)
        }
    }
}

/// The status of the background check, which repeatedly verifies the whole log and compares the database with it.
public struct AuditCheckStatus: Hashable, WireObject {
    /// `explained`, `unexplained`, `incomplete` or `running`.
    public var state: String
    /// The time at which the current pass began; null between passes.
    public var startedAt: Timestamp?
    /// The families and entries checked so far.
    public var families: Int
    public var entries: Int
    public var findings: Int
    /// The time at which the last full pass ended, with its results; null before the first.
    public var lastFinishedAt: Timestamp?
    public var lastFamilies: Int
    public var lastEntries: Int
    public var lastFindings: Int
    /// The first finding, which may concern any family; for administrators only.
    public var firstFinding: String?

    public init(
        state: String, startedAt: Timestamp?, families: Int, entries: Int, findings: Int, lastFinishedAt: Timestamp?,
        lastFamilies: Int, lastEntries: Int, lastFindings: Int, firstFinding: String?
    ) {
        self.state = state
        self.startedAt = startedAt
        self.families = families
        self.entries = entries
        self.findings = findings
        self.lastFinishedAt = lastFinishedAt
        self.lastFamilies = lastFamilies
        self.lastEntries = lastEntries
        self.lastFindings = lastFindings
        self.firstFinding = firstFinding
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        state = try fields.required("state")
        startedAt = try fields.optional("started_at")
        families = try fields.required("families")
        entries = try fields.required("entries")
        findings = try fields.required("findings")
        lastFinishedAt = try fields.optional("last_finished_at")
        lastFamilies = try fields.required("last_families")
        lastEntries = try fields.required("last_entries")
        lastFindings = try fields.required("last_findings")
        firstFinding = try fields.optional("first_finding")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("state", state)
            json.field("started_at", startedAt)
            json.field("families", families)
            json.field("entries", entries)
            json.field("findings", findings)
            json.field("last_finished_at", lastFinishedAt)
            json.field("last_families", lastFamilies)
            json.field("last_entries", lastEntries)
            json.field("last_findings", lastFindings)
            json.field("first_finding", firstFinding)
        }
    }
}

/// A current or former public key of the log.
public struct AuditKey: Hashable, WireObject {
    /// `<name>+<hash>+<base64>`, a C2SP signed-note verifier key.
    public var verifier: String
    /// The note in which the previous key authorises this one.
    public var handover: String?

    public init(verifier: String, handover: String?) {
        self.verifier = verifier
        self.handover = handover
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        verifier = try fields.required("verifier")
        handover = try fields.optional("handover")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("verifier", verifier)
            json.field("handover", handover)
        }
    }
}

/// The current and former keys of the log, oldest first.
public struct AuditKeys: Hashable, WireObject {
    public var keys: [AuditKey]

    public init(keys: [AuditKey]) { self.keys = keys }

    public init(_ fields: FieldReader) throws(InvalidInput) { keys = try fields.required("keys") }

    public func write(to json: inout JSONWriter) { json.object { $0.field("keys", keys) } }
}

/// One entry with everything needed to verify it, and its inclusion proof.
public struct AuditEntryDetail: Hashable, WireObject {
    public var entry: AuditEntry
    /// `entry.at` in microseconds since 1970, as hashed.
    public var atMicroseconds: Int
    /// `whole`, `erased` or `unreadable`.
    public var payload: String
    /// Hexadecimal.
    public var salt: HexDigest?
    /// The canonical bytes covered by `entry.commit`, in hexadecimal.
    public var body: String?
    /// The inclusion proof; nil while no checkpoint covers the entry, or if a hash of the log is missing.
    public var proof: InclusionProof?

    public init(
        entry: AuditEntry, atMicroseconds: Int, payload: String, salt: HexDigest?, body: String?,
        proof: InclusionProof?
    ) {
        self.entry = entry
        self.atMicroseconds = atMicroseconds
        self.payload = payload
        self.salt = salt
        self.body = body
        self.proof = proof
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        entry = try fields.required("entry")
        atMicroseconds = try fields.required("at_us")
        payload = try fields.required("payload")
        salt = try fields.optional("salt")
        body = try fields.optional("body")
        proof = try fields.optional("proof")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("entry", entry)
            json.field("at_us", atMicroseconds)
            json.field("payload", payload)
            json.field("salt", salt)
            json.field("body", body)
            json.field("proof", proof)
        }
    }
}

/// The proof that an entry is in the log of a signed checkpoint.
public struct InclusionProof: Hashable, WireObject {
    /// The leaf's position in the log, from 0.
    public var position: Int
    public var leaf: HexDigest
    public var size: Int
    public var path: [HexDigest]
    /// A checkpoint of that size, a C2SP signed note.
    public var checkpoint: String

    public init(position: Int, leaf: HexDigest, size: Int, path: [HexDigest], checkpoint: String) {
        self.position = position
        self.leaf = leaf
        self.size = size
        self.path = path
        self.checkpoint = checkpoint
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        position = try fields.required("position")
        leaf = try fields.required("leaf")
        size = try fields.required("size")
        path = try fields.required("path")
        checkpoint = try fields.required("checkpoint")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("position", position)
            json.field("leaf", leaf)
            json.field("size", size)
            json.field("path", path)
            json.field("checkpoint", checkpoint)
        }
    }
}

/// The proof that a log extends a smaller one.
public struct ConsistencyProof: Hashable, WireObject {
    public var old: Int
    public var new: Int
    public var path: [HexDigest]

    public init(old: Int, new: Int, path: [HexDigest]) {
        self.old = old
        self.new = new
        self.path = path
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        old = try fields.required("old")
        new = try fields.required("new")
        path = try fields.required("path")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("old", old)
            json.field("new", new)
            json.field("path", path)
        }
    }
}

/// The result of a verification on the server.
public struct AuditVerification: Hashable, WireObject {
    /// `sound`, `tampered` or `incomplete`.
    public var verdict: String
    public var entries: Int
    /// The log's size at the newest checkpoint.
    public var size: Int?
    /// A one-word code, if the log was tampered with.
    public var code: String?
    /// A sentence for the user.
    public var message: String?
    public var familyID: FamilyID?
    public var n: Int?
    public var position: Int?
    public var milliseconds: Int

    public init(
        verdict: String, entries: Int, size: Int?, code: String? = nil, message: String? = nil,
        familyID: FamilyID? = nil, n: Int? = nil, position: Int? = nil, milliseconds: Int
    ) {
        self.verdict = verdict
        self.entries = entries
        self.size = size
        self.code = code
        self.message = message
        self.familyID = familyID
        self.n = n
        self.position = position
        self.milliseconds = milliseconds
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        verdict = try fields.required("verdict")
        entries = try fields.required("entries")
        size = try fields.optional("size")
        code = try fields.optional("code")
        message = try fields.optional("message")
        familyID = try fields.optional("family_id")
        n = try fields.optional("n")
        position = try fields.optional("position")
        milliseconds = try fields.required("ms")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("verdict", verdict)
            json.field("entries", entries)
            json.field("size", size)
            json.field("code", code)
            json.field("message", message)
            json.field("family_id", familyID)
            json.field("n", n)
            json.field("position", position)
            json.field("ms", milliseconds)
        }
    }
}
