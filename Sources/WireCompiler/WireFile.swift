import JSON

/// One file of declarations, such as `Nags.wire`: the operations of a tag with their parameters and bodies.
public struct WireFile {
    /// The file's name without its extension.
    public var name: String
    public var tag: String?
    /// Whether the answers of its operations name their trace.
    public var isTraced = false
    /// The end of the description of each of its operations.
    public var closing = ""
    public var operations: [OperationDeclaration] = []
    public var records: [Record] = []
    public var schemas: [Schema] = []
    public var scalars: [Scalar] = []
    public var enumerations: [Enumeration] = []
}

/// An operation of the API.
public struct OperationDeclaration {
    public var id: String
    public var method: String
    public var path: String
    public var summary: String
    public var description = ""

    /// Whether its clients sign in.
    public enum Access: String {
        case bearer, open
        /// Open, with more for those who have signed in.
        case optional
    }

    /// The Swift types of its parameters, body and answer; nil where it has none.
    public var parameters: String?
    public var body: String?
    public var answer: String?
    public var isBodyOptional = false
    public var successStatus = 200
    public var access = Access.bearer
    public var tier: String?
    public var bodyLimit: String?
    /// The statuses of its errors, without those that follow from its other terms.
    public var errors: [String] = []
    /// The request headers that it reads, besides those that every operation reads.
    public var headers: [String] = []
    public var tag = ""
    /// Whether its answers name their trace.
    public var isTraced = false
    /// The end of its description, which it shares with the other operations of its file.
    public var closing = ""
    /// The name of the AI operation that it asks for, in Swift; nil for other operations.
    public var aiOperation: String?
    /// Parts of the document that do not follow from the rest: by `answer`, `body`, `parameter NAME`, `response STATUS`.
    public var overrides: [String: JSONValue] = [:]
    /// The description of the success response, where it is not the usual one.
    public var outcome: String?
}

/// An object of the wire: the body of a request or response, or the parameters of an operation.
public struct Record {
    /// Its role decides how absent values are encoded, and what the document requires.
    public enum Role: String {
        /// A body that clients send: values that are not set are omitted.
        case request
        /// A body that the server sends: values that are not set are null.
        case response
        /// Path and query parameters.
        case parameters
    }

    public var role: Role
    public var name: String
    public var description: String
    /// Whether the Swift type is written by hand, so that only the document is generated.
    public var isByHand = false
    /// Whether another module declares the Swift type, which is extended here.
    public var isExtension = false
    /// Whether the Swift type has a method `check()`, which refuses values after all members were decoded.
    public var isChecked = false
    /// Whether the document has its members only where others include them.
    public var isUnpublished = false
    /// The Swift type of the question that a request to the AI has in its members without default.
    public var question: String?
    /// Names that it must not have, and why.
    public var refused: (names: [String], message: String)?
    /// Further keywords of its schema.
    public var keywords: JSONValue?
    public var members: [Member] = []
}

/// A member of a record.
public enum Member {
    case field(Field)
    /// The members of another record, read into one property; nil for the members of a record that is written by hand.
    case include(property: String?, type: String, fallback: String?)
}

/// A field with its name, its type and a sentence.
public struct Field {
    /// The wire name, and further names of a query parameter.
    public var names: [String]
    public var property: String
    /// Whether it is a parameter of the path; a parameter of the query otherwise.
    public var isInPath = false
    public var type: FieldType
    /// The Swift expression that stands for an absent value.
    public var fallback: String?
    /// Whether null stands for an absent value too.
    public var isLenient = false
    /// The Swift expression of the initialiser's default, where it is no fallback of the decoder.
    public var initial: String?
    /// The method of `FieldReader` that decodes it, with its arguments: `name(255)`.
    public var reader: String?
    public var flags: Set<Flag> = []
    /// Keywords of its schema, besides those that follow from the type; with a `type`, a `$ref` or an `anyOf`, all.
    public var keywords: JSONValue?
    public var description: String

    /// A property of a field that does not follow from its type and its record's role.
    public enum Flag: String {
        /// Encoded although the type does not store it.
        case computed
        /// Omitted when it is nil, or has its default, although the record is a response.
        case omitted
        /// Encoded as null when it is nil, although the record is a request.
        case nulled
        /// Without a default in the initialiser.
        case given
        /// Never a parameter, although its record is one of parameters elsewhere: addresses reach logs.
        case bodyOnly
        /// Required by the document, or not, against the rule.
        case required, unrequired
    }
}

/// The Swift type of a field.
public struct FieldType {
    /// Without optionality, `Patch<>` and bounds.
    public var base: String
    public var isOptional = false
    public var isPatch = false
    /// The Swift expression of the bounds: of a text's length, or of a number.
    public var bounds: String?
    /// The bounds as numbers.
    public var range: ClosedRange<Int>?

    /// As the property is declared.
    var swift: String { isPatch ? "Patch<\(base)>" : isOptional ? base + "?" : base }
}

/// A schema of the document that no record describes: an enumeration, or alternatives.
public struct Schema {
    public var name: String
    public var json: JSONValue
    public var description: String
}

/// An enumeration of Swift, with the values that its declaration has.
public struct Enumeration {
    public var swift: String
    public var values: [String]
}

/// Types that are strings or numbers in JSON.
public struct Scalar {
    public var names: [String]
    public var json: JSONValue
}
