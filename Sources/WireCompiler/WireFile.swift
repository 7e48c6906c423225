import JSON

/// One file of declarations, such as `Nags.wire`: the operations of a tag with their parameters and bodies.
public struct WireFile {
    /// The file's name without its extension.
    public var name: String
    /// The tag of its operations; nil if the file has none.
    public var tag: String?
    /// Whether the responses of its operations contain the ID of their trace.
    public var isTraced = false
    /// The paragraphs that end the description of each of its operations.
    public var closingParagraphs = ""
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

    /// The authentication that clients need.
    public enum Access: String {
        /// An access token.
        case bearer
        /// No authentication.
        case open
        /// Open, with a larger response for clients with a token.
        case optional
    }

    /// The Swift types of its parameters, body and response; nil if it has none.
    public var parameters: String?
    public var body: String?
    public var answer: String?
    public var isBodyOptional = false
    public var successStatus = 200
    public var access = Access.bearer
    /// The Swift name of the tier of its rate limit; nil for the tier that follows from method and path.
    public var tier: String?
    /// The Swift expression of the maximum number of bytes of its body; nil for the server's limit.
    public var bodyLimitExpression: String?
    /// The statuses of its errors, without those of every operation and those that follow from its other clauses.
    public var ownErrorStatuses: [String] = []
    /// The request headers that it reads, besides those that every operation reads.
    public var ownRequestHeaders: [String] = []
    public var tag = ""
    /// Whether its responses contain the ID of their trace.
    public var isTraced = false
    /// The paragraphs at the end of its description that all operations of its file share.
    public var closingParagraphs = ""
    /// The Swift name of the AI operation that it starts; nil for other operations.
    public var aiOperation: String?
    /// Parts of the document that do not follow from other clauses, by `answer`, `body`, `parameter NAME`, `response
    /// STATUS`.
    public var overrides: [String: JSONValue] = [:]
    /// The description of the success response; nil for the default one.
    public var successDescription: String?
}

/// A JSON object or a set of parameters: the body of a request or response, or the parameters of an operation.
public struct Record {
    /// The role of a record, which decides how absent values are encoded, and which members the document requires.
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
    /// Whether the Swift type is handwritten, so that only the document is generated.
    public var isHandwritten = false
    /// Whether another module declares the Swift type, which is extended here.
    public var isExtension = false
    /// Whether the Swift type has a method `check()`, which refuses values after all members were decoded.
    public var hasCheckMethod = false
    /// Whether the document has no schema for it, but only its members where other records include them.
    public var isUnpublished = false
    /// The Swift type of the question to the AI that consists of the members without default; nil for other records.
    public var questionType: String?
    /// The names of members that are refused, and the message; nil if there are none.
    public var refusal: (names: [String], message: String)?
    /// Additional keywords of its schema.
    public var keywords: JSONValue?
    public var members: [Member] = []
}

/// A member of a record.
public enum Member {
    case field(Field)
    /// The members of another record, in one property; the property is nil if the Swift type is handwritten. `fallback`
    /// is the Swift expression of the property's default in the initialiser; nil for none.
    case include(property: String?, type: String, fallback: String?)
}

/// A field of a record.
public struct Field {
    /// The wire name, and further names of a query parameter.
    public var names: [String]
    public var property: String
    /// Whether it is a parameter of the path, not of the query.
    public var isInPath = false
    public var type: FieldType
    /// The Swift expression that replaces an absent value.
    public var fallback: String?
    /// Whether null is treated like an absent value.
    public var treatsNullAsAbsent = false
    /// The Swift expression of the initialiser's default, if it differs from the decoder's.
    public var initialValue: String?
    /// The method of `FieldReader` that decodes it, with its arguments, such as `name(255)`.
    public var reader: String?
    public var flags: Set<Flag> = []
    /// Keywords of its schema, in addition to those that follow from the type. If they contain `type`, `$ref` or
    /// `anyOf`, they are the complete schema.
    public var keywords: JSONValue?
    public var description: String

    /// A property of a field that does not follow from its type and its record's role.
    public enum Flag: String {
        /// Encoded although the type does not store it.
        case computed
        /// Omitted when it is nil or has its default, although the record's role alone would encode it.
        case omitted
        /// Encoded as null when it is nil, although the record is a request.
        case nulled
        /// Without a default in the initialiser.
        case withoutDefault = "given"
        /// Never a parameter, although its record is also used for parameters: URLs are logged.
        case bodyOnly
        /// Required by the document, or not required, contrary to the rule.
        case required, unrequired
    }
}

/// The Swift type of a field.
public struct FieldType {
    /// The type without optionality, `Patch<>` and bounds.
    public var base: String
    public var isOptional = false
    public var isPatch = false
    /// The Swift expression of the bounds of a text's length, or of a number.
    public var boundsExpression: String?
    /// The declared bounds as numbers.
    public var range: ClosedRange<Int>?

    /// The type with which the property is declared.
    var swiftType: String { isPatch ? "Patch<\(base)>" : isOptional ? base + "?" : base }
}

/// A schema of the document that is not a record: an enumeration, or alternatives.
public struct Schema {
    public var name: String
    public var json: JSONValue
    public var description: String
}

/// An enumeration: the name of its Swift type, and the declared values.
public struct Enumeration {
    public var swiftName: String
    public var values: [String]
}

/// The schema of types that are strings or numbers in JSON.
public struct Scalar {
    public var names: [String]
    public var json: JSONValue
}
