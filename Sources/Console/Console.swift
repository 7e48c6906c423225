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
        File(name: "activity.js", contentType: script, octets: PackageResources.activity_js),
        File(name: "api.js", contentType: script, octets: PackageResources.api_js),
        File(name: "app.js", contentType: script, octets: PackageResources.app_js),
        File(name: "bytes.js", contentType: script, octets: PackageResources.bytes_js),
        File(name: "charts.js", contentType: script, octets: PackageResources.charts_js),
        File(name: "choices.js", contentType: script, octets: PackageResources.choices_js),
        File(name: "consents.js", contentType: script, octets: PackageResources.consents_js),
        File(name: "decisions.js", contentType: script, octets: PackageResources.decisions_js),
        File(name: "detail.js", contentType: script, octets: PackageResources.detail_js),
        File(name: "dom.js", contentType: script, octets: PackageResources.dom_js),
        File(name: "drawer.js", contentType: script, octets: PackageResources.drawer_js),
        File(name: "export.js", contentType: script, octets: PackageResources.export_js),
        File(name: "filters.js", contentType: script, octets: PackageResources.filters_js),
        File(name: "health.js", contentType: script, octets: PackageResources.health_js),
        File(name: "keyboard.js", contentType: script, octets: PackageResources.keyboard_js),
        File(name: "kinds.js", contentType: script, octets: PackageResources.kinds_js),
        File(name: "latest.js", contentType: script, octets: PackageResources.latest_js),
        File(name: "merkle.js", contentType: script, octets: PackageResources.merkle_js),
        File(name: "newentries.js", contentType: script, octets: PackageResources.newentries_js),
        File(name: "notes.js", contentType: script, octets: PackageResources.notes_js),
        File(name: "overview.js", contentType: script, octets: PackageResources.overview_js),
        File(name: "people.js", contentType: script, octets: PackageResources.people_js),
        File(name: "picker.js", contentType: script, octets: PackageResources.picker_js),
        File(name: "poll.js", contentType: script, octets: PackageResources.poll_js),
        File(name: "proof.js", contentType: script, octets: PackageResources.proof_js),
        File(name: "router.js", contentType: script, octets: PackageResources.router_js),
        File(name: "signin.js", contentType: script, octets: PackageResources.signin_js),
        File(name: "theme.js", contentType: script, octets: PackageResources.theme_js),
        File(name: "time.js", contentType: script, octets: PackageResources.time_js),
        File(name: "trail.js", contentType: script, octets: PackageResources.trail_js),
        File(name: "trust.js", contentType: script, octets: PackageResources.trust_js),
    ]
}
