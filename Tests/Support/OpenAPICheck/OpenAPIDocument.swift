import JSON

/// An OpenAPI 3.1 document, for tests that compare requests and responses with it.
public struct OpenAPIDocument: Sendable {
    let root: JSONValue
    public private(set) var operations: [DescribedOperation] = []
    /// The schemas under `components`, by the reference to them.
    private let schemas: [String: JSONValue]

    public init(_ root: JSONValue) {
        self.root = root
        let members = root["components"]?["schemas"]?.objectValue?.members ?? []
        schemas = Dictionary(
            members.map { ("#/components/schemas/\($0.key)", $0.value) }, uniquingKeysWith: { first, _ in first })
        operations = root["paths"]?.objectValue.map(operations(in:)) ?? []
    }

    /// The version of the API.
    public var version: String? { root["info"]?["version"]?.stringValue }

    /// The description of each tag, by the tag's name.
    public var tagDescriptions: [String: String] {
        (root["tags"]?.arrayValue ?? []).reduce(into: [:]) { descriptions, tag in
            descriptions[tag["name"]?.stringValue ?? ""] = tag["description"]?.stringValue ?? ""
        }
    }

    /// The descriptions of parameters, of operations and of components.
    public var parameterDescriptions: Set<String> {
        var parameters = root["components"]?["parameters"]?.objectValue?.members.map(\.value) ?? []
        for operation in described { parameters += operation["parameters"]?.arrayValue ?? [] }
        return Set(parameters.compactMap { $0["description"]?.stringValue })
    }

    /// The descriptions of responses, of operations and of components.
    public var responseDescriptions: Set<String> {
        var responses = root["components"]?["responses"]?.objectValue?.members.map(\.value) ?? []
        for operation in described { responses += operation["responses"]?.objectValue?.members.map(\.value) ?? [] }
        return Set(responses.compactMap { $0["description"]?.stringValue })
    }

    /// The descriptions of component schemas, by name.
    public var schemaDescriptions: [String: String] {
        (root["components"]?["schemas"]?.objectValue?.members ?? []).reduce(into: [:]) { descriptions, schema in
            descriptions[schema.key] = schema.value["description"]?.stringValue
        }
    }

    /// The descriptions of the properties in component schemas, and of their parts, by their place. A description is
    /// empty if there is none. A property that refers to a component has the component's description.
    public var propertyDescriptions: [String: String] {
        var descriptions: [String: String] = [:]
        for schema in root["components"]?["schemas"]?.objectValue?.members ?? [] {
            Self.describe(schema.value, at: schema.key, into: &descriptions)
            descriptions[schema.key] = nil
        }
        return descriptions
    }

    private static func describe(_ schema: JSONValue, at place: String, into descriptions: inout [String: String]) {
        if let text = schema["description"]?.stringValue { descriptions[place] = text }
        for property in schema["properties"]?.objectValue?.members ?? [] {
            let place = "\(place).\(property.key)"
            describe(property.value, at: place, into: &descriptions)
            if property.value["$ref"] == nil { descriptions[place] = descriptions[place] ?? "" }
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            for part in schema[key]?.arrayValue ?? [] { describe(part, at: place, into: &descriptions) }
        }
        if let items = schema["items"] { describe(items, at: "\(place)[]", into: &descriptions) }
    }

    /// The example of each error response under `components`, by the response's name.
    public var errorExamples: [String: JSONValue] {
        (root["components"]?["responses"]?.objectValue?.members ?? []).reduce(into: [:]) { examples, response in
            examples[response.key] = response.value["content"]?["application/json"]?["example"]
        }
    }

    /// The operations, in the order of the document.
    private var described: [JSONValue] {
        (root["paths"]?.objectValue?.members ?? []).flatMap { $0.value.objectValue?.members.map(\.value) ?? [] }
    }

    /// The schema of the JSON body that the server sends to a webhook.
    public func webhookSchema(_ name: String) -> JSONValue? {
        root["webhooks"]?[name]?["post"]?["requestBody"]?["content"]?["application/json"]?["schema"]
    }

    /// The description of the whole API.
    public var introduction: String { root["info"]?["description"]?.stringValue ?? "" }

    /// The names of the schemas under `components`.
    public var schemaNames: [String] {
        root["components"]?["schemas"]?.objectValue?.members.map(\.key) ?? []
    }

    /// The component schema with that name.
    public func schema(_ name: String) -> JSONValue? { schemas["#/components/schemas/\(name)"] }

    /// The operation with that method and path; the path may be a template or match one. If several templates match,
    /// the one with the fewest parameters.
    public func operation(_ method: String, _ path: String) -> DescribedOperation? {
        let segments = path.prefix { $0 != "?" }.split(separator: "/")
        return operations.filter { $0.method == method && $0.fits(segments) }
            .min { $0.parameterSegments < $1.parameterSegments }
    }

