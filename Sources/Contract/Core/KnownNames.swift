import Synchronization

/// The names that the readers of one request have asked for. Every other name that the client has sent is unknown.
public final class KnownNames: Sendable {
    /// Records the names that the readers of the current body ask for; nil if they are not recorded. Bodies are read
    /// without suspension, so the readers of nested objects use the same value.
    @TaskLocal static var ofBody: KnownNames?

    /// A name that nobody has asked for.
    public struct Unknown: Hashable, Sendable {
        public let name: String
        /// The known name that is most like it; nil if none is.
        public let nearest: String?
    }

    /// The query, or an object of the body.
    private struct Part {
        let sent: [String]
        var known: Set<String> = []
    }

    private let parts = Mutex<[Part]>([])

    public init() {}

    /// Adds the names of a query or an object, and returns its number.
    func add(_ sent: [String]) -> Int {
        parts.withLock { parts in
            parts.append(Part(sent: sent))
            return parts.count - 1
        }
    }

    func markKnown(_ name: String, in part: Int) {
        parts.withLock { parts in _ = parts[part].known.insert(name) }
    }

    /// Runs `read`, and records here the names that the readers of the body ask for.
    public func ofBody<Body>(_ read: () throws(APIError) -> Body) throws(APIError) -> Body {
        try Self.$ofBody.withValue(self) { () -> Result<Body, APIError> in
            do throws(APIError) { return .success(try read()) } catch { return .failure(error) }
        }.get()
    }

    /// The names that were asked for.
    public var known: Set<String> {
        parts.withLock { parts in parts.reduce(into: []) { $0.formUnion($1.known) } }
    }

    /// The unknown names in the order in which they were sent.
    public var unknown: [Unknown] {
        parts.withLock { parts in
            parts.flatMap { part in
                part.sent.filter { !part.known.contains($0) }
                    .map { Unknown(name: $0, nearest: Self.nearest(to: $0, of: part.known)) }
            }
        }
    }

    /// Returns the known name that differs in the fewest letters, without regard to case, underscores and hyphens; nil
    /// if more than a third of the letters differ, and for a long name.
    public static func nearest(to name: String, of known: Set<String>) -> String? {
        guard name.utf8.count <= 64 else { return nil }
        func plain(_ text: String) -> [UInt8] {
            text.lowercased().utf8.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
        }
        let wanted = plain(name)
        let distances = known.sorted().map { (name: $0, distance: distance(wanted, plain($0))) }
        guard let best = distances.min(by: { $0.distance < $1.distance }), best.distance * 3 <= max(wanted.count, 3)
        else { return nil }
        return best.name
    }

    /// Returns the number of bytes that have to be added, removed or replaced, or neighbours swapped (optimal string
    /// alignment).
    private static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var (before, last) = ([Int](), Array(0...other.count))
        for (line, byte) in one.enumerated() {
            var row = [line + 1]
            for (column, second) in other.enumerated() {
                var least = min(last[column] + (byte == second ? 0 : 1), row[column] + 1, last[column + 1] + 1)
                if line > 0, column > 0, byte == other[column - 1], second == one[line - 1] {
                    least = min(least, before[column - 1] + 1)
                }
                row.append(least)
            }
            (before, last) = (last, row)
        }
        return last[other.count]
    }
}

extension KnownNames.Unknown {
    /// The name as an error can repeat it: encoded, and not longer than names are.
    public var told: String { String(percentEncoded(String(name.unicodeScalars.prefix(64))).prefix(64)) }

    /// 422, with the name that was probably meant.
    public var refusal: APIError { .nameIsUnknown(told, nearest: nearest) }
}
