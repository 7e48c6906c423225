import Domain

extension API {
    /// Get one entry with its inclusion proof.
    public static let getAuditEvent = Endpoint<AuditEntryPath, NoBody, AuditEntryDetail>(
        Operation("getAuditEvent", .get, "/api/v1/audit/events/{family_id}/{n}", tag: .audit))

    /// Export the audit log: one JSON object per line.
    public static let exportAuditLog = Endpoint<AuditExportQuery, NoBody, PlainText>(
        Operation("exportAuditLog", .get, "/api/v1/audit/export", tag: .audit))

    /// Verify an audit log on the server.
    public static let verifyAuditLog = Endpoint<AuditScopeQuery, NoBody, AuditVerification>(
        Operation("verifyAuditLog", .get, "/api/v1/audit/verify", tag: .audit))

    /// Get the status of the Merkle log.
    public static let getAuditStatus = Endpoint<NoParameters, NoBody, AuditStatus>(
        Operation("getAuditStatus", .get, "/api/v1/audit/status", tag: .audit))

    /// List the families whose audit logs the caller may read.
    public static let listAuditFamilies = Endpoint<AuditFamiliesQuery, NoBody, AuditFamilies>(
        Operation("listAuditFamilies", .get, "/api/v1/audit/families", tag: .audit))

    /// Count audit entries over time.
    public static let getAuditActivity = Endpoint<AuditActivityQuery, NoBody, AuditActivity>(
        Operation("getAuditActivity", .get, "/api/v1/audit/activity", tag: .audit))

    /// Get the proof that a log extends a smaller one.
    public static let proveAuditConsistency = Endpoint<ConsistencyQuery, NoBody, ConsistencyProof>(
        Operation("proveAuditConsistency", .get, "/api/v1/audit/proof/consistency", tag: .audit, access: .open))

    /// Get the newest checkpoint in the format C2SP tlog-checkpoint.
    public static let getAuditCheckpoint = Endpoint<NoParameters, NoBody, PlainText>(
        Operation("getAuditCheckpoint", .get, "/api/v1/audit/log/checkpoint", tag: .audit, access: .open))

    /// List the current and former signing keys of the log.
    public static let listAuditKeys = Endpoint<NoParameters, NoBody, AuditKeys>(
        Operation("listAuditKeys", .get, "/api/v1/audit/log/keys", tag: .audit, access: .open))

    /// Get a tile of hashes in the format C2SP tlog-tiles: the first 256,000 leaves.
    public static let getAuditTile = Endpoint<TilePath, NoBody, Bytes>(
        Operation("getAuditTile", .get, "/api/v1/audit/log/tile/{level}/{first}", tag: .audit, access: .open))

    /// Get a tile whose name has two parts.
    public static let getAuditTileOfTwo = Endpoint<TilePathOfTwo, NoBody, Bytes>(
        Operation(
            "getAuditTileOfTwo", .get, "/api/v1/audit/log/tile/{level}/{first}/{second}", tag: .audit, access: .open))

    /// Get a tile whose name has three parts.
    public static let getAuditTileOfThree = Endpoint<TilePathOfThree, NoBody, Bytes>(
        Operation(
            "getAuditTileOfThree", .get, "/api/v1/audit/log/tile/{level}/{first}/{second}/{third}", tag: .audit,
            access: .open))

    static let auditLogOperations: [Operation] = [
        getAuditEvent.operation, exportAuditLog.operation, verifyAuditLog.operation, getAuditStatus.operation,
        listAuditFamilies.operation, getAuditActivity.operation, proveAuditConsistency.operation,
        getAuditCheckpoint.operation, listAuditKeys.operation, getAuditTile.operation, getAuditTileOfTwo.operation,
        getAuditTileOfThree.operation,
    ]
}

// MARK: Parameters

/// Path parameters: one entry of a family.
public struct AuditEntryPath: WireParameters, Hashable {
    public var familyID: FamilyID
    /// The entry's number, from 1.
    public var n: String

    public init(familyID: FamilyID, n: Int) {
        self.familyID = familyID
        self.n = String(n)
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.path("family_id")
        n = try parameters.path("n")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("family_id", familyID)
        parameters.path("n", n)
    }

    /// The entry's number; nil if `n` is not a number of at most 18 digits.
    public var number: Int64? {
        guard n.utf8.count <= 18, n.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(n)
    }
}

