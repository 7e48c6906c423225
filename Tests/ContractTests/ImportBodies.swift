extension RequestTests {
    /// Lists that people import, and the steps of their drafts.
    static let imports: [BodyCase] = {
        let nag = "\"recipient_id\":\"\(someID)\",\"category\":\"chores\",\"done_definition\":\"ack_only\""
        let due = #""due_at":"2026-02-03T04:05:06Z""#
        func item(_ rest: String) -> String { "{\"item_id\":\"\(someID)\",\(rest)}" }
        let whole = item("\(nag),\(due)")
        func batch(_ items: String, _ source: String = "import", _ more: String = "") -> String {
            "{\"family_id\":\"\(someID)\",\"import_id\":\"\(someID)\",\"source\":\"\(source)\","
                + "\"items\":[\(items)]\(more)}"
        }
        let choice = "{\"draft_id\":\"\(someID)\",\"version\":1}"
        let chosen = "\"drafts\":[\(choice)]"
        let imported: [[BodyCase]] = [
            fine(
                "NagImport", batch(whole),
                batch(item("\(nag),\(due),\"description\":null"), "voice", ",\"dry_run\":true")),
            wrongBeyondSchema(
                "NagImport", "items", batch(""),
                batch(Array(repeating: whole, count: 101).joined(separator: ","))),
            wrongBeyondSchema("NagImport", "items", batch("\(whole),\(whole)")),
            wrong("NagImport", "source", batch(whole, "radio")),
            wrong("NagImport", "family_id", "{\"import_id\":\"\(someID)\",\"source\":\"import\",\"items\":[\(whole)]}"),
            wrong("NagImport", "import_id", "{\"family_id\":\"\(someID)\",\"source\":\"import\",\"items\":[\(whole)]}"),
            wrong("NagImport", "dry_run", batch(whole, "import", ",\"dry_run\":1")),
            wrong("NagImport", "items[0].item_id", batch("{\(nag),\(due)}")),
            wrongBeyondSchema("NagImport", "items[0].item_id", batch("{\"item_id\":\"a\\nb\",\(nag),\(due)}")),
            wrong("NagImport", "items[0].item_id", batch("{\"item_id\":\"\",\(nag),\(due)}")),
            fine("NagImport", batch("{\"item_id\":\"1@calendar.example.com\",\(nag),\(due)}")),
            wrong("NagImport", "items[0].due_at", batch(item(nag))),
            wrong("NagImport", "items[0].category", batch(item("\"recipient_id\":\"\(someID)\",\(due)"))),
        ]
        let steps: [[BodyCase]] = [
            fine("ImportSelection", "{\(chosen)}", "{\(chosen),\"source\":\"shortcut\"}"),
            wrong("ImportSelection", "drafts", "{}"),
            wrongBeyondSchema("ImportSelection", "drafts", "{\"drafts\":[]}"),
            wrongBeyondSchema("ImportSelection", "drafts", "{\"drafts\":[\(choice),\(choice)]}"),
            wrong("ImportSelection", "drafts[0].version", "{\"drafts\":[{\"draft_id\":\"\(someID)\",\"version\":0}]}"),
            wrong("ImportSelection", "source", "{\(chosen),\"source\":\"radio\"}"),
            fine("ImportApproval", "{\(chosen),\"acknowledged_side_effects\":[\"create_nag\"]}"),
            wrong("ImportApproval", "acknowledged_side_effects", "{\(chosen)}"),
            fine("ImportExecution", "{\(chosen)}", "{\(chosen),\"confirmation\":\"c\"}"),
            wrong("ImportExecution", "confirmation", "{\(chosen),\"confirmation\":\"\"}"),
        ]
        return (imported + steps).flatMap(\.self)
    }()
}
