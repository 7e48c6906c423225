import Audit
import Contract
import Dispatch
import Foundation
import JSON
import Reactor

/// Splits bytes that arrive in parts into lines.
struct LineSplitter {
    /// The bytes after the last line feed.
    private var incompleteLine: [UInt8] = []

    /// Adds bytes, and calls `handleLine` with each complete line that is not empty.
    mutating func add(_ bytes: some Collection<UInt8>, _ handleLine: (ArraySlice<UInt8>) throws -> Void) rethrows {
        incompleteLine += bytes
        var start = 0
        while let end = incompleteLine[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if end > start { try handleLine(incompleteLine[start..<end]) }
            start = end + 1
        }
        incompleteLine.removeFirst(start)
    }

    /// Adds bytes; removes all complete lines and returns them with their line feeds.
    mutating func takeCompleteLineBytes(adding bytes: some Collection<UInt8>) -> [UInt8] {
        incompleteLine += bytes
        guard let end = incompleteLine.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let complete = Array(incompleteLine[...end])
        incompleteLine = Array(incompleteLine[(end + 1)...])
        return complete
    }
}

/// A line of an export, parsed as far as that is possible without earlier lines.
enum ParsedLine: Sendable {
    /// An entry in the server's exact form.
    case entry(ExportRecord)
    /// Any other line, which needs the JSON parser.
    case unparsed(ArraySlice<UInt8>)

    private init(_ line: ArraySlice<UInt8>) {
        if case .entry(let entry, let payload, let position)? = EntryLineParser.parse(line) {
            self = .entry(.prepared(PreparedEntry(entry, payload, position: position)))
        } else {
            self = .unparsed(line)
        }
    }

    /// Parses lines on all processors, and returns them in order.
    static func parseAll(_ bytes: [UInt8]) -> [ParsedLine] {
        let parts = parts(of: bytes, ProcessInfo.processInfo.activeProcessorCount)
        let parsedParts = Locked([[ParsedLine]](repeating: [], count: parts.count))
        DispatchQueue.concurrentPerform(iterations: parts.count) { index in
            let lines = lines(of: bytes[parts[index]]).map(ParsedLine.init)
            parsedParts.withLock { $0[index] = lines }
        }
        return parsedParts.withLock { $0.flatMap(\.self) }
    }

    /// Returns the lines that are not empty, without their line feeds. It uses the C library's `memchr`.
    private static func lines(of bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        lines.reserveCapacity(bytes.count / 512)
        bytes.withUnsafeBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return }
            var start = 0
            while start < buffer.count {
                let found = memchr(base + start, Int32(UInt8(ascii: "\n")), buffer.count - start)
                let end = found.map { UnsafeRawPointer($0) - UnsafeRawPointer(base) } ?? buffer.count
                if end > start { lines.append(bytes[bytes.startIndex + start..<bytes.startIndex + end]) }
                start = end + 1
            }
        }
        return lines
    }

    /// Returns at most `maxCount` ranges of about the same length, each of which ends at the end of a line.
    private static func parts(of bytes: [UInt8], _ maxCount: Int) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = 0
        for part in 1...max(1, maxCount) {
            let targetEnd = bytes.count * part / max(1, maxCount)
            let end = bytes[max(targetEnd, start)...].firstIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? bytes.count
            if end > start { parts.append(start..<end) }
            start = end
        }
        return parts
    }
}

/// Lines that other threads parse while their reader is busy.
final class ReadAhead: Sendable {
    private let parsedLines = Locked<[ParsedLine]?>(nil)
    private let completion = DispatchSemaphore(value: 0)

    init(_ bytes: [UInt8]) {
        DispatchQueue.global().async { [self] in
            let lines = ParsedLine.parseAll(bytes)
            parsedLines.withLock { $0 = lines }
            completion.signal()
        }
    }

    /// Waits for the lines, and returns them. Call it only once.
    func waitForLines() -> [ParsedLine] {
        completion.wait()
        return parsedLines.withLock { $0 ?? [] }
    }
}

extension AuditExportLine {
    /// Parses a line; nil for an invalid one.
    init?(_ line: ArraySlice<UInt8>) {
        guard let json = try? JSONValue(parsing: line.span), let exportLine = try? AuditExportLine(json: json) else {
            return nil
        }
        self = exportLine
    }
}

/// A witness's file of checkpoints: lines that are each a JSON object with a member `note`, or a single note.
enum WitnessFile {
    /// Returns the notes in the file.
    /// - Parameter acceptsSingleNote: false for a file that lines are to be appended to.
    static func read(_ path: String, acceptsSingleNote: Bool = true) throws -> [String] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw Stop(.configuration, "the witness's file “\(path)” cannot be read")
        }
        guard text.hasPrefix("{") else {
            guard acceptsSingleNote else {
                throw Stop(
                    .configuration, "“\(path)” has no lines of “nagz audit witness”: name another file to append to")
            }
            return [text]
        }
        return try text.split(separator: "\n").map { line in
            guard let json = try? JSONValue(parsing: Array(line.utf8).span), let note = json["note"]?.stringValue else {
                throw Stop(.configuration, "“\(path)” is not a file of “nagz audit witness”")
            }
            return note
        }
    }
}
