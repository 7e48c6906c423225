import Domain

extension API {
    /// One entry with its proof.
    public static let getAuditEvent = Endpoint<AuditEntryPath, NoBody, AuditEntryDetail>(
        Operation("getAuditEvent", .get, "/api/v1/audit/events/{family_id}/{n}", tag: .audit))

    /// The audit log as a file: one JSON object a line.
    public static let exportAuditLog = Endpoint<AuditExportQuery, NoBody, PlainText>(
        Operation("exportAuditTrail", .get, "/api/v1/audit/export", tag: .audit))

    /// Lets the server check an audit log.
    public static let verifyAuditLog = Endpoint<AuditScopeQuery, NoBody, AuditVerification>(
        Operation("verifyAuditTrail", .get, "/api/v1/audit/verify", tag: .audit))

    /// How the log stands.
    public static let getAuditStatus = Endpoint<NoParameters, NoBody, AuditStatus>(
        Operation("getAuditStatus", .get, "/api/v1/audit/status", tag: .audit))

    /// The families whose audit logs the caller may read.
    public static let listAuditFamilies = Endpoint<AuditFamiliesQuery, NoBody, AuditFamilies>(
        Operation("listAuditFamilies", .get, "/api/v1/audit/families", tag: .audit))

    /// How much of what happened when.
    public static let getAuditActivity = Endpoint<AuditActivityQuery, NoBody, AuditActivity>(
        Operation("getAuditActivity", .get, "/api/v1/audit/activity", tag: .audit))

    /// That a log is the continuation of a smaller one.
    public static let proveAuditConsistency = Endpoint<ConsistencyQuery, NoBody, ConsistencyProof>(
        Operation("proveAuditConsistency", .get, "/api/v1/audit/proof/consistency", tag: .audit, access: .open))

    /// The newest checkpoint, as C2SP tlog-checkpoint.
    public static let getAuditCheckpoint = Endpoint<NoParameters, NoBody, PlainText>(
        Operation("getAuditCheckpoint", .get, "/api/v1/audit/log/checkpoint", tag: .audit, access: .open))

    /// The keys the log is and was signed with.
    public static let listAuditKeys = Endpoint<NoParameters, NoBody, AuditKeys>(
        Operation("listAuditKeys", .get, "/api/v1/audit/log/keys", tag: .audit, access: .open))

    /// A tile of hashes, as C2SP tlog-tiles: the first 256,000 leaves.
    public static let getAuditTile = Endpoint<TilePath, NoBody, Bytes>(
        Operation("getAuditTile", .get, "/api/v1/audit/log/tile/{level}/{first}", tag: .audit, access: .open))

    /// A tile with a name of two parts.
    public static let getAuditTileOfTwo = Endpoint<TilePathOfTwo, NoBody, Bytes>(
        Operation(
            "getAuditTileOfTwo", .get, "/api/v1/audit/log/tile/{level}/{first}/{second}", tag: .audit, access: .open))

    /// A tile with a name of three parts.
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

/// One entry of one family.
public struct AuditEntryPath: WireParameters, Hashable {
    public var familyID: FamilyID
    /// A whole number from 1.
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

    /// Nil for what is no number of an entry.
    public var number: Int64? {
        guard n.utf8.count <= 18, n.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(n)
    }
}

/// One family, or all that the caller may read.
public struct AuditScopeQuery: WireParameters, Hashable {
    public var familyID: FamilyID?

    public init(familyID: FamilyID? = nil) { self.familyID = familyID }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.optionalQuery("family_id")
    }

    public func write(to parameters: inout ParameterWriter) { parameters.query("family_id", familyID) }
}

/// What to export, and behind which line an interrupted export goes on.
public struct AuditExportQuery: WireParameters, Hashable {
    public var familyID: FamilyID?
    /// Of one family the last number received; of all the last log position.
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

/// A page of families by name.
public struct AuditFamiliesQuery: WireParameters, Hashable {
    /// What the name contains, an id, or its last eight digits.
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

/// Of whom, and of what time.
public struct AuditActivityQuery: WireParameters, Hashable {
    public var familyID: FamilyID?
    public var from: Timestamp?
    public var to: Timestamp?
    /// Of the IANA database; UTC by default.
    public var timeZone: String?

    public init(familyID: FamilyID? = nil, from: Timestamp? = nil, to: Timestamp? = nil, timeZone: String? = nil) {
        self.familyID = familyID
        self.from = from
        self.to = to
        self.timeZone = timeZone
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.optionalQuery("family_id")
        from = try parameters.optionalQuery("from")
        to = try parameters.optionalQuery("to")
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

/// A tile's level and its name in groups of three digits, the last of which may be a part of a tile: `067.p/8`.
public protocol TileName: WireParameters {
    var level: String { get }
    var parts: [String] { get }
}

/// A name of one part.
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

/// A name of two parts.
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

/// A name of three parts.
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
