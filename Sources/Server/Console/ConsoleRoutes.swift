import Console
import HTTP

/// The admin console at `/console`: static files that speak the public API and may load and reach nothing else.
enum ConsoleRoutes {
    /// What the page may do: its own scripts, styles and calls, and nothing from anywhere else.
    static let securityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
        base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'
        """

    static func register(in routes: RouteTable) {
        for file in Console.files {
            let mediaType = MediaType(
                file.contentType, securityPolicy: securityPolicy, isCompressible: true)
            let response = Response(
                .ok, mediaType,
                fields: [
                    HeaderField("cache-control", "no-cache"), HeaderField("referrer-policy", "no-referrer"),
                    HeaderField("x-frame-options", "DENY"), HeaderField("cross-origin-opener-policy", "same-origin"),
                ], bytes: file.bytes)
            let tag = EntityTag(over: file.bytes)
            let path = file.name.isEmpty ? "/console" : "/console/\(file.name)"
            routes.add(Route.immediate(.get, path) { response.tagged(tag, for: $0) })
        }
    }
}
