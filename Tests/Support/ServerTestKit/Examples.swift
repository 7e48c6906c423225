import Foundation
import JSON
import Synchronization
import Testing

/// The requests of tests and the server's responses in `openapi/examples.json`. They are the examples of the document
/// that the server shows.
///
/// Tests compare the server's responses with them. This command records them again after a change:
///
///     NAGZ_RECORD_EXAMPLES=yes swift test --filter 'MatrixTests|ExampleTests'
enum Examples {
    private static let file = repository.appending(path: "openapi/examples.json")
    private static let isRecording = ProcessInfo.processInfo.environment["NAGZ_RECORD_EXAMPLES"] != nil
    private static let exchanges = Mutex<[String: JSONValue]>([:])

    /// The examples in the file, by the names of their operations.
    static let recorded: JSONObject = {
        guard let bytes = try? Data(contentsOf: file) else { return [:] }
        return (try? JSONValue(parsing: [UInt8](bytes).span))?.objectValue ?? [:]
    }()

    /// Expects that the operation's example has the members of request and response, or records them.
    static func check(
        _ operation: String, request: [UInt8], _ reply: Reply, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var exchange: JSONObject = [:]
        // A request with a picture is not JSON, so it is not in the example.
        exchange["request"] = request.isEmpty ? nil : try? JSONValue(parsing: request)
        exchange["response"] = reply.json
        guard !exchange.isEmpty else { return }
        if isRecording { return try record(JSONValue.object(exchange).shortened, of: operation) }
        guard let example = recorded[operation] else {
            Issue.record("\(operation) has no example: record it", sourceLocation: sourceLocation)
            return
        }
        #expect(
            example.isLike(.object(exchange)), "record the example of \(operation) again",
            sourceLocation: sourceLocation)
    }

    /// Adds the example, and writes the file with one line for each operation, so that a change is easy to read.
    private static func record(_ exchange: JSONValue, of operation: String) throws {
        try exchanges.withLock { exchanges in
            exchanges[operation] = exchange
            let lines = exchanges.sorted { $0.key < $1.key }.map { name, exchange in
                "\"\(name)\": " + String(decoding: exchange.bytes, as: UTF8.self)
            }
            try Data("{\n\(lines.joined(separator: ",\n"))\n}\n".utf8).write(to: file)
        }
    }
}

extension JSONValue {
    /// The value with at most two elements of each list, and with the first 80 characters of long texts.
    fileprivate var shortened: JSONValue {
        switch self {
        case .array(let elements): .array(elements.prefix(2).map(\.shortened))
        case .object(let object):
            .object(object.members.reduce(into: [:]) { _ = $0.insert($1.value.shortened, for: $1.key) })
        case .string(let text) where text.utf8.count > 200: .string(text.prefix(80) + " …")
        default: self
        }
    }

    /// Returns whether both values have the same members with values of the same kinds. Null matches everything, and an
    /// empty list matches every list.
    fileprivate func isLike(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.null, _), (_, .null): return true
        case (.array(let left), .array(let right)):
            guard let left = left.first, let right = right.first else { return true }
            return left.isLike(right)
        case (.object(let left), .object(let right)):
            return left.count == right.count
                && left.members.allSatisfy { member in right[member.key].map(member.value.isLike) ?? false }
        default: return kindWithArticle == other.kindWithArticle
        }
    }
}
