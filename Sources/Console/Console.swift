/// The admin console's files, embedded in the program: plain HTML, CSS and JavaScript modules.
public enum Console {
    /// One file of the page.
    public struct File: Sendable {
        /// The last part of its path below `/console`; empty for the page itself.
        public let name: String
        public let contentType: String
        public let bytes: [UInt8]
    }

    private static let script = "text/javascript; charset=utf-8"

    public static let files: [File] = [
        File(name: "", contentType: "text/html; charset=utf-8", bytes: PackageResources.index_html),
        File(name: "console.css", contentType: "text/css; charset=utf-8", bytes: PackageResources.console_css),
        File(name: "icon.svg", contentType: "image/svg+xml", bytes: PackageResources.icon_svg),
        File(name: "activity.js", contentType: script, bytes: PackageResources.activity_js),
        File(name: "api.js", contentType: script, bytes: PackageResources.api_js),
        File(name: "app.js", contentType: script, bytes: PackageResources.app_js),
        File(name: "auditlog.js", contentType: script, bytes: PackageResources.auditlog_js),
        File(name: "bytes.js", contentType: script, bytes: PackageResources.bytes_js),
        File(name: "cards.js", contentType: script, bytes: PackageResources.cards_js),
        File(name: "charts.js", contentType: script, bytes: PackageResources.charts_js),
        File(name: "choices.js", contentType: script, bytes: PackageResources.choices_js),
        File(name: "confirm.js", contentType: script, bytes: PackageResources.confirm_js),
        File(name: "consents.js", contentType: script, bytes: PackageResources.consents_js),
        File(name: "constraintfields.js", contentType: script, bytes: PackageResources.constraintfields_js),
        File(name: "constraintfile.js", contentType: script, bytes: PackageResources.constraintfile_js),
        File(name: "constraintform.js", contentType: script, bytes: PackageResources.constraintform_js),
        File(name: "constraints.js", contentType: script, bytes: PackageResources.constraints_js),
        File(name: "decisions.js", contentType: script, bytes: PackageResources.decisions_js),
        File(name: "deliveries.js", contentType: script, bytes: PackageResources.deliveries_js),
        File(name: "detail.js", contentType: script, bytes: PackageResources.detail_js),
        File(name: "dom.js", contentType: script, bytes: PackageResources.dom_js),
        File(name: "draftform.js", contentType: script, bytes: PackageResources.draftform_js),
        File(name: "drafts.js", contentType: script, bytes: PackageResources.drafts_js),
        File(name: "drawer.js", contentType: script, bytes: PackageResources.drawer_js),
        File(name: "executions.js", contentType: script, bytes: PackageResources.executions_js),
        File(name: "export.js", contentType: script, bytes: PackageResources.export_js),
        File(name: "filters.js", contentType: script, bytes: PackageResources.filters_js),
        File(name: "form.js", contentType: script, bytes: PackageResources.form_js),
        File(name: "health.js", contentType: script, bytes: PackageResources.health_js),
        File(name: "keyboard.js", contentType: script, bytes: PackageResources.keyboard_js),
        File(name: "kinds.js", contentType: script, bytes: PackageResources.kinds_js),
        File(name: "latest.js", contentType: script, bytes: PackageResources.latest_js),
        File(name: "merkle.js", contentType: script, bytes: PackageResources.merkle_js),
        File(name: "moderation.js", contentType: script, bytes: PackageResources.moderation_js),
        File(name: "newentries.js", contentType: script, bytes: PackageResources.newentries_js),
        File(name: "notes.js", contentType: script, bytes: PackageResources.notes_js),
        File(name: "overview.js", contentType: script, bytes: PackageResources.overview_js),
        File(name: "people.js", contentType: script, bytes: PackageResources.people_js),
        File(name: "picker.js", contentType: script, bytes: PackageResources.picker_js),
        File(name: "policies.js", contentType: script, bytes: PackageResources.policies_js),
        File(name: "poll.js", contentType: script, bytes: PackageResources.poll_js),
        File(name: "proof.js", contentType: script, bytes: PackageResources.proof_js),
        File(name: "proposal.js", contentType: script, bytes: PackageResources.proposal_js),
        File(name: "providers.js", contentType: script, bytes: PackageResources.providers_js),
        File(name: "report.js", contentType: script, bytes: PackageResources.report_js),
        File(name: "router.js", contentType: script, bytes: PackageResources.router_js),
        File(name: "signin.js", contentType: script, bytes: PackageResources.signin_js),
        File(name: "simulator.js", contentType: script, bytes: PackageResources.simulator_js),
        File(name: "theme.js", contentType: script, bytes: PackageResources.theme_js),
        File(name: "time.js", contentType: script, bytes: PackageResources.time_js),
        File(name: "trust.js", contentType: script, bytes: PackageResources.trust_js),
    ]
}
