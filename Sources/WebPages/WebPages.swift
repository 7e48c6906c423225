import CWebPages

/// The files that the program serves to browsers, embedded in it: the front page, the page about the API and the admin
/// console, as plain HTML, CSS and JavaScript modules; and the documents about the API.
public enum WebPages {
    /// A file and the path at which the server serves it.
    public struct File: Sendable {
        public let path: String
        public let contentType: String
        fileprivate let embeddedFile: EmbeddedFile

        public var bytes: [UInt8] { embeddedFile.bytes }
    }

    /// `openapi/openapi.json`.
    public static var apiDocument: [UInt8] { bytes(of: "openapi/openapi.json") }

    /// `openapi/examples.json`: a request of each operation, and the server's recorded response.
    public static var apiExamples: [UInt8] { bytes(of: "openapi/examples.json") }

    /// `openapi/README.md`: the API guide, in Markdown.
    public static var apiGuide: [UInt8] { bytes(of: "openapi/README.md") }

    /// The files of the pages. A folder's `index.html` is served at the folder's path.
    public static let files: [File] = embeddedFiles.compactMap { file in
        let name = file.name
        guard let dot = name.lastIndex(of: "."), let contentType = contentTypes[String(name[dot...])]
        else { return nil }
        let servedName = name.hasSuffix("/index.html") ? name.dropLast("/index.html".count) : name[...]
        let path = servedName.dropFirst("pages".count)
        return File(path: path.isEmpty ? "/" : String(path), contentType: contentType, embeddedFile: file)
    }

    private static let contentTypes = [
        ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
    ]

    private static func bytes(of name: String) -> [UInt8] {
        embeddedFiles.first { $0.name.hasSuffix(name) }?.bytes ?? []
    }

    private static let embeddedFiles: [EmbeddedFile] = {
        var files: [EmbeddedFile] = []
        while let file = EmbeddedFile(number: files.count) { files.append(file) }
        return files
    }()

    /// A file in the program's memory. It is copied when it is read.
    fileprivate struct EmbeddedFile: Sendable {
        let name: String
        private let number: Int

        /// Finds an embedded file by its number; nil after the last file.
        init?(number: Int) {
            guard let pages = unsafe web_pages(), let name = unsafe pages[number].name else { return nil }
            (self.name, self.number) = (unsafe String(cString: name), number)
        }

        var bytes: [UInt8] {
            guard let pages = unsafe web_pages(), let text = unsafe pages[number].text else { return [] }
            return unsafe Array(String(cString: text).utf8)
        }
    }
}
