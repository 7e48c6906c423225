import Domain

/// A question that an operation answers. It reads the facts that its answer needs.
public protocol AIQuestion: Sendable {
    associatedtype Facts: Sendable

    /// The person's own words; empty for a question about records alone.
    var ownWords: String { get }

    /// Whether the words stay on the device if it may answer. If false, the person's choices and token limit decide
    /// whether the words go to the server.
    var keepsWordsOnDevice: Bool { get }

    /// Reads the facts that belong to the question.
    /// - Throws: the errors of the source.
    func facts(from source: some FactSource) async throws -> Facts
}

extension AIQuestion {
    public var ownWords: String { "" }
    public var keepsWordsOnDevice: Bool { true }
}

/// A question whose facts are those of one nag, or a part of them.
public protocol NagRelatedQuestion: AIQuestion {
    var nagID: NagID { get }

    /// Returns the question's facts, taken from those of its nag.
    static func facts(in snapshot: Snapshot<NagFacts>) -> Facts
}

/// A question about one nag.
public struct NagQuestion: NagRelatedQuestion, Hashable {
    public var nagID: NagID

    public init(nagID: NagID) { self.nagID = nagID }

    public static func facts(in snapshot: Snapshot<NagFacts>) -> Snapshot<NagFacts> { snapshot }

    public func facts(from source: some FactSource) async throws -> Snapshot<NagFacts> {
        try await source.nagFacts(nagID)
    }
}

/// A question about the text of an excuse. It needs no other facts.
public struct ExcuseQuestion: NagRelatedQuestion, Hashable {
    public var text: String
    public var nagID: NagID

    public init(text: String, nagID: NagID) {
        self.text = text
        self.nagID = nagID
    }

    public var ownWords: String { text }

    public static func facts(in _: Snapshot<NagFacts>) -> NoFacts { NoFacts() }

    public func facts(from _: some FactSource) async throws -> NoFacts { NoFacts() }
}

/// A question about one member of a family.
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

/// A question about a family.
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
