import Synchronization

/// The names that the readers of one request have read. Every other name in the request is unknown.
public final class KnownNames: Sendable {
    /// The value that records the names of the current body; nil if they are not recorded. Bodies are read without
    /// suspension, so the readers of nested objects use the same value.
    @TaskLocal static var current: KnownNames?

    /// A name in the request that no reader has read.
    public struct Unknown: Hashable, Sendable {
        public let name: String
        /// The most similar known name; nil if none is similar.
        public let nearest: String?
    }

    /// The names of the query, or of an object of the body.
    private struct Part {
        let sentNames: [String]
        var knownNames: Set<String> = []
    }

    private let parts = Mutex<[Part]>([])

    public init() {}

    /// Adds a part with the names that were sent, and returns its index.
    func addPart(_ sentNames: [String]) -> Int {
        parts.withLock { parts in
            parts.append(Part(sentNames: sentNames))
            return parts.count - 1
        }
    }

    /// Records that a reader has read a name.
    func markKnown(_ name: String, in part: Int) {
        parts.withLock { parts in _ = parts[part].knownNames.insert(name) }
    }

    /// Runs `read`, and records the names that the readers of the body read.
    public func recordBodyNames<Body>(_ read: () throws(APIError) -> Body) throws(APIError) -> Body {
        try Self.$current.withValue(self) { () -> Result<Body, APIError> in
            do throws(APIError) { return .success(try read()) } catch { return .failure(error) }
        }.get()
    }

    /// All names that were read.
    public var knownNames: Set<String> {
        parts.withLock { parts in parts.reduce(into: []) { $0.formUnion($1.knownNames) } }
    }

    /// The unknown names in the order in which they were sent.
    public var unknownNames: [Unknown] {
        parts.withLock { parts in
            parts.flatMap { part in
                part.sentNames.filter { !part.knownNames.contains($0) }
                    .map { Unknown(name: $0, nearest: Self.nearest(to: $0, of: part.knownNames)) }
            }
        }
    }

    /// Returns the known name that differs in the fewest letters, ignoring case, underscores and hyphens. Returns nil
    /// if several letters differ and these are more than a third, or if the name is longer than 64 bytes.
    public static func nearest(to name: String, of known: Set<String>) -> String? {
        guard name.utf8.count <= 64 else { return nil }
        func normalized(_ text: String) -> [UInt8] {
            text.lowercased().utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
        }
        let target = normalized(name)
        let distances = known.sorted().map { (name: $0, distance: distance(target, normalized($0))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }), best.distance * 3 <= max(target.count, 3)
        else { return nil }
        return best.name
    }

    /// Returns the number of edits between two names: added, removed, replaced or swapped bytes (optimal string
    /// alignment).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var (secondLastRow, lastRow) = ([Int](), Array(0...right.count))
        for (line, leftByte) in left.enumerated() {
            var row = [line + 1]
            for (column, rightByte) in right.enumerated() {
                let replacement = lastRow[column] + (leftByte == rightByte ? 0 : 1)
                var smallest = min(replacement, row[column] + 1, lastRow[column + 1] + 1)
                if line > 0, column > 0, leftByte == right[column - 1], rightByte == left[line - 1] {
                    smallest = min(smallest, secondLastRow[column - 1] + 1)
                }
                row.append(smallest)
            }
            (secondLastRow, lastRow) = (lastRow, row)
        }
        return lastRow[right.count]
    }
}

extension KnownNames.Unknown {
    /// The name in a form that is safe in an error: percent-encoded, at most 64 characters.
    public var safeName: String { String(percentEncoded(String(name.unicodeScalars.prefix(64))).prefix(64)) }

    /// The error for the name: 422, with the name that was probably meant.
    public var refusal: APIError { .nameIsUnknown(safeName, nearest: nearest) }
}
