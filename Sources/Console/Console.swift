/// The admin console's files, embedded in the program: plain HTML, CSS and JavaScript modules.
public enum Console {
    /// One file of the page.
    public struct File: Sendable {
        /// The last part of its path below `/console`; empty for the page itself.
        public let name: String
        public let contentType: String
        public let octets: [UInt8]
    }

    private static let script = "text/javascript; charset=utf-8"

    public static let files: [File] = [
        File(name: "", contentType: "text/html; charset=utf-8", octets: PackageResources.index_html),
        File(name: "console.css", contentType: "text/css; charset=utf-8", octets: PackageResources.console_css),
        File(name: "icon.svg", contentType: "image/svg+xml", octets: PackageResources.icon_svg),
        File(name: "app.js", contentType: script, octets: PackageResources.app_js),
        File(name: "api.js", contentType: script, octets: PackageResources.api_js),
        File(name: "dom.js", contentType: script, octets: PackageResources.dom_js),
        File(name: "charts.js", contentType: script, octets: PackageResources.charts_js),
        File(name: "proof.js", contentType: script, octets: PackageResources.proof_js),
        File(name: "detail.js", contentType: script, octets: PackageResources.detail_js),
        File(name: "trail.js", contentType: script, octets: PackageResources.trail_js),
        File(name: "overview.js", contentType: script, octets: PackageResources.overview_js),
        File(name: "decisions.js", contentType: script, octets: PackageResources.decisions_js),
        File(name: "consents.js", contentType: script, octets: PackageResources.consents_js),
    ]
}
