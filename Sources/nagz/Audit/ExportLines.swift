import Contract
import Foundation
import JSON

/// Cuts octets into lines, however they come.
struct LineSplitter {
    private var rest: [UInt8] = []

    /// Gives each line that is complete.
    mutating func add(_ octets: some Collection<UInt8>, _ give: (ArraySlice<UInt8>) throws -> Void) rethrows {
        rest += octets
        var start = 0
        while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if end > start { try give(rest[start..<end]) }
            start = end + 1
        }
        rest.removeFirst(start)
    }

    /// Whether the octets ended inside a line.
    var isInsideLine: Bool { !rest.isEmpty }
}

extension AuditExportLine {
    /// Reads a line; nil for what is none.
    init?(_ line: ArraySlice<UInt8>) {
        guard let json = try? JSONValue(parsing: line.span), let read = try? AuditExportLine(json: json) else {
            return nil
        }
        self = read
    }
}

/// Checkpoints that a witness kept: one JSON object with a member `note` a line, or a single note as it is.
enum WitnessFile {
    static func read(_ path: String) throws -> [String] {
        guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
            throw Stop(.configuration, "the witness's file “\(path)” cannot be read")
        }
        if !text.hasPrefix("{") { return [text] }
        return try text.split(separator: "\n").map { line in
            guard let json = try? JSONValue(parsing: Array(line.utf8).span), let note = json["note"]?.stringValue else {
                throw Stop(.configuration, "“\(path)” is not what “nagz audit witness” keeps")
            }
            return note
        }
    }
}
