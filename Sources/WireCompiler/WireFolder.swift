import Foundation
import JSON

/// The folder of all declarations, with the frame of the document.
public struct WireFolder {
    /// The files, in the order of the document's tags, then by name.
    public let files: [WireFile]
    /// The part of the document that no declaration contains: everything but the paths and most schemas.
    public let frame: JSONValue

    /// Reads all files of the folder.
    /// - Throws: a `WireError` that names file and line, or the reason why a file cannot be read.
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

    /// Returns the OpenAPI document as JSON.
    /// - Throws: an error with the name of a type that is not declared.
    public func document() throws -> String { try DocumentWriter(files, frame: frame).document() }

    /// Returns the Swift sources by file name.
    public func swiftSources() -> [String: String] {
        var sources = ["Lists.wire.swift": SwiftWriter.lists(of: files)]
        for file in files { sources[file.name + ".wire.swift"] = SwiftWriter.source(of: file) }
        return sources
    }
}
