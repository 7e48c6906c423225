import Contract
import Foundation
import JSON
import OpenAPICheck
import Testing

/// The words of the document: what people read and search for an operation.
@Suite("Texts of the OpenAPI document")
struct DocumentTextTests {
    @Test("a summary has two words or more, and no two operations have the same one")
    func summaries() {
        let summaries = document.operations.map { $0.summary.lowercased() }
        #expect(summaries.count == API.all.count)
        #expect(Set(summaries).count == summaries.count)
        for summary in summaries { #expect(summary.split(separator: " ").count >= 2, "\(summary)") }
    }

    @Test("a description begins with a verb that says what the operation does", arguments: document.operations)
    func verb(operation: DescribedOperation) {
        let first = operation.description.prefix { !$0.isWhitespace }
        #expect(first.wholeMatch(of: /[A-Z][a-z]+s,?/) != nil, "\(operation.id): \(first)")
    }

    @Test("a description consists of whole sentences", arguments: document.operations)
    func sentences(operation: DescribedOperation) {
        #expect(operation.description.hasSuffix("."), "\(operation.id)")
        for sentence in Self.sentences(of: operation.description) {
            #expect(Self.isWhole(sentence), "\(operation.id): \(sentence)")
        }
    }

    @Test("a description says when a conflict or a failed precondition occurs that the operation declares")
    func conflicts() {
        let declared = document.operations.flatMap { operation in
            operation.statuses.filter { $0 == 409 || $0 == 412 }.map { (operation, $0) }
        }
        #expect(declared.count > 50)
        for (operation, status) in declared {
            #expect(operation.description.contains("\(status)"), "\(operation.id): \(status)")
        }
    }

    @Test("descriptions of parameters and responses are sentences that name what they describe")
    func parts() {
        let (parameters, responses) = (document.parameterDescriptions, document.responseDescriptions)
        #expect(parameters.count > 50 && responses.count > 20)
        for text in parameters.union(responses) {
            #expect(text.hasSuffix("."), "\(text)")
            for sentence in Self.sentences(of: text) { #expect(!Self.isFragment(sentence), "\(text)") }
        }
    }

    @Test("a property is described by a noun phrase with an article, or by Whether, and no property lacks it")
    func properties() {
        let descriptions = document.propertyDescriptions
        #expect(descriptions.count > 1_000)
        for (place, text) in descriptions {
            #expect(text.wholeMatch(of: /(The|A|An|Whether) [^ ]+ .+\./) != nil, "\(place): \(text)")
            expectReadable(text, place)
        }
    }

    @Test("a schema is described by a noun phrase, or by the verb of what a request does")
    func schemas() {
        let descriptions = document.schemaDescriptions
        #expect(descriptions.count == document.schemaNames.count)
        for (name, text) in descriptions {
            #expect(text.wholeMatch(of: /[A-Z][A-Za-z]* .+ .+\./) != nil, "\(name): \(text)")
            expectReadable(text, name)
        }
    }

    /// Expects whole sentences of a length that can be read, with the words of the field.
    private func expectReadable(_ text: String, _ place: String) {
        #expect(text.count <= 400, "\(place): \(text)")
        for sentence in Self.sentences(of: text) {
            #expect(!Self.isFragment(sentence) && sentence.split(separator: " ").count <= 50, "\(place): \(sentence)")
        }
        for word in Self.coined { #expect(!text.localizedCaseInsensitiveContains(word), "\(place): \(text)") }
    }

    /// Words that a reader would have to look up, because the field has others.
    private static let coined = [
        "mediator", "hand in", "handed in", "take back", "taken back", "takes back", "put out of sight", "what nobody",
        "stands like", "comes again", " told ", "trail", "second key",
    ]

    @Test("each tag is described by a sentence of six words or more")
    func tags() {
        let descriptions = document.tagDescriptions
        #expect(Set(descriptions.keys) == Set(document.operations.flatMap(\.tags)))
        for (tag, description) in descriptions {
            #expect(description.split(separator: " ").count >= 6, "\(tag)")
            #expect(description.first?.isUppercase == true && description.hasSuffix("."), "\(tag)")
        }
    }

    @Test("the check of sentences refuses fragments")
    func checkerCanFail() {
        for text in ["For guardians.", "Of the family's for guardians.", "Newest first.", "Done.", "The oldest first."]
        {
            #expect(!Self.isWhole(text), "\(text)")
        }
        #expect(Self.sentences(of: "Ends it. It is `a.b` then (RFC 9110, 14.2). **Kinds.** Each counts.").count == 3)
        #expect(Self.isWhole("Only guardians may call it."))
    }

    private static func isWhole(_ sentence: String) -> Bool {
        let words = sentence.split(separator: " ")
        return !isFragment(sentence)
            && (words.count > 3 || words.count == 3 && words[0].wholeMatch(of: /[A-Z][a-z]+s/) != nil)
    }

    /// Whether it begins as half a sentence does, or says nothing.
    private static func isFragment(_ sentence: String) -> Bool {
        let (first, words) = (sentence.prefix { $0.isLetter }, sentence.split(separator: " ").count)
        let dangling: Set = [
            "Of", "Those", "As", "What", "How", "Who", "Whom", "Whose", "Which", "Why", "That", "By", "Done", "Made",
            "Newest", "Oldest",
        ]
        return dangling.contains(String(first)) || (first == "For" && words < 12) || words < 2
    }

    /// The sentences of a text, without its headings in bold type.
    private static func sentences(of text: String) -> [String] {
        text.replacing(/\*\*[A-Za-z ]+\.\*\* ?/, with: "").split(separator: /\.\s+(?=[A-Z`])/)
            .map { $0.hasSuffix(".") ? String($0) : "\($0)." }
    }
}
