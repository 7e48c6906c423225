import JSON

/// An error in a file of declarations, with file and line.
public struct WireError: Error, CustomStringConvertible {
    /// The file's name without its extension.
    public var file: String
    public var line: Int
    public var message: String

    /// The error in the form of compilers, so that editors find the line.
    public var description: String { "\(file).wire:\(line): error: \(message)" }
}

/// Parses a file of declarations.
///
/// A line without indentation begins a declaration. An indented line is a member of it. A line that is indented by
/// eight spaces or more continues the line above. `//` begins a comment. A declaration or a member can be
/// followed by ` | ` and a sentence.
public struct WireParser {
    /// The file's name without its extension.
    private let name: String
    private var file: WireFile
    private var line: Line
    private var scope = Scope.none

    /// The declaration that indented lines belong to.
    private enum Scope {
        /// The tag: indented lines are paragraphs that end the description of each operation of the file.
        case tag
        /// The last operation: indented lines are its clauses and paragraphs.
        case operation
        /// The last record: indented lines are its members.
        case record
        /// The beginning of the file, an enumeration, a schema or a scalar, which have no members.
        case none
    }

    /// A line, joined with the lines that continue it.
    private struct Line {
        /// The number of its first line in the file, from 1.
        var number: Int
        var isIndented: Bool
        var text: String
    }

    /// Returns the declarations in the text of a file.
    /// - Parameter name: the file's name without its extension.
    public static func parse(_ text: String, name: String) throws(WireError) -> WireFile {
        var parser = WireParser(name: name)
        for line in lines(of: text) {
            parser.line = line
            if line.isIndented { try parser.parseIndentedLine() } else { try parser.parseDeclaration() }
        }
        return parser.file
    }

    private init(name: String) {
        self.name = name
        file = WireFile(name: name)
        line = Line(number: 0, isIndented: false, text: "")
    }

    private static func lines(of text: String) -> [Line] {
        var lines: [Line] = []
        for (index, row) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let content = row.drop { $0 == " " }
            let indentation = row.count - content.count
            if content.isEmpty || content.hasPrefix("//") { continue }
            if indentation >= 8, !lines.isEmpty {
                lines[lines.count - 1].text += " " + content
            } else {
                lines.append(Line(number: index + 1, isIndented: indentation > 0, text: String(content)))
            }
        }
        return lines
    }

    private func error(_ message: String) -> WireError { WireError(file: name, line: line.number, message: message) }
}

// MARK: Declarations

extension WireParser {
    private mutating func parseDeclaration() throws(WireError) {
        var parts = try DeclarationLine(line.text, error)
        let word = try parts.nextWord("a declaration")
        switch word {
        case "tag":
            file.tag = try parts.nextWord("the tag")
            if let modifier = parts.nextWordIfPresent() {
                guard modifier == "traced" else { throw error("\(modifier) is no modifier of a tag: traced") }
                file.isTraced = true
            }
        case "scalar":
            var names: [String] = []
            while let name = parts.nextWordIfPresent() { names.append(name) }
            guard let json = parts.json else {
                throw error("a scalar needs its schema, such as {\"type\": \"string\"}")
            }
            file.scalars.append(Scalar(names: names, json: json))
        case "schema":
            guard let json = parts.json else { throw error("a schema needs its JSON") }
            file.schemas.append(Schema(name: try parts.nextWord("a name"), json: json, description: parts.sentence))
        case "enum": try parseEnumeration(&parts)
        case "request", "response", "parameters":
            guard let role = Record.Role(rawValue: word) else { return }
            var record = Record(role: role, name: try parts.nextWord("a name"), description: parts.sentence)
            while let modifier = parts.nextWordIfPresent() {
                switch modifier {
                case "by":
                    record.isHandwritten = parts.nextWordIfPresent() == "hand"
                    if !record.isHandwritten { throw error("by is followed by hand") }
                case "extends": record.isExtension = true
                case "checked": record.hasCheckMethod = true
                case "asks": record.questionType = try parts.nextWord("the type of a question")
                case "unpublished": record.isUnpublished = true
                default:
                    throw error("\(modifier) is no modifier of a record: by hand, asks, checked, extends, unpublished")
                }
            }
            file.records.append(record)
        case "operation":
            let id = try parts.nextWord("an operation's id")
            guard id.hasSuffix(":") else { throw error("an operation's id is followed by a colon") }
            file.operations.append(
                OperationDeclaration(
                    id: String(id.dropLast()), method: try parts.nextWord("a method"),
                    path: try parts.nextWord("a path"),
                    summary: parts.sentence, tag: file.tag ?? "", isTraced: file.isTraced,
                    closingParagraphs: file.closingParagraphs))
            if file.tag == nil { throw error("a file with operations begins with its tag, such as: tag nags") }
        default:
            throw error(
                "\(word) is no declaration: tag, operation, request, response, parameters, enum, schema, scalar")
        }
        switch word {
        case "tag": scope = .tag
        case "operation": scope = .operation
        case "request", "response", "parameters": scope = .record
        default: scope = .none
        }
    }

