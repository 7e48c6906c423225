/// Writes the Swift source of a file of declarations: types that decode and encode themselves, and endpoints.
public struct SwiftWriter {
    private var lines: [String] = []

    /// Returns the Swift source of one file.
    public static func source(of file: WireFile) -> String {
        var writer = SwiftWriter()
        writer.lines = [
            "// Made of \(file.name).wire by each build.", "", "import Domain", "import JSON", "import NagzAI", "",
        ]
        if !file.operations.isEmpty {
            writer.writeBlock("extension API") { writer in
                for operation in file.operations { writer.writeEndpoint(operation) }
            }
        }
        for record in file.records where !record.isHandwritten {
            if record.role == .parameters { writer.writeParameters(record) } else { writer.writeObject(record) }
            if let question = record.questionType { writer.writeQuestionConversions(record, question) }
        }
        return writer.lines.joined(separator: "\n")
    }

    /// Returns the Swift source of four lists in the order of the files: operations, AI operations, bounds that have a
    /// name in Swift, and values of enumerations.
    public static func lists(of files: [WireFile]) -> String {
        var writer = SwiftWriter()
        writer.lines = ["import Domain", "import NagzAI", ""]
        writer.writeBlock("extension API") { writer in
            writer.add("/// All operations, grouped by tag.")
            writer.add("public static let all: [Operation] = [")
            for operation in files.flatMap(\.operations) { writer.add("    \(operation.id).operation,") }
            writer.add("]")
            writer.add("")
            writer.add("/// All AI operations with their endpoints.")
            writer.add("public static let aiCalls: [any AICall] = [")
            for operation in files.flatMap(\.operations) {
                guard let aiOperation = operation.aiOperation else { continue }
                let call = operation.body == nil ? "AIQueryCall" : "AIBodyCall"
                writer.add("    \(call)(operation: AIOperations.\(aiOperation), endpoint: \(operation.id)),")
            }
            writer.add("]")
        }
        writer.writeBlock("extension DeclaredBounds") { writer in
            writer.add("public static let all: [DeclaredBounds] = [")
            for record in files.flatMap(\.records) {
                for case .field(let field) in record.members {
                    guard let bounds = field.type.boundsExpression, let range = field.type.range,
                        bounds.contains(where: \.isLetter)
                    else { continue }
                    let place = "\"\(record.name).\(field.names[0])\""
                    writer.add("    DeclaredBounds(place: \(place), inSwift: \(bounds), declared: \(range)),")
                }
            }
            writer.add("]")
        }
        writer.writeBlock("extension DeclaredValues") { writer in
            writer.add("public static let all: [DeclaredValues] = [")
            for enumeration in files.flatMap(\.enumerations) {
                let values = enumeration.values.map { "\"\($0)\"" }.joined(separator: ", ")
                writer.add("    DeclaredValues(of: \(enumeration.swiftName).self, [\(values)]),")
            }
            writer.add("]")
        }
        return writer.lines.joined(separator: "\n")
    }

    private var indentation = ""

    private mutating func add(_ line: String) { lines.append(indentation + line) }

    private mutating func writeBlock(_ head: String, _ body: (inout SwiftWriter) -> Void) {
        if !indentation.isEmpty { lines.append("") }
        add(head + " {")
        indentation += "    "
        body(&self)
        indentation.removeLast(4)
        add("}")
        if indentation.isEmpty { lines.append("") }
    }
}

// MARK: Operations

extension SwiftWriter {
    private mutating func writeEndpoint(_ operation: OperationDeclaration) {
        var arguments = [
            "\"\(operation.id)\"", ".\(operation.method.lowercased())", "\"\(operation.path)\"",
            "tag: .\(operation.tag)",
        ]
        if operation.successStatus != 200 { arguments.append("status: \(operation.successStatus)") }
        if operation.access != .bearer { arguments.append("access: .open") }
        if let tier = operation.tier { arguments.append("tier: .\(tier)") }
        if operation.isTraced { arguments.append("isTraced: true") }
        if let limit = operation.bodyLimitExpression { arguments.append("bodyLimit: \(limit)") }
        let types = [
            operation.parameters ?? "NoParameters", operation.body ?? "NoBody", operation.answer ?? "NoAnswer",
        ]
        add("/// \(operation.summary).")
        add("public static let \(operation.id) = Endpoint<\(types.joined(separator: ", "))>(")
        add("    Operation(\(arguments.joined(separator: ", "))))")
    }
}

