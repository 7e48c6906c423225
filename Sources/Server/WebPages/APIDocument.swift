import Contract
import JSON
import WebPages

/// The OpenAPI document as the server shows it: `openapi/openapi.json`, with the recorded request and response of each
/// operation as its examples.
enum APIDocument {
    static var bytes: [UInt8] { withExamples(WebPages.apiDocument, WebPages.apiExamples) }

    /// Adds the examples to the document. Returns the document unchanged if it or the examples cannot be read, which
    /// tests exclude.
    private static func withExamples(_ bytes: [UInt8], _ examples: [UInt8]) -> [UInt8] {
        guard var document = try? JSONValue(parsing: bytes), let examples = try? JSONValue(parsing: examples) else {
            return bytes
        }
        for operation in API.all {
            guard let example = examples[operation.id] else { continue }
            let method = operation.method.rawValue.lowercased()
            let content = ["content", "application/json"]
            for (part, place) in [
                ("request", ["requestBody"]), ("response", ["responses", "\(operation.successStatus)"]),
            ] {
                guard let value = example[part] else { continue }
                document.add(value, as: "example", to: (["paths", operation.path, method] + place + content)[...])
            }
        }
        return document.bytes
    }
}

extension JSONValue {
    /// Adds a member to the object at the end of the path, if there is one.
    fileprivate mutating func add(_ value: JSONValue, as name: String, to path: ArraySlice<String>) {
        guard case .object(var object) = self else { return }
        if let step = path.first {
            guard var inner = object[step] else { return }
            inner.add(value, as: name, to: path.dropFirst())
            object[step] = inner
        } else {
            object[name] = value
        }
        self = .object(object)
    }
}
