import HTTP
import WebPages

/// What browsers open: the front page, the page about the API with its document, and the admin console. Static files
/// that speak the public API and may load and reach nothing else.
enum WebPageRoutes {
    /// What a page may do: its own scripts, styles and calls, and nothing from anywhere else.
    static let securityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'
        """

    /// Made once for all loops.
    private static let pages: [(path: String, response: ConstantResponse)] = WebPages.files.map { file in
        let mediaType = MediaType(file.contentType, securityPolicy: securityPolicy, isCompressible: true)
        let fields = [
            HeaderField("cache-control", "no-cache"), HeaderField("referrer-policy", "no-referrer"),
            HeaderField("x-frame-options", "DENY"), HeaderField("cross-origin-opener-policy", "same-origin"),
        ]
        return (file.path, ConstantResponse(mediaType, fields: fields, bytes: file.bytes))
    }

    private static let documents = [
        ("/openapi.json", MediaType.json, APIDocument.bytes), ("/docs/guide.md", markdown, WebPages.apiGuide),
    ].map { path, mediaType, bytes in
        (path, ConstantResponse(mediaType, fields: [HeaderField("cache-control", "no-cache")], bytes: bytes))
    }

    private static let markdown = MediaType(
        "text/markdown; charset=utf-8", securityPolicy: securityPolicy, isCompressible: true)

    /// - Parameter home: where `/` leads instead of to the front page.
    static func register(in routes: RouteTable, home: String?) {
        for (path, page) in pages {
            if path == "/", let home {
                let redirect = Response(.found, fields: [HeaderField("location", home)])
                routes.add(Route.immediate(.get, path) { _ in redirect })
            } else {
                routes.add(Route.immediate(.get, path) { page.response(to: $0) })
            }
        }
        for (path, document) in documents {
            routes.add(Route.immediate(.get, path) { document.response(to: $0) })
        }
    }
}
