import CWebPages

/// The files that the program serves to browsers, embedded in it: the front page, the page about the API, the admin
/// console, and the document that describes the API. Plain HTML, CSS and JavaScript modules.
public enum WebPages {
    public struct File: Sendable {
        /// Where it is served.
        public let path: String
        public let contentType: String
        public let bytes: [UInt8]
    }

    /// `openapi/openapi.json`.
    public static let apiDocument = bytes(of: "openapi/openapi.json")

    /// `openapi/examples.json`: a request of each operation, and what the server has answered.
    public static let apiExamples = bytes(of: "openapi/examples.json")

    /// `openapi/README.md`: the API guide, in Markdown.
    public static let apiGuide = bytes(of: "openapi/README.md")

    /// Everything else. A folder's `index.html` is served at the folder's name.
    public static let files: [File] = embedded.compactMap { name, bytes in
        guard let dot = name.lastIndex(of: "."), let contentType = contentTypes[String(name[dot...])]
        else { return nil }
        let place = name.hasSuffix("/index.html") ? name.dropLast("/index.html".count) : name[...]
        let path = place.dropFirst("pages".count)
        return File(path: path.isEmpty ? "/" : String(path), contentType: contentType, bytes: bytes)
    }

    private static let contentTypes = [
        ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
    ]

    private static func bytes(of name: String) -> [UInt8] {
        embedded.first { $0.name.hasSuffix(name) }?.bytes ?? []
    }

    private static let embedded: [(name: String, bytes: [UInt8])] = {
        var files: [(name: String, bytes: [UInt8])] = []
        var page = unsafe web_pages()
        while let file = unsafe page, let name = unsafe file.pointee.name, let text = unsafe file.pointee.text {
            files.append((unsafe String(cString: name), unsafe Array(String(cString: text).utf8)))
            unsafe page = file + 1
        }
        return files
    }()
}