// MARK: Bodies

extension SwiftWriter {
    private mutating func writeObject(_ record: Record) {
        if record.isExtension { return writeExtension(record) }
        writeType(record, conforming: "Hashable, WireObject, WireMembers") { writer in
            writer.writeBlock("public init(_ fields: FieldReader) throws(InvalidInput)") { writer in
                if let (names, message) = record.refusal {
                    let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
                    writer.add("try fields.refuse([\(list)], \"\(message)\")")
                }
                for member in record.members {
                    switch member {
                    case .include(let property?, let type, _): writer.add("\(property) = try \(type)(fields)")
                    case .field(let field) where !field.flags.contains(.computed):
                        writer.add("\(field.property) = try \(field.decoder)")
                    default: break
                    }
                }
                if record.hasCheckMethod { writer.add("try check()") }
            }
            writer.writeEncoder(record)
        }
    }

    /// Writes the conversions between a request and its question to the AI.
    private mutating func writeQuestionConversions(_ record: Record, _ question: String) {
        let properties: [String] = record.members.compactMap { member in
            if case .field(let field) = member, field.fallback == nil { field.property } else { nil }
        }
        func arguments(prefix: String) -> String {
            properties.map { "\($0): \(prefix)\($0)" }.joined(separator: ", ")
        }
        writeBlock("extension \(record.name): AIRequest") { writer in
            writer.add("public init(asking question: \(question)) { self.init(\(arguments(prefix: "question."))) }")
            writer.add("public var question: \(question) { \(question)(\(arguments(prefix: ""))) }")
        }
    }

    /// Writes the decoder and encoder of a type that another module declares.
    private mutating func writeExtension(_ record: Record) {
        writeBlock("extension \(record.name): WireObject, WireMembers") { writer in
            writer.writeBlock("public init(_ fields: FieldReader) throws(InvalidInput)") { writer in
                let arguments = record.members.compactMap { member in
                    if case .field(let field) = member { "\(field.property): try \(field.decoder)" } else { nil }
                }
                writer.add("self.init(")
                writer.add("    " + arguments.joined(separator: ",\n\(writer.indentation)    ") + ")")
            }
            writer.writeEncoder(record)
        }
    }

    private mutating func writeEncoder(_ record: Record) {
        writeBlock("public func writeMembers(to json: inout JSONWriter)") { writer in
            for member in record.members {
                switch member {
                case .include(let property?, _, _): writer.add("\(property).writeMembers(to: &json)")
                case .include: break
                case .field(let field): writer.add(field.encoder(record.role))
                }
            }
        }
    }

    /// Writes a type with its properties and its initialiser.
    private mutating func writeType(
        _ record: Record, conforming conformances: String, _ body: (inout SwiftWriter) -> Void
    ) {
        add("/// \(record.description)")
        writeBlock("public struct \(record.name): \(conformances)") { writer in
            var parameters: [(declaration: String, property: String)] = []
            for member in record.members {
                switch member {
                case .include(let property?, let type, let fallback):
                    writer.add("public var \(property): \(type)")
                    let defaultClause = fallback.map { " = \($0)" } ?? ""
                    parameters.append(("\(property): \(type)\(defaultClause)", property))
                case .field(let field) where !field.flags.contains(.computed):
                    writer.add("/// \(field.description)")
                    writer.add("public var \(field.property): \(field.type.swiftType)")
                    let defaultClause = field.initialiserDefault(record.role).map { " = \($0)" } ?? ""
                    parameters.append(
                        ("\(field.property): \(field.type.swiftType)\(defaultClause)", field.property))
                default: break
                }
            }
            writer.writeBlock("public init(\(parameters.map(\.declaration).joined(separator: ", ")))") { writer in
                for parameter in parameters {
                    writer.add("self.\(parameter.property) = \(parameter.property)")
                }
            }
            body(&writer)
        }
    }
}

extension Field {
    private var name: String { names[0] }

