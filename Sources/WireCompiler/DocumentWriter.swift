import JSON

/// Writes the OpenAPI document of all declarations.
///
/// The frame contains everything that no declaration contains (title, servers, tags, webhooks, common headers and
/// responses). It is a document without paths, with only those schemas that no record can describe.
public struct DocumentWriter {
    private let files: [WireFile]
    private let records: [String: Record]
    /// The names of the types to which the document refers by `$ref`.
    private let referencedNames: Set<String>
    private let scalars: [String: JSONValue]
    private let frame: JSONValue

    public init(_ files: [WireFile], frame: JSONValue) {
        self.files = files
        self.frame = frame
        let allRecords = files.flatMap(\.records)
        records = Dictionary(allRecords.map { ($0.name, $0) }) { first, _ in first }
        let frameSchemas = frame["components"]?["schemas"]?.objectValue?.members.map(\.key) ?? []
        referencedNames = Set(
            allRecords.filter { $0.role != .parameters && !$0.isUnpublished }.map(\.name)
                + files.flatMap(\.schemas).map(\.name) + frameSchemas)
        scalars = Dictionary(
            files.flatMap { file in file.scalars.flatMap { scalar in scalar.names.map { ($0, scalar.json) } } }
        ) { first, _ in first }
    }

    /// Returns the document, in the order of the declarations.
    /// - Throws: an error with the name of a type that is not declared or not published, or with `frame` if the frame is no JSON object.
    public func document() throws(UnknownType) -> String {
        guard case .object(var document) = frame else { throw UnknownType(name: "frame") }
        var paths = JSONObject()
        let operations = files.flatMap(\.operations)
        for operation in operations {
            var methods = paths[operation.path]?.objectValue ?? JSONObject()
            methods[operation.method.lowercased()] = try operationObject(operation)
            paths[operation.path] = .object(methods)
        }
        var components = document["components"]?.objectValue ?? JSONObject()
        var schemas = components["schemas"]?.objectValue ?? JSONObject()
        let aiAnswers = Set(operations.compactMap { Self.argument(of: $0.answer ?? "", "AIAnswer") })
        for file in files {
            for record in file.records where record.role != .parameters && !record.isUnpublished {
                schemas[record.name] = try schema(record)
                if aiAnswers.contains(record.name) {
                    schemas["Executed" + record.name] = try schema(executedRecord(of: record))
                }
            }
            for schema in file.schemas {
                schemas[schema.name] = described(schema.json, schema.description)
            }
        }
        for operation in operations {
            if let item = Self.argument(of: operation.answer ?? "", "Page") {
                schemas["PageOf" + item] = pageSchema(of: item)
            }
        }
        components["schemas"] = .object(schemas)
        document["paths"] = .object(paths)
        document["components"] = .object(components)
        return JSONValue.object(document).indentedText() + "\n"
    }

    /// The error of a type that is not declared or not published.
    public struct UnknownType: Error, CustomStringConvertible {
        public var name: String
        public var description: String { "\(name) is no published record, schema or scalar of the declarations" }
    }
}

// MARK: Schemas

extension DocumentWriter {
    private func schema(_ record: Record) throws(UnknownType) -> JSONValue {
        var properties = JSONObject()
        var required: [JSONValue] = []
        for (field, role) in try fields(of: record) {
            properties[field.names[0]] = described(try schema(of: field, role), field.description)
            if isRequired(field, role) { required.append(.string(field.names[0])) }
        }
        var object: JSONObject = ["type": "object", "description": .string(record.description)]
        if !required.isEmpty { object["required"] = .array(required) }
        object["properties"] = .object(properties)
        return .object(object).adding(record.keywords)
    }

    /// Returns the record of an AI operation's response to a request with an execution option.
    private func executedRecord(of record: Record) -> Record {
        let text = "The record of how the answer was produced."
        var executed = Record(
            role: .response, name: "Executed" + record.name,
            description:
                "The response `\(record.name)` with the record of its execution, for a request with an execution "
                + "option such as `task_type`, or in the caller's mode `byo_only`.")
        executed.members = [
            .include(property: nil, type: record.name, fallback: nil),
            .field(
                Field(
                    names: ["execution"], property: "execution", type: FieldType(base: "ExecutionReport"),
                    description: text)),
        ]
        return executed
    }

