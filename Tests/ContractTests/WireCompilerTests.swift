import Contract
import Foundation
import JSON
import Testing
import WireCompiler

@Suite("Compiler of the wire's declarations")
struct WireCompilerTests {
    @Test(
        "a mistake in a declaration is reported with its file and line",
        arguments: [
            (
                "operation x: GET /x | Get x",
                "Some.wire:1: error: a file with operations begins with its tag, such as: tag nags"
            ),
            (
                "reqest A | B",
                "Some.wire:1: error: reqest is no declaration: tag, operation, request, response, parameters, enum, schema, scalar"
            ),
            ("\nrequest A | B\n    a String | C", "Some.wire:3: error: a field's name is followed by a colon or by as"),
            ("request A | B\n    a: String optional | C", "Some.wire:2: error: optional is no option of a field"),
            (
                "request A | B\n    a: String(1..x) | C",
                "Some.wire:2: error: bounds are two numbers, such as (1...64), after a name where Swift has one: (Limit.text: 1...64)"
            ),
            (
                "request A | B\n    a: Int(1...3) = 2 | C",
                "Some.wire:2: error: a field with bounds and a default is optional: a: Type(bounds)?"
            ),
            ("request A | B\n    a: [String | C", "Some.wire:2: error: a bracket or a quotation mark is not closed"),
            ("    a: String | C", "Some.wire:1: error: a member needs a record above it"),
            ("request A | C\nenum B: x y\n    a: String | C", "Some.wire:3: error: a member needs a record above it"),
            ("request A | C\nscalar B {}\n    a: String | C", "Some.wire:3: error: a member needs a record above it"),
            ("parameters A | B\n    a: String | C", "Some.wire:2: error: a parameter is in the path or in the query"),
            (
                "tag nags\noperation x: GET /x | X\n    body: A\n    boddy: B",
                "Some.wire:4: error: boddy: is no clause of an operation"
            ),
        ])
    func mistakes(source: String, message: String) throws {
        let error = #expect(throws: WireError.self) { try WireParser.parse(source, name: "Some") }
        #expect(error?.description == message)
    }

    @Test("a record becomes a type whose decoder and encoder follow the options of each field")
    func record() throws {
        let source = """
            request Sample | Says
                    something.
                id: NagID | The ID.
                text: String(1...64)? | The text.
                note: Patch<String> | The note.
                done as isDone: Bool = false | Whether it is done.
                tags: [String] ?= [] | The tags.
            """
        let swift = SwiftWriter.source(of: try WireParser.parse(source, name: "Some"))
        for line in [
            "/// Says something.", "public struct Sample: Hashable, WireObject, WireMembers {",
            "public init(id: NagID, text: String? = nil, note: Patch<String> = .absent, isDone: Bool = false, tags: [String] = []) {",
            "id = try fields.required(\"id\")", "text = try fields.optionalText(\"text\", 1...64)",
            "note = try fields.patch(\"note\")", "isDone = try fields.defaulted(\"done\", to: false)",
            "tags = try fields.optional(\"tags\") ?? []", "json.fieldIfPresent(\"text\", text)",
            "json.patch(\"note\", note)", "json.field(\"done\", isDone)",
        ] { #expect(swift.contains(line), "\(line)") }
    }

    @Test("the document describes a record by the types, bounds and defaults of its fields")
    func schema() throws {
        let source = """
            scalar String {"type": "string"}
            scalar Bool {"type": "boolean"}
            scalar UUID {"type": "string", "format": "uuid"}
            request Sample | Says something.
                nag_id: NagID | The ID.
                text: String(1...64)? | The text.
                done as isDone: Bool = false | Whether it is done.
            response Answer | Says more.
                text: String? | The text.
            """
        let document = try DocumentWriter([WireParser.parse(source, name: "Some")], frame: [:]).document()
        let schemas = try JSONValue(parsing: Array(document.utf8).span)["components"]?["schemas"]
        #expect(
            schemas?["Sample"] == [
                "type": "object", "description": "Says something.", "required": ["nag_id"],
                "properties": [
                    "nag_id": ["type": "string", "format": "uuid", "description": "The ID."],
                    "text": [
                        "type": ["string", "null"], "minLength": 1, "maxLength": 64, "pattern": "^[^\\u0000]*$",
                        "description": "The text.",
                    ],
                    "done": ["type": "boolean", "default": false, "description": "Whether it is done."],
                ],
            ])
        #expect(schemas?["Answer"]?["required"] == ["text"])
    }

    @Test(
        "a type that nothing declares or publishes is an error that names it",
        arguments: ["", "request Sting unpublished"])
    func unknownType(declaration: String) throws {
        let file = try WireParser.parse(
            "request Sample | Says something.\n    text: Sting | The text.\n\(declaration)", name: "Some")
        let error = #expect(throws: DocumentWriter.UnknownType.self) {
            try DocumentWriter([file], frame: [:]).document()
        }
        #expect(error?.description == "Sting is no published record, schema or scalar of the declarations")
    }

    @Test("an enumeration has the values that its declaration says", arguments: DeclaredValues.all)
    func values(values: DeclaredValues) {
        // The badge that a family gives is not among those that clients know.
        let published = values.inSwift.subtracting(values.name == "BadgeType" ? ["family_award"] : [])
        #expect(published == values.declared, "\(values.name)")
    }

    @Test("bounds with a Swift name have the numbers that the declarations say", arguments: DeclaredBounds.all)
    func bounds(bounds: DeclaredBounds) {
        #expect(bounds.inSwift == bounds.declared, "\(bounds.place)")
    }
}