    fileprivate func initialiserDefault(_ role: Record.Role) -> String? {
        if flags.contains(.withoutDefault) { return nil }
        if type.isPatch { return ".absent" }
        if let value = initialValue ?? fallback { return value }
        return type.isOptional && role != .response ? "nil" : nil
    }

    /// The call of `FieldReader` that decodes the field.
    fileprivate var decoder: String {
        if let reader {
            let (method, arguments) =
                reader.firstIndex(of: "(").map { (reader[..<$0], reader[$0...].dropFirst()) }
                ?? (reader[...], ")")
            let readMethod =
                type.isOptional ? "optional" + method.prefix(1).uppercased() + method.dropFirst() : String(method)
            return "fields.\(readMethod)(\"\(name)\"" + (arguments == ")" ? "" : ", ") + arguments
        }
        if let bounds = type.boundsExpression {
            switch type.base {
            case "Secret" where type.isOptional: return "fields.optionalText(\"\(name)\", \(bounds)).map { Secret($0) }"
            case "Secret": return "fields.secret(\"\(name)\", \(bounds))"
            case "Int": return "fields.\(type.isOptional ? "optionalInteger" : "integer")(\"\(name)\", \(bounds))"
            default:
                let method = type.isPatch ? "textPatch" : type.isOptional ? "optionalText" : "text"
                return "fields.\(method)(\"\(name)\", \(bounds))"
            }
        }
        if type.isPatch { return "fields.patch(\"\(name)\")" }
        if type.isOptional { return "fields.optional(\"\(name)\")" }
        guard let fallback else { return "fields.required(\"\(name)\")" }
        return treatsNullAsAbsent
            ? "fields.optional(\"\(name)\") ?? \(fallback)" : "fields.defaulted(\"\(name)\", to: \(fallback))"
    }

    fileprivate func encoder(_ role: Record.Role) -> String {
        if type.isPatch { return "json.patch(\"\(name)\", \(property))" }
        let isOmitted = flags.contains(.omitted) || type.isOptional && role == .request && !flags.contains(.nulled)
        if isOmitted, type.isOptional { return "json.fieldIfPresent(\"\(name)\", \(property))" }
        if isOmitted, let fallback { return "if \(property) != \(fallback) { json.field(\"\(name)\", \(property)) }" }
        return "json.field(\"\(name)\", \(property))"
    }
}

// MARK: Parameters

extension SwiftWriter {
    private mutating func writeParameters(_ record: Record) {
        writeType(record, conforming: "Hashable, WireParameters") { writer in
            writer.writeBlock("public init(_ parameters: ParameterReader) throws(InvalidInput)") { writer in
                for member in record.members {
                    switch member {
                    case .include(let property?, let type, _): writer.add("\(property) = try \(type)(parameters)")
                    case .include: break
                    case .field(let field): writer.add("\(field.property) = try \(field.parameterDecoder)")
                    }
                }
            }
            writer.writeBlock("public func write(to parameters: inout ParameterWriter)") { writer in
                for member in record.members {
                    switch member {
                    case .include(let property?, _, _): writer.add("\(property).write(to: &parameters)")
                    case .include: break
                    case .field(let field): writer.add(field.parameterEncoder)
                    }
                }
            }
        }
    }
}

extension Field {
    fileprivate var parameterDecoder: String {
        let quoted = names.map { "\"\($0)\"" }
        let names = quoted.count == 1 ? quoted[0] : "\(quoted[0]), or: \(quoted.dropFirst().joined(separator: ", "))"
        if isInPath { return "parameters.path(\(names))" }
        if let reader { return "parameters.\(reader)(default: \(fallback ?? "0"))" }
        if type.base == "Int" { return "parameters.\(type.isOptional ? "optionalInteger" : "integer")(\(names))" }
        if let fallback { return "parameters.optionalQuery(\(names)) ?? \(fallback)" }
        return type.isOptional ? "parameters.optionalQuery(\(names))" : "parameters.query(\(names))"
    }

    fileprivate var parameterEncoder: String {
        let call = "parameters.\(isInPath ? "path" : "query")(\"\(names[0])\", \(property))"
        if type.base == "Int", type.isOptional { return "if let \(property) { \(call) }" }
        guard flags.contains(.omitted), let fallback else { return call }
        return "if \(property) != \(fallback) { \(call) }"
    }
}
