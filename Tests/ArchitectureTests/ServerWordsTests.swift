import Contract
import Foundation
import Testing

/// Whether the console has German and Spanish words for the messages of the server. Its lists have rows of a text in
/// English, German and Spanish, with `{0}` for a value, and `{#0}` for a number.
@Suite("Translations of the server's messages")
struct ServerWordsTests {
    // MARK: Rows

    private static let console = SourceFile.repository.appending(path: "Sources/CWebPages/pages/console")

    private static func script(_ name: String) throws -> String {
        try String(contentsOf: console.appending(path: name + ".js"), encoding: .utf8)
    }

    /// The names of the lists, as the console loads them.
    private static func lists() throws -> [String] {
        let found = try #require(try script("language").firstMatch(of: /const lists = \[([^\]]*)\]/))
        return StringLiterals(in: String(found.output.1)).texts
    }

    private static func rows(of list: String) throws -> [[String]] {
        let lines = try script(list).split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex { $0.hasPrefix("export default [") })
        let end = try #require(lines.lastIndex { $0.hasPrefix("];") })
        let content = lines[(start + 1)..<end].filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
        let json = "[" + content.replacing(/,\s*$/, with: "") + "]"
        return try JSONDecoder().decode([[String]].self, from: Data(json.utf8))
    }

    /// Returns a row's text with `{}` for each value.
    private static func withoutNumbers(_ text: String) -> String { text.replacing(/\{#?\d\}/, with: "{}") }

    private static func translated() throws -> Set<String> {
        Set(try lists().flatMap(rows).compactMap(\.first).map(withoutNumbers))
    }

    // MARK: Messages

    /// The sections of the catalogue of refusals that no page of the console can show, each with the reason.
    private static let sections: [(file: String, section: String, reason: String)] = [
        ("APIError+Accounts.swift", "Telephone number", "the console has no view of telephone numbers"),
        ("APIError+Audit.swift", "Devices", "the console registers no devices"),
        ("APIError+Connections.swift", "Connections", "the console has no view of connections"),
        ("APIError+Connections.swift", "Invitations", "the console has no view of connections"),
        ("APIError+Connections.swift", "Blocks and relationships", "the console has no view of them"),
        ("APIError+Drafts.swift", "Inputs", "the console sends no inputs of devices"),
        ("APIError+Drafts.swift", "Imports", "the console imports nothing but constraints"),
        ("APIError+Nags.swift", "Pictures", "the console has no pictures"),
        ("APIError+Requests.swift", "Readiness, for operators", "the console shows the status alone"),
        ("APIError+Requests.swift", "WebSockets", "the console opens none"),
    ]

    /// The messages that no page of the console can show, by the reason.
    private static let exceptions: [String: [String]] = [
        "units that are written alike in all languages": ["{} min", "{} h"],
        "the console sends its requests as they have to be": [
            "Send one Authorization header.", "Send the body without a Content-Encoding.",
            "Send the body as JSON, with Content-Type: application/json.", "The text is not UTF-8.",
            "The body is empty. Send a JSON document.", "{} is unknown here.{}", "{} Did you mean {}?",
            "The body is not a JSON document this server reads: {}.",
        ],
        "the console sends no Idempotency-Key": [
            "An Idempotency-Key has 1 to 255 visible ASCII characters.",
            "This Idempotency-Key was used for another request. Choose another one.",
        ],
        "only clients in Swift make it": [
            "The server answered with status {}.", "The server's answer could not be read{}: {}",
        ],
        "the end of it is a message with a translation": ["An administrator's password {}."],
        "each name of a field has a row": ["The {}"],
        "the console sends no parameter by another name": ["{} is another name of {}, which has another value."],
        "the console gives no consents": [
            "{} is required: send true to revoke the consent.",
            "{} can only be revoked; a consent is given again with POST.",
        ],
        "the console registers no devices, and sends no pictures or inputs": [
            "{} must be the path of an attachment.", "{} is for the platform web only.",
            "{} must be absent: the server chooses the id of a new nag.",
            "{} must name no family and no connection: the upload names the family.",
            "You have registered {} devices within 24 hours, which is the maximum.",
            "You have uploaded {} pictures within 24 hours, which is the maximum.",
        ],
        "the console has no view of telephone numbers and blocks": [
            "You have asked for codes by text message {} times within 24 hours, which is the maximum.",
            "You have changed blocks {} times within 24 hours, which is the maximum.",
        ],
        "the console creates no drafts": [
            "{} asks for a model, which reads only the words of a suggested_nag."
        ],
    ]

    /// The other files in which all words are messages or parts of messages.
    private static let files = [
        "Contract/Core/APIError.swift", "Contract/Core/FieldWords.swift", "Domain/Denial.swift",
        "Domain/DailyLimit.swift", "Domain/DueTimeLimit.swift", "Domain/FamilyPolicy.swift", "Domain/NagLimit.swift",
        "NagzAI/Policy/Constraint.swift", "NagzAI/Policy/ConstraintAction.swift", "NagzAI/Routing/RuleText.swift",
        "Server/Features/Preferences/PreferenceChange.swift", "Server/Features/Preferences/ModelChoice.swift",
        "Server/Features/Policies/PolicyTerms.swift",
    ]

    /// Returns the messages that people can get, with `{}` for values.
    private static func messages(in file: SourceFile) -> [String] {
        var code = file.code
        if file.path.hasPrefix("Server/Refusals/") {
            code = withoutSections(file)
        } else if file.path == "Server/Features/Admins/Admins.swift" {
            code = code.filter { $0.contains("return \"") }
        } else if !files.contains(file.path) {
            guard file.target == "Contract" else { return [] }
            // The first words in each call.
            let calls = code.joined(separator: "\n").matches(of: /\bInvalidInput\(\s*("[^\n]*)/)
            code = calls.map { String($0.output.1) }
        }
        return StringLiterals(in: code.joined(separator: "\n")).texts.compactMap(message)
    }

    /// Returns the lines of a file of refusals that are in sections of which the console shows something.
    private static func withoutSections(_ file: SourceFile) -> [String] {
        var section = ""
        return file.lines.filter { line in
            if let found = line.firstMatch(of: /^ +\/\/ MARK: (.*)$/) { section = String(found.output.1) }
            guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { return false }
            return !sections.contains { file.path == "Server/Refusals/" + $0.file && section == $0.section }
        }
    }

    /// Returns the message that a literal is or ends; nil for codes, names and punctuation.
    private static func message(_ literal: String) -> String? {
        guard literal.contains(" "), literal.contains(/[A-Za-z]/), let first = literal.first else { return nil }
        let text = (first == " " ? "{}" : "") + literal + (literal.last == " " ? "{}" : "")
        return first.isLowercase ? "{} \(text)." : text
    }

    // MARK: Tests

    @Test("a message has a row of the console's words, or a reason for which the console cannot show it")
    func everyMessage() throws {
        let translated = try Self.translated()
        let exceptions = Set(Self.exceptions.values.joined())
        var count = 0
        for file in SourceFile.all {
            for message in Set(Self.messages(in: file)).sorted() {
                count += 1
                let isKnown = translated.contains(message) || translated.contains(message.replacing(/\d+/, with: "{}"))
                guard !isKnown, !exceptions.contains(message) else { continue }
                Issue.record("\(file.path): the console cannot translate “\(message)”. Add a row to serverwords.js.")
            }
        }
        #expect(count > 250)
    }

    @Test("each exception is a message or a section, and no message with a translation is an exception")
    func exceptions() throws {
        let messages = Set(SourceFile.all.flatMap(Self.messages))
        let translated = try Self.translated()
        for exception in Self.exceptions.values.joined() {
            #expect(messages.contains(exception), "no message is “\(exception)”")
            #expect(!translated.contains(exception), "“\(exception)” has a translation")
        }
        for (name, section, _) in Self.sections {
            let file = try #require(SourceFile.all.first { $0.path == "Server/Refusals/" + name })
            #expect(file.lines.contains("    // MARK: \(section)"), "\(name) has no section “\(section)”")
        }
        for path in Self.files { #expect(SourceFile.all.contains { $0.path == path }, "\(path)") }
    }

    @Test("the field of each of the console's forms has a row with its name in the server's messages")
    func fields() throws {
        let translated = try Self.translated()
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.console.path()).sorted()
            .filter { $0.hasSuffix(".js") }.flatMap { name in
                try Self.script(String(name.dropLast(3)))
                    .matches(of: /\b(?:field|checkboxes|question|state|box|select|number)\("([a-z0-9_.\[\]]+)", "/)
                    .map { String($0.output.1) }
            }
        #expect(names.count > 30)
        // The choice of a template only fills in the form.
        for name in Set(names).subtracting(["template"]).sorted() {
            let message = APIError(InvalidInput("is required", field: name)).message
            let subject = message.replacing(" is required.", with: "").replacing(/\ \(entry \d+\)/, with: "")
            #expect(translated.contains(subject), "serverwords.js has no row for “\(subject)” of \(name)")
        }
    }

    @Test("a literal's values become placeholders, and both texts of a choice are found")
    func literals() {
        let code = #"""
            let a = "Wait \(seconds) second\(seconds == 1 ? "" : "s")." + name(of: "x y", 1)
            let b = "One of \(names.map { "“\($0)”" }.joined(separator: ", ")): \(list[index(of: 2)])"
            """#
        #expect(
            StringLiterals(in: code).texts
                == ["", "s", "Wait {} second.", "Wait {} seconds.", "x y", "“{}”", ", ", "One of {}: {}"])
    }
}
