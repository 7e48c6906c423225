import Domain
import JSON
import NagzAI

/// A question that nobody asked.
public struct SimulatedQuestion: Hashable, WireObject {
    /// At most 10,000 characters.
    public var content: String
    /// The number of tokens; nil for an estimate from the content.
    public var tokenCount: Int?
    public var intent: QuestionIntent?
    public var privacyLevel: PrivacyLevel
    public var requiresOffline: Bool

    public init(
        content: String, tokenCount: Int? = nil, intent: QuestionIntent? = nil, privacyLevel: PrivacyLevel = .auto,
        requiresOffline: Bool = false
    ) {
        self.content = content
        self.tokenCount = tokenCount
        self.intent = intent
        self.privacyLevel = privacyLevel
        self.requiresOffline = requiresOffline
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        content = try fields.text("content", 0...SimulatedCase.contentLength)
        tokenCount = try fields.optionalInteger("token_count", ConstraintLimit.tokens)
        intent = try fields.optional("intent")
        privacyLevel = try fields.required("privacy_level")
        requiresOffline = try fields.defaulted("require_offline", to: false)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("content", content)
            json.field("token_count", tokenCount)
            json.field("intent", intent)
            json.field("privacy_level", privacyLevel)
            json.field("require_offline", requiresOffline)
        }
    }
}

/// A question and what the router would know when it is asked.
public struct SimulatedCase: Hashable, WireObject {
    public static let contentLength = 10_000
    public static let modelNameLength = 100

    public var question: SimulatedQuestion
    public var state: RuntimeState?

    public init(question: SimulatedQuestion, state: RuntimeState? = nil) {
        self.question = question
        self.state = state
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        question = try fields.required("question")
        state = try fields.optional("state")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("question", question)
            json.field("state", state)
        }
    }
}

/// A constraint that need not be saved.
public struct SimulatedConstraint: Hashable, WireObject {
    /// The id; nil for the constraint's place in the list, counted from 1.
    public var id: ConstraintID?
    public var terms: ConstraintTerms

    public init(id: ConstraintID? = nil, terms: ConstraintTerms) {
        self.id = id
        self.terms = terms
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        id = try fields.optional("id")
        terms = try ConstraintTerms(fields)
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id)
            terms.writeFields(to: &json)
        }
    }
}

/// Questions to try constraints on.
public struct ConstraintSimulation: Hashable, WireObject {
    public static let caseCounts = 1...1_000

    public var familyID: FamilyID
    public var cases: [SimulatedCase]
    /// The constraints in place of the saved ones; nil for those that apply to the caller.
    public var constraints: [SimulatedConstraint]?

    public init(familyID: FamilyID, cases: [SimulatedCase], constraints: [SimulatedConstraint]? = nil) {
        self.familyID = familyID
        self.cases = cases
        self.constraints = constraints
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        cases = try fields.required("cases")
        guard Self.caseCounts.contains(cases.count) else {
            throw InvalidInput("must have 1 to \(Self.caseCounts.upperBound) cases", field: "cases")
        }
        constraints = try fields.optional("constraints")
        guard constraints?.count ?? 0 <= ConstraintDocument.most else {
            throw InvalidInput("must have at most \(ConstraintDocument.most) constraints", field: "constraints")
        }
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("cases", cases)
            json.fieldIfPresent("constraints", constraints)
        }
    }
}

/// The results of policy and router for each case, in the order of the cases.
public struct SimulationAnswer: Hashable, WireObject {
    public var results: [SimulationResult]

    public init(results: [SimulationResult]) {
        self.results = results
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        results = try fields.required("results")
    }

    public func write(to json: inout JSONWriter) {
        json.object { $0.field("results", results) }
    }
}