    /// Returns the schema with the text as its description; unchanged if the text is empty.
    private func described(_ schema: JSONValue, _ text: String) -> JSONValue {
        guard case .object(var object) = schema, !text.isEmpty else { return schema }
        object["description"] = .string(text)
        return .object(object)
    }

    /// Returns the fields of a record and of the records that it includes, each with the role in which it is described.
    private func fields(of record: Record) throws(UnknownType) -> [(Field, Record.Role)] {
        var fields: [(Field, Record.Role)] = []
        for member in record.members {
            switch member {
            case .field(let field): fields.append((field, record.role))
            case .include(_, let type, _):
                guard let included = records[type] else { throw UnknownType(name: type) }
                // A response always has all fields of an included request record.
                fields += try self.fields(of: included).map { ($0, record.role == .response ? .response : $1) }
            }
        }
        return fields
    }

    private func isRequired(_ field: Field, _ role: Record.Role) -> Bool {
        if field.flags.contains(.required) { return true }
        if field.flags.contains(.unrequired) { return false }
        if role == .response { return !field.flags.contains(.omitted) }
        return !field.type.isOptional && !field.type.isPatch && field.fallback == nil
    }

    /// Returns the field's keywords if they are a complete schema. Otherwise returns the schema that follows from its
    /// type, bounds, keywords and default.
    private func schema(of field: Field, _ role: Record.Role) throws(UnknownType) -> JSONValue {
        if let keywords = field.keywords, keywords.isCompleteSchema { return keywords }
        let type = field.type
        var schema = try schema(ofType: type.base, role)
        if let range = type.range {
            let (low, high) = (JSONValue.integer(Int64(range.lowerBound)), JSONValue.integer(Int64(range.upperBound)))
            if type.base == "Int" {
                schema = schema.adding(["minimum": low, "maximum": high])
            } else {
                if range.lowerBound > 0 { schema = schema.adding(["minLength": low]) }
                schema = schema.adding(["maxLength": high, "pattern": Self.nulFreePattern])
            }
        } else if type.base == "String", role != .response, field.reader == nil, field.keywords?["enum"] == nil {
            schema = schema.adding(["pattern": Self.nulFreePattern])
        }
        if let reader = field.reader, reader.hasPrefix("name("), let length = Int64(reader.dropFirst(5).dropLast()) {
            schema = schema.adding(["minLength": 1, "maxLength": .integer(length), "pattern": Self.namePattern])
        }
        schema = schema.adding(field.keywords)
        if type.isOptional && role != .parameters || type.isPatch || field.treatsNullAsAbsent && role == .request {
            schema = schema.nullableSchema
        }
        if role != .response, let value = field.fallback.flatMap(Self.json(ofSwift:)) {
            schema = schema.adding(["default": value])
        }
        return schema
    }

    private func schema(ofType name: String, _ role: Record.Role) throws(UnknownType) -> JSONValue {
        if name == "[String: String]" { return ["type": "object", "additionalProperties": ["type": "string"]] }
        if name.hasPrefix("["), name.hasSuffix("]") {
            return ["type": "array", "items": try schema(ofType: String(name.dropFirst().dropLast()), role)]
        }
        if let item = Self.argument(of: name, "Page") { return .reference("PageOf" + item) }
        if let item = Self.argument(of: name, "AIAnswer") {
            return ["anyOf": [.reference(item), .reference("Executed" + item)]]
        }
        if name == "Timestamp", role == .response { return .reference("Moment") }
        if referencedNames.contains(name) { return .reference(name) }
        guard let scalar = scalars[name] ?? (name.hasSuffix("ID") ? scalars["UUID"] : nil) else {
            throw UnknownType(name: name)
        }
        return scalar
    }

