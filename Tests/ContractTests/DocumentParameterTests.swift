import Contract
import JSON
import OpenAPICheck
import Testing

/// Holds what the document says of query parameters to what the code reads.
@Suite("Query parameters of the OpenAPI document")
struct DocumentParameterTests {
    /// A query parameter of a sample.
    private struct Case: Sendable {
        let sample: Sample
        let parameter: DescribedOperation.Parameter

        /// The target as the code understands it: with that value, or without the parameter.
        func target(_ value: String?) throws -> String {
            let others = sample.query.filter { $0.name != parameter.name }
            return try sample.targetWithQuery(others + (value.map { [(parameter.name, $0)] } ?? []))
        }
    }

    private static let all: [Case] = Sample.all.flatMap { sample in
        let described = document.operation(sample.operation.method.rawValue, sample.operation.path)
        return (described?.parameters ?? []).filter { $0.place == "query" }.map { Case(sample: sample, parameter: $0) }
    }

    @Test("a parameter that is left out has the document's default, and another value gives another request")
    func defaults() throws {
        let cases = Self.all.filter { $0.parameter.standard != nil }
        #expect(Set(cases.map(\.parameter.name)).isSuperset(of: ["limit", "offset", "format", "dry_run", "facts"]))
        for one in cases {
            let standard = try #require(one.parameter.standard)
            let (omitted, place) = (try one.target(nil), "\(one.sample.operation.id): \(one.parameter.name)")
            #expect(try one.target(Self.text(standard)) == omitted, "\(place)")
            let others = Self.others(than: standard, of: one.parameter.values)
            #expect(try others.contains { try one.target($0) != omitted }, "\(place)")
        }
    }

    @Test("every value that the document lists is read, and no other one")
    func values() throws {
        let cases = Self.all.filter { !$0.parameter.values.isEmpty }
        #expect(cases.count > 20)
        for one in cases {
            let place = "\(one.sample.operation.id): \(one.parameter.name)"
            for value in one.parameter.values {
                let text = Self.text(value)
                #expect(try one.target(text).contains("\(one.parameter.name)=\(text)"), "\(place)")
            }
            // An unknown task is refused later, with its entry in the history.
            guard one.parameter.name != "task_type" else { continue }
            #expect(throws: APIError.self, "\(place)") { try one.target("nonsense") }
        }
    }

    private static func text(_ value: JSONValue) -> String {
        value.stringValue ?? String(decoding: value.bytes, as: UTF8.self)
    }

    private static func others(than standard: JSONValue, of values: [JSONValue]) -> [String] {
        switch standard {
        case .bool(let value): ["\(!value)"]
        case .integer(let value): ["\(value + 1)", "\(value - 1)"]
        default: values.filter { $0 != standard }.map(text)
        }
    }
}