    /// The schema of a response's JSON body; nil if the status is not described or has no JSON body.
    public func responseSchema(_ operation: DescribedOperation, status: Int) -> JSONValue? {
        response(operation, status: status)?["content"]?["application/json"]?["schema"]
    }

    /// The errors of a JSON response with that status. An undescribed operation or status is an error too.
    public func checkResponse(_ method: String, _ path: String, status: Int, body: JSONValue?) -> [Violation] {
        guard let operation = operation(method, path) else {
            return [Violation(place: "", message: "no operation \(method) \(path)")]
        }
        guard let response = response(operation, status: status) else {
            return [Violation(place: "", message: "\(operation.id) describes no status \(status)")]
        }
        let schema = response["content"]?["application/json"]?["schema"]
        switch (schema, body) {
        case (let schema?, let body?): return check(body, schema: schema)
        case (nil, nil): return []
        case (nil, _?): return [Violation(place: "", message: "\(operation.id) \(status) has no JSON body")]
        case (_?, nil): return [Violation(place: "", message: "\(operation.id) \(status) needs a JSON body")]
        }
    }

    private func response(_ operation: DescribedOperation, status: Int) -> JSONValue? {
        root["paths"]?[operation.path]?[operation.method.lowercased()]?["responses"]?[String(status)].map(resolved)
    }

    /// Follows `$ref` (local references only, a few steps).
    func resolved(_ value: JSONValue) -> JSONValue {
        var value = value
        for _ in 0..<8 {
            guard let reference = value["$ref"]?.stringValue else { return value }
            value = schemas[reference] ?? target(of: reference) ?? .null
        }
        return value
    }

    private func target(of reference: String) -> JSONValue? {
        reference.dropFirst(2).split(separator: "/").reduce(root) { $0?[String($1)] }
    }

    private func operations(in paths: JSONObject) -> [DescribedOperation] {
        paths.members.flatMap { path in
            (path.value.objectValue?.members ?? []).map { method in
                DescribedOperation(
                    method: method.key.uppercased(), path: path.key, description: method.value, document: self)
            }
        }
    }
}

/// One operation of the document.
public struct DescribedOperation: Sendable {
    /// Whether a token is required, optional or not used.
    public enum Security: Sendable {
        case open, bearer, optional
    }

    /// A parameter of the operation.
    public struct Parameter: Hashable, Sendable {
        public let name: String
        /// `path`, `query` or `header`.
        public let place: String
        public let isRequired: Bool
        /// The value that a request without it has; nil if the schema names none.
        public let standard: JSONValue?
        /// The values that the schema lists; empty if it lists none.
        public let values: [JSONValue]
    }

    public let id: String
    public let summary: String
    public let description: String
    public let method: String
    public let path: String
    private let segments: [Substring]
    public let tags: [String]
    public let statuses: [Int]
    public let security: Security
    public let parameters: [Parameter]
    /// The component schema of the JSON request body, if there is one.
    public let bodySchema: String?
    public let isBodyRequired: Bool

    init(method: String, path: String, description: JSONValue, document: OpenAPIDocument) {
        self.method = method
        self.path = path
        segments = path.split(separator: "/")
        id = description["operationId"]?.stringValue ?? ""
        summary = description["summary"]?.stringValue ?? ""
        self.description = description["description"]?.stringValue ?? ""
        tags = (description["tags"]?.arrayValue ?? []).compactMap(\.stringValue)
        statuses = (description["responses"]?.objectValue?.members ?? []).compactMap { Int($0.key) }
        let choices = description["security"]?.arrayValue ?? []
        let isFree = choices.contains { $0.objectValue?.isEmpty == true }
        security = choices.isEmpty ? .open : isFree ? .optional : .bearer
        parameters = (description["parameters"]?.arrayValue ?? []).map(document.resolved).map { parameter in
            Parameter(
                name: parameter["name"]?.stringValue ?? "", place: parameter["in"]?.stringValue ?? "",
                isRequired: parameter["required"]?.boolValue ?? false, standard: parameter["schema"]?["default"],
                values: parameter["schema"].map(document.resolved)?["enum"]?.arrayValue ?? [])
        }
        let body = description["requestBody"]
        let reference = body?["content"]?["application/json"]?["schema"]?["$ref"]?.stringValue
        bodySchema = reference?.split(separator: "/").last.map(String.init)
        isBodyRequired = body?["required"]?.boolValue ?? false
    }

    /// The only success status.
    public var successStatus: Int? { statuses.first { (200..<300).contains($0) } }

    var parameterSegments: Int { segments.count { $0.hasPrefix("{") } }

    func fits(_ concrete: [Substring]) -> Bool {
        segments.count == concrete.count && zip(segments, concrete).allSatisfy { $0 == $1 || $0.hasPrefix("{") }
    }
}