    private func pageSchema(of item: String) -> JSONValue {
        [
            "type": "object", "description": .string("One page of a list of `\(item)`."),
            "required": ["items", "total", "limit", "offset"],
            "properties": [
                "items": [
                    "type": "array", "items": .reference(item), "description": "The items of this page.",
                ],
                "total": ["type": "integer", "description": "The number of items on all pages."],
                "limit": [
                    "type": "integer", "description": "The largest number of items on a page, as it was applied.",
                ],
                "offset": [
                    "type": "integer", "description": "The number of items of the list that come before this page.",
                ],
            ],
        ]
    }

    /// Returns the JSON value of a Swift literal or an enumeration case such as `.friendlyReminder`; nil for any other
    /// expression.
    private static func json(ofSwift expression: String) -> JSONValue? {
        switch expression {
        case "true": true
        case "false": false
        case "[]": []
        case _ where Int64(expression) != nil: Int64(expression).map(JSONValue.integer)
        case _ where expression.hasPrefix("\""): .string(String(expression.dropFirst().dropLast()))
        case _ where expression.hasPrefix(".") && !expression.contains("("): .string(snakeCase(expression.dropFirst()))
        default: nil
        }
    }

    private static func snakeCase(_ name: Substring) -> String {
        name.reduce(into: "") { text, letter in text += letter.isUppercase ? "_" + letter.lowercased() : String(letter)
        }
    }

    /// Returns the argument of a generic type: `X` for `Page<X>`. Returns nil for other types.
    private static func argument(of type: String, _ generic: String) -> String? {
        guard type.hasPrefix(generic + "<"), type.hasSuffix(">") else { return nil }
        return String(type.dropFirst(generic.count + 1).dropLast())
    }

    /// The pattern of text that PostgreSQL can store: without NUL.
    private static let nulFreePattern: JSONValue = "^[^\\u0000]*$"
    /// The pattern of a name that `FieldReader.name` accepts: without control characters and direction marks, and not
    /// blank.
    private static let namePattern: JSONValue = {
        let hidden = "\\u0000-\\u001F\\u007F-\\u009F\\u2028-\\u202E\\u2066-\\u2069"
        return .string("^[^\(hidden)]*[^\\s\(hidden)][^\(hidden)]*$")
    }()
}

// MARK: Operations

extension DocumentWriter {
    /// Returns the operation object of OpenAPI.
    private func operationObject(_ operation: OperationDeclaration) throws(UnknownType) -> JSONValue {
        var object: JSONObject = [
            "operationId": .string(operation.id), "tags": [.string(operation.tag)],
            "summary": .string(operation.summary),
            "description": .string(
                [operation.description, operation.closingParagraphs].filter { !$0.isEmpty }.joined(separator: "\n\n")),
            "security": .array(security(operation.access)),
        ]
        let parameters = try parameters(operation)
        if !parameters.isEmpty { object["parameters"] = .array(parameters) }
        if let body = operation.body {
            let isOptional = operation.isBodyOptional || body.hasSuffix("?")
            let type = body.hasSuffix("?") ? String(body.dropLast()) : body
            object["requestBody"] = [
                "required": .bool(!isOptional), "content": try content(type, operation.overrides["body"], .request),
            ]
        }
        object["responses"] = try responses(operation)
        return .object(object)
    }

    private func security(_ access: OperationDeclaration.Access) -> [JSONValue] {
        switch access {
        case .bearer: [["bearer": []]]
        case .open: []
        case .optional: [[:], ["bearer": []]]
        }
    }

    private func parameters(_ operation: OperationDeclaration) throws(UnknownType) -> [JSONValue] {
        var parameters: [JSONValue] = []
        if let type = operation.parameters {
            let envelopedType = Self.argument(of: type, "AIEnvelope")
            guard let record = records[envelopedType ?? type] else { throw UnknownType(name: type) }
            for (field, _) in try fields(of: record) { parameters.append(try parameter(field, operation)) }
            if envelopedType != nil {
                guard let options = records["ExecutionOptions"] else { throw UnknownType(name: "ExecutionOptions") }
                for (field, _) in try fields(of: options) where !field.flags.contains(.bodyOnly) {
                    parameters.append(try parameter(field, operation))
                }
            }
        }
        for header in operation.ownRequestHeaders + (operation.tier == "exempt" ? [] : ["TraceParent", "RequestId"]) {
            parameters.append(
                operation.overrides["parameter " + header] ?? ["$ref": .string("#/components/parameters/" + header)])
        }
        return parameters
    }

