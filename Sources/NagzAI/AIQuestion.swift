import Domain

/// What an operation is asked about, and the facts that belong to it.
public protocol AIQuestion: Sendable {
    associatedtype Facts: Sendable

    /// - Throws: what the source throws.
    func facts(from source: some FactSource) async throws -> Facts
}

/// A question about one nag, whose facts are taken from the nag's.
public protocol AboutNag: AIQuestion {
    var nagID: NagID { get }

    static func facts(in snapshot: Snapshot<NagFacts>) -> Facts
}

/// About one nag.
public struct NagQuestion: AboutNag, Hashable {
    public var nagID: NagID

    public init(nagID: NagID) { self.nagID = nagID }

    public static func facts(in snapshot: Snapshot<NagFacts>) -> Snapshot<NagFacts> { snapshot }

    public func facts(from source: some FactSource) async throws -> Snapshot<NagFacts> {
        try await source.nagFacts(nagID)
    }
}

/// About the text of an excuse; no facts but the text.
public struct ExcuseQuestion: AboutNag, Hashable {
    public var text: String
    public var nagID: NagID

    public init(text: String, nagID: NagID) {
        self.text = text
        self.nagID = nagID
    }

    public static func facts(in _: Snapshot<NagFacts>) -> NoFacts { NoFacts() }

    public func facts(from _: some FactSource) async throws -> NoFacts { NoFacts() }
}

/// About one member of a family.
public struct MemberQuestion: AIQuestion, Hashable {
    public var userID: UserID
    public var familyID: FamilyID

    public init(userID: UserID, familyID: FamilyID) {
        self.userID = userID
        self.familyID = familyID
    }

    public func facts(from source: some FactSource) async throws -> Snapshot<PatternFacts> {
        try await source.patternFacts(userID: userID, familyID: familyID)
    }
}

/// About a family.
public struct FamilyQuestion: AIQuestion, Hashable {
    public var familyID: FamilyID

    public init(familyID: FamilyID) { self.familyID = familyID }

    public func facts(from source: some FactSource) async throws -> Snapshot<DigestFacts> {
        try await source.digestFacts(familyID: familyID)
    }
}

/// The facts of a question that needs none.
public struct NoFacts: Hashable, Sendable {
    public init() {}
}