    /// Parses an enumeration. `enum NagStatus: open completed` is a schema; with `unpublished` its values are written
    /// wherever the type is used. `enum A as B.C: x y` has another name in Swift.
    private mutating func parseEnumeration(_ parts: inout DeclarationLine) throws(WireError) {
        var head: [String] = []
        while head.last?.hasSuffix(":") != true {
            guard let word = parts.nextWordIfPresent() else {
                throw error("an enumeration's name is followed by a colon")
            }
            head.append(word)
        }
        head[head.count - 1].removeLast()
        let isUnpublished = head.last == "unpublished"
        if isUnpublished { head.removeLast() }
        guard let name = head.first, head.count == 1 || head.count == 3 && head[1] == "as" else {
            throw error("an enumeration has a name, and its Swift name if that is another one: A as B.C")
        }
        var values: [String] = []
        while let value = parts.nextWordIfPresent() { values.append(value) }
        file.enumerations.append(Enumeration(swiftName: head[head.count - 1], values: values))
        let json: JSONValue = ["type": "string", "enum": .array(values.map(JSONValue.string))]
        if isUnpublished {
            file.scalars.append(Scalar(names: [name], json: json))
        } else {
            file.schemas.append(Schema(name: name, json: json, description: parts.sentence))
        }
    }

    /// Parses an indented line, as a part of the declaration that the scope names.
    private mutating func parseIndentedLine() throws(WireError) {
        switch scope {
        case .operation: return try parseClause()
        case .tag:
            file.closingParagraphs = try appendingParagraph(to: file.closingParagraphs)
            return
        case .record, .none: break
        }
        guard scope == .record, let last = file.records.indices.last else {
            throw error("a member needs a record above it")
        }
        if line.text.hasPrefix("{") {
            file.records[last].keywords = try DeclarationLine(line.text, error).json
            return
        }
        if line.text.hasPrefix("...") {
            file.records[last].members.append(try parseInclude(String(line.text.dropFirst(3))))
            return
        }
        if line.text.hasPrefix("refuses ") {
            var parts = try DeclarationLine(String(line.text.dropFirst(8)), error)
            var refusedNames: [String] = []
            while let name = parts.nextWordIfPresent() { refusedNames.append(name) }
            file.records[last].refusal = (refusedNames, parts.sentence)
            return
        }
        file.records[last].members.append(.field(try parseField(of: file.records[last].role)))
    }

    /// Parses what follows `...`: `Record`, or `property: Record = default`.
    private func parseInclude(_ text: String) throws(WireError) -> Member {
        var parts = try DeclarationLine(text, error)
        let first = try parts.nextWord("a property or a record")
        guard first.hasSuffix(":") else { return .include(property: nil, type: first, fallback: nil) }
        let type = try parts.nextWord("a record")
        let fallback = parts.nextWordIfPresent() == "=" ? try parts.nextWord("a default") : nil
        return .include(property: String(first.dropLast()), type: type, fallback: fallback)
    }

    /// Returns `text` with a paragraph appended: `| Submits an excuse for an open nag.`
    private func appendingParagraph(to text: String) throws(WireError) -> String {
        guard line.text.hasPrefix("|") else { throw error("a paragraph begins with |") }
        return text + (text.isEmpty ? "" : "\n\n") + line.text.dropFirst().drop { $0 == " " }
    }