    private func parameter(_ field: Field, _ operation: OperationDeclaration) throws(UnknownType) -> JSONValue {
        if let override = operation.overrides["parameter " + field.names[0]] { return override }
        if let reference = field.keywords?["$ref"]?.stringValue, reference.hasPrefix("#/components/parameters/") {
            return ["$ref": .string(reference)]
        }
        let isRequired = field.isInPath || isRequired(field, .parameters)
        return [
            "name": .string(field.names[0]), "in": field.isInPath ? "path" : "query", "required": .bool(isRequired),
            "description": .string(field.description),
            "schema": try schema(of: field, .parameters),
        ]
    }

    /// Returns the `content` object of a body. An override with a schema replaces only what is below
    /// `application/json`; any other override replaces the whole object.
    private func content(
        _ type: String, _ override: JSONValue?, _ role: Record.Role
    ) throws(UnknownType) -> JSONValue {
        if let override, override["schema"] == nil { return override }
        if let override { return ["application/json": override] }
        let schema = try schema(ofType: Self.argument(of: type, "AIEnvelope") ?? type, role)
        return ["application/json": ["schema": schema]]
    }

    private func responses(_ operation: OperationDeclaration) throws(UnknownType) -> JSONValue {
        let description = operation.successDescription ?? defaultSuccessDescription(operation)
        var success: JSONObject = ["description": .string(description)]
        success["headers"] = .object(
            responseHeaderNames(operation).reduce(into: JSONObject()) {
                $0[$1] = ["$ref": .string("#/components/headers/" + $1)]
            })
        if let answer = operation.answer {
            success["content"] = try content(answer, operation.overrides["answer"], .response)
        }
        var responses: JSONObject = [String(operation.successStatus): .object(success)]
        for status in errorStatuses(operation) {
            responses[status] =
                operation.overrides["response " + status]
                ?? Self.errorResponses[status].map { ["$ref": .string("#/components/responses/" + $0)] }
        }
        return .object(responses)
    }

    /// Returns the statuses of an operation's errors: those of every operation, those that it declares, and those that
    /// follow from its other clauses.
    private func errorStatuses(_ operation: OperationDeclaration) -> [String] {
        var statuses = ["400", "414", "500", "503"] + operation.ownErrorStatuses
        if operation.tier != "exempt" { statuses.append("429") }
        if operation.access == .bearer { statuses.append("401") }
        if operation.body != nil, operation.body != "Bytes" { statuses += ["413", "415"] }
        return statuses.sorted()
    }

    private func responseHeaderNames(_ operation: OperationDeclaration) -> [String] {
        var names: [String] = []
        if operation.ownRequestHeaders.contains("IdempotencyKey") { names.append("Idempotent-Replay") }
        if operation.tier != "exempt" { names += ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"] }
        names.append("X-Request-Id")
        if operation.isTraced { names.append("X-Trace-Id") }
        return names
    }

    private func defaultSuccessDescription(_ operation: OperationDeclaration) -> String {
        switch (operation.successStatus, operation.method) {
        case (201, _): "The resource was created. The response body has it."
        case (204, _): "The change was made. The response has no body."
        case (_, "GET"): "The response body has the result."
        default: "The change was made. The response body has the result."
        }
    }

    private static let errorResponses = [
        "400": "MalformedRequest", "401": "AuthenticationNeeded", "403": "Forbidden", "404": "NotFound",
        "409": "Conflict", "412": "PreconditionFailed", "413": "PayloadTooLarge", "414": "URITooLong",
        "415": "UnsupportedMediaType", "422": "ValidationFailed", "429": "RateLimited", "500": "InternalError",
        "502": "Unavailable", "503": "Unavailable", "504": "Unavailable",
    ]
}
