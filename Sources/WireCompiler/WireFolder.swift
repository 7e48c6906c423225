import Foundation
import JSON

/// The folder of all declarations, with the frame of the document.
public struct WireFolder {
    /// In the order of the document's tags, and then of their names.
    public let files: [WireFile]
    /// What no declaration says: the document without paths and schemas.
    public let frame: JSONValue

    /// - Throws: a `WireError` that names file and line, or the reason for which a file cannot be read.
    public init(_ folder: URL) throws {
        let frame = try JSONValue(parsing: [UInt8](Data(contentsOf: folder.appending(path: "document.json"))).span)
        let tags = (frame["tags"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
        func rank(_ file: WireFile) -> (Int, String) { (file.tag.flatMap(tags.firstIndex) ?? tags.count, file.name) }
        files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "wire" }
            .map { file in
                let name = file.deletingPathExtension().lastPathComponent
                return try WireParser.parse(String(contentsOf: file, encoding: .utf8), name: name)
            }
            .sorted { rank($0) < rank($1) }
        self.frame = frame
    }

    /// The OpenAPI document.
    public func document() throws -> String { try DocumentWriter(files, frame: frame).document() }

    /// The Swift sources by their file's name.
    public func swift() -> [String: String] {
        var sources = ["Lists.wire.swift": SwiftWriter.lists(of: files)]
        for file in files { sources[file.name + ".wire.swift"] = SwiftWriter.source(of: file) }
        return sources
    }
}