    /// Parses a clause of the last operation, or a paragraph of its description.
    private mutating func parseClause() throws(WireError) {
        let last = file.operations.count - 1
        if line.text.hasPrefix("|") {
            file.operations[last].description = try appendingParagraph(to: file.operations[last].description)
            return
        }
        var parts = try DeclarationLine(line.text, error)
        let word = try parts.nextWord("a clause")
        var operation = file.operations[last]
        switch word {
        case "parameters:": operation.parameters = try parts.nextWord("a type")
        case "body:":
            operation.body = try parts.nextWord("a type")
            operation.isBodyOptional = parts.nextWordIfPresent() == "optional"
            operation.overrides["body"] = parts.json
        case "answer:":
            guard let status = Int(try parts.nextWord("a status")) else {
                throw error("an answer begins with its status")
            }
            operation.successStatus = status
            operation.answer = parts.nextWordIfPresent()
            operation.overrides["answer"] = parts.json
            if !parts.sentence.isEmpty { operation.successDescription = parts.sentence }
        case "access:":
            guard let access = OperationDeclaration.Access(rawValue: try parts.nextWord("bearer, open or optional"))
            else {
                throw error("access is bearer, open or optional")
            }
            operation.access = access
        case "ai:": operation.aiOperation = try parts.nextWord("an AI operation")
        case "tier:": operation.tier = try parts.nextWord("a tier")
        case "limit:": operation.bodyLimitExpression = try parts.nextWord("an expression")
        case "errors:": while let status = parts.nextWordIfPresent() { operation.ownErrorStatuses.append(status) }
        case "headers:": while let header = parts.nextWordIfPresent() { operation.ownRequestHeaders.append(header) }
        case "parameter:", "response:":
            operation.overrides[word.dropLast() + " " + (try parts.nextWord("a name"))] = parts.json
        default: throw error("\(word) is no clause of an operation")
        }
        file.operations[last] = operation
    }
}

// MARK: Fields

extension WireParser {
    private func parseField(of role: Record.Role) throws(WireError) -> Field {
        var parts = try DeclarationLine(line.text, error)
        var joinedNames = try parts.nextWord("a name")
        var property: String?
        if !joinedNames.hasSuffix(":") {
            guard parts.nextWordIfPresent() == "as" else {
                throw error("a field's name is followed by a colon or by as")
            }
            property = try parts.nextWord("the property's name")
        }
        if property == nil { joinedNames.removeLast() } else { property?.removeLast() }
        let wireNames = joinedNames.split(separator: "/").map(String.init)
        guard let wireName = wireNames.first else { throw error("a field needs a name") }
        var type = parts.nextWordIfPresent()
        var isInPath = false
        if role == .parameters {
            isInPath = type == "path"
            guard isInPath || type == "query" else { throw error("a parameter is in the path or in the query") }
            type = parts.nextWordIfPresent()
        }
        var field = Field(
            names: wireNames, property: property ?? Self.camelCase(wireName), isInPath: isInPath,
            type: try parseFieldType(type ?? "JSONValue"), description: parts.sentence)
        field.keywords = parts.json
        while let option = parts.nextWordIfPresent() {
            switch option {
            case "=", "?=":
                field.fallback = try parts.nextWord("a default")
                field.treatsNullAsAbsent = option == "?="
            case "init": field.initialValue = try parts.nextWord("a default")
            case "by": field.reader = try parts.nextWord("a reader")
            default:
                guard let flag = Field.Flag(rawValue: option) else { throw error("\(option) is no option of a field") }
                field.flags.insert(flag)
            }
        }
        if field.type.boundsExpression != nil, field.fallback != nil, !field.type.isOptional {
            throw error("a field with bounds and a default is optional: \(wireName): Type(bounds)?")
        }
        return field
    }

    private func parseFieldType(_ text: String) throws(WireError) -> FieldType {
        var type = FieldType(base: text)
        if type.base.hasSuffix("?") {
            type.base.removeLast()
            type.isOptional = true
        }
        if type.base.hasSuffix(")"), let open = type.base.lastIndex(of: "(") {
            let bounds = type.base[type.base.index(after: open)...].dropLast()
            let expressionAndNumbers = bounds.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
            let numbers = (expressionAndNumbers.last ?? "").replacing("_", with: "").split(separator: ".")
                .compactMap { Int($0) }
            guard numbers.count == 2, numbers[0] <= numbers[1] else {
                throw error(
                    "bounds are two numbers, such as (1...64), after a name where Swift has one: (Limit.text: 1...64)")
            }
            type.boundsExpression = String(expressionAndNumbers[0])
            type.range = numbers[0]...numbers[1]
            type.base = String(type.base[..<open])
        }
        if type.base.hasPrefix("Patch<") {
            type.base = String(type.base.dropFirst(6).dropLast())
            type.isPatch = true
        }
        return type
    }

    /// Returns the Swift name of a wire name: `attachmentIDs` for `attachment_ids`.
    static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        let initialisms = ["id": "ID", "ids": "IDs", "url": "URL", "urls": "URLs"]
        return words.dropFirst().reduce(String(words.first ?? "")) { text, word in
            text + (initialisms[String(word)] ?? word.prefix(1).uppercased() + word.dropFirst())
        }
    }
}