/// One family, or all families that the caller may read.
public struct AuditScopeQuery: WireParameters, Hashable {
    public var familyID: FamilyID?

    public init(familyID: FamilyID? = nil) { self.familyID = familyID }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.optionalQuery("family_id")
    }

    public func write(to parameters: inout ParameterWriter) { parameters.query("family_id", familyID) }
}

/// The scope of an export, and the line after which to resume.
public struct AuditExportQuery: WireParameters, Hashable {
    public var familyID: FamilyID?
    /// The last entry number received (of one family), or the last log position received (of all families).
    public var after: Int?

    public init(familyID: FamilyID? = nil, after: Int? = nil) {
        self.familyID = familyID
        self.after = after
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.optionalQuery("family_id")
        after = try parameters.optionalInteger("after")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        if let after { parameters.query("after", after) }
    }
}

/// A search for families by name, in pages.
public struct AuditFamiliesQuery: WireParameters, Hashable {
    /// A part of the name, an ID, or its last eight digits.
    public var q: String?
    public var cursor: String?

    public init(q: String? = nil, cursor: String? = nil) {
        self.q = q
        self.cursor = cursor
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        q = try parameters.optionalQuery("q")
        cursor = try parameters.optionalQuery("cursor")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("q", q)
        parameters.query("cursor", cursor)
    }
}

/// The family and period to count.
public struct AuditActivityQuery: WireParameters, Hashable {
    public var familyID: FamilyID?
    public var from: Timestamp?
    public var to: Timestamp?
    /// A zone of the IANA time zone database; nil means UTC.
    public var timeZone: String?

    public init(familyID: FamilyID? = nil, from: Timestamp? = nil, to: Timestamp? = nil, timeZone: String? = nil) {
        self.familyID = familyID
        self.from = from
        self.to = to
        self.timeZone = timeZone
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.optionalQuery("family_id")
        from = try parameters.optionalQuery("from", or: "from_date", "since")
        to = try parameters.optionalQuery("to", or: "to_date", "until")
        timeZone = try parameters.optionalQuery("time_zone")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        parameters.query("from", from)
        parameters.query("to", to)
        parameters.query("time_zone", timeZone)
    }
}

/// Two sizes of the log.
public struct ConsistencyQuery: WireParameters, Hashable {
    public var old: Int
    public var new: Int

    public init(old: Int, new: Int) {
        self.old = old
        self.new = new
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        guard let old = try parameters.optionalInteger("old") else { throw InvalidInput("is required", field: "old") }
        guard let new = try parameters.optionalInteger("new") else { throw InvalidInput("is required", field: "new") }
        self.init(old: old, new: new)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("old", old)
        parameters.query("new", new)
    }
}

/// A tile's level and its name in groups of three digits. The last group may denote a partial tile: `067.p/8`.
public protocol TileName: WireParameters {
    var level: String { get }
    var parts: [String] { get }
}

/// A tile name of one part.
public struct TilePath: TileName, Hashable {
    public var level: String
    public var first: String
    public var parts: [String] { [first] }

    public init(level: String, first: String) {
        self.level = level
        self.first = first
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        level = try parameters.path("level")
        first = try parameters.path("first")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("level", level)
        parameters.path("first", first)
    }
}

/// A tile name of two parts.
public struct TilePathOfTwo: TileName, Hashable {
    public var level: String
    public var first: String
    public var second: String
    public var parts: [String] { [first, second] }

    public init(level: String, first: String, second: String) {
        self.level = level
        self.first = first
        self.second = second
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        level = try parameters.path("level")
        first = try parameters.path("first")
        second = try parameters.path("second")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("level", level)
        parameters.path("first", first)
        parameters.path("second", second)
    }
}

/// A tile name of three parts.
public struct TilePathOfThree: TileName, Hashable {
    public var level: String
    public var first: String
    public var second: String
    public var third: String
    public var parts: [String] { [first, second, third] }

    public init(level: String, first: String, second: String, third: String) {
        self.level = level
        self.first = first
        self.second = second
        self.third = third
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        level = try parameters.path("level")
        first = try parameters.path("first")
        second = try parameters.path("second")
        third = try parameters.path("third")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("level", level)
        parameters.path("first", first)
        parameters.path("second", second)
        parameters.path("third", third)
    }
}
