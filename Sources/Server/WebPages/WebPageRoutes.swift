import HTTP
import Synchronization
import WebPages

/// The routes of the pages for browsers: the front page, the page about the API with its document, and the admin
/// console. The pages are static files that use the public API, and may load nothing else.
enum WebPageRoutes {
    /// The Content-Security-Policy of a page: its own scripts, styles and calls, and nothing from anywhere else.
    static let securityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'
        """

    /// The pages, which all loops share.
    private static let pages: [(path: String, file: FileResponse)] = WebPages.files.map { file in
        let mediaType = MediaType(file.contentType, securityPolicy: securityPolicy, isCompressible: true)
        let fields = [
            HeaderField("referrer-policy", "no-referrer"), HeaderField("x-frame-options", "DENY"),
            HeaderField("cross-origin-opener-policy", "same-origin"),
        ]
        return (file.path, FileResponse(mediaType, fields: fields) { file.bytes })
    }

    /// The documents about the API, by their paths.
    private static let documents = [
        ("/openapi.json", FileResponse(.json) { APIDocument.bytes }),
        ("/docs/guide.md", FileResponse(markdown) { WebPages.apiGuide }),
    ]

    private static let markdown = MediaType(
        "text/markdown; charset=utf-8", securityPolicy: securityPolicy, isCompressible: true)

    /// - Parameter home: the page to which `/` redirects; nil for the front page.
    static func register(in routes: RouteTable, home: String?) {
        for (path, file) in pages + documents {
            if path == "/", let home {
                let redirect = Response(.found, fields: [HeaderField("location", home)])
                routes.add(Route.immediate(.get, path) { _ in redirect })
            } else {
                routes.add(Route(.get, path) { await file.response(to: $0) })
            }
        }
    }
}

/// The response with a file. It is created at the first request for the file, outside the event loops, because hashing
/// and compressing all files would delay the start.
private final class FileResponse: Sendable {
    private let createResponse: @Sendable () -> ConstantResponse
    private let responseTask = Mutex<Task<ConstantResponse, Never>?>(nil)

    init(_ mediaType: MediaType, fields: [HeaderField] = [], _ bytes: @escaping @Sendable () -> [UInt8]) {
        createResponse = {
            ConstantResponse(mediaType, fields: [HeaderField("cache-control", "no-cache")] + fields, bytes: bytes())
        }
    }

    func response(to request: Request) async -> Response {
        let task = responseTask.withLock { [createResponse] responseTask in
            let task = responseTask ?? Task.detached { createResponse() }
            responseTask = task
            return task
        }
        return await task.value.response(to: request)
    }
}
