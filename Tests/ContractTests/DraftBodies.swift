/// Request bodies of drafts.
extension RequestTests {
    static let drafts: [BodyCase] = {
        let start = "\"family_id\":\"\(someID)\",\"kind\":"
        let nag =
            "{\"recipient_id\":\"\(someID)\",\"category\":\"chores\",\"due_at\":\"2026-02-03T04:05:06Z\",\"done_definition\":\"ack_only\"}"
        let time = #"{"due_at":"2026-02-03T04:05:06Z"}"#
        let reward = "{\"rule_id\":\"\(someID)\",\"action_type\":\"badge\",\"amount\":1}"
        // Another kind's body, as far as the document knows.
        let none = "{\"rule_id\":\"\(someID)\",\"action_type\":\"badge\",\"amount\":0,\"message\":\"m\"}"
        let digest = "{\"message\":\"m\",\"recipient_ids\":[\"\(someID)\"]}"
        let twice = "[\"\(someID)\",\"\(someID)\"]"
        let nine = "[\((1...9).map { "\"00000000-0000-4000-8000-00000000000\($0)\"" }.joined(separator: ","))]"
        func create(_ rest: String, _ kind: String = "suggested_nag") -> String { "{\(start)\"\(kind)\",\(rest)}" }
        let long = String(repeating: "x", count: 2001)
        let created: [[BodyCase]] = [
            fine(
                "DraftCreate", create("\"text\":\"t\""), create("\"text\":null,\"body\":\(nag),\"source\":\"voice\""),
                create("\"body\":\(time),\"nag_id\":\"\(someID)\",\"context_ids\":[\"\(someID)\"]", "due_change"),
                create("\"body\":{\"message\":\"m\"}", "push_back"), create("\"body\":\(reward)", "consequence"),
                create("\"body\":\(digest)", "digest"), create("\"recipient_ids\":[\"\(someID)\"]", "digest")),
            wrongBeyondSchema(
                "DraftCreate", "recipient_ids", create("\"recipient_ids\":[]", "digest"),
                create("\"recipient_ids\":\(nine)", "digest"), create("\"recipient_ids\":\(twice)", "digest")),
            wrongBeyondSchema("DraftCreate", "body.recipient_ids", create("\"body\":{\"message\":\"m\"}", "digest")),
            wrongBeyondSchema("DraftCreate", "body.message", create("\"body\":\(time)", "push_back")),
            wrongBeyondSchema("DraftCreate", "body.amount", create("\"body\":\(none)", "consequence")),
            wrong("DraftCreate", "family_id", #"{"kind":"due_change"}"#),
            wrong("DraftCreate", "kind", create("\"text\":\"t\"", "poem")),
            wrong("DraftCreate", "text", create("\"text\":\"\""), create("\"text\":\"\(long)\"")),
            fine(
                "DraftCreate",
                create("\"text\":\"t\",\"task_type\":\"local_llm\",\"model\":\"m\",\"confirmation\":\"c\"")),
            wrong("DraftCreate", "task_type", create("\"task_type\":\"oracle\"")),
            wrong("DraftCreate", "model", create("\"model\":\"\"")),
            wrong("DraftCreate", "confirmation", create("\"confirmation\":\"\"")),
            wrongBeyondSchema(
                "DraftCreate", "task_type", create("\"task_type\":\"cloud_llm\",\"text\":\"t\"", "due_change"),
                create("\"task_type\":\"cloud_llm\",\"body\":\(nag)")),
            wrong("DraftCreate", "source", create("\"source\":\"radio\"")),
            wrong("DraftCreate", "context_ids[0]", create("\"context_ids\":[\"x\"]")),
            wrongBeyondSchema("DraftCreate", "context_ids", create("\"context_ids\":[\"\(someID)\",\"\(someID)\"]")),
            // The document does not connect body and kind.
            wrongBeyondSchema("DraftCreate", "body.recipient_id", create("\"body\":\(time)")),
        ]
        let version = #""version":1"#
        let steps: [[BodyCase]] = [
            fine("DraftUpdate", "{\"body\":{}}", "{\"body\":\(nag),\"source\":\"keyboard\"}"),
            fine("DraftUpdate", #"{"body":{"description":null,"due_at":null}}"#),
            fine("DraftUpdate", "{\"body\":\(digest)}"),
            wrongBeyondSchema("DraftUpdate", "body.recipient_ids", #"{"body":{"recipient_ids":[]}}"#),
            fine("DraftUpdate", "{\"body\":\(reward)}", #"{"body":{"message":"m","amount":null}}"#),
            wrong("DraftUpdate", "body.amount", #"{"body":{"amount":1001}}"#),
            wrong("DraftUpdate", "body.message", #"{"body":{"message":""}}"#),
            wrong("DraftUpdate", "body", "{}"),
            wrong("DraftUpdate", "body.category", #"{"body":{"category":"fun"}}"#),
            wrong("DraftUpdate", "body.description", "{\"body\":{\"description\":\"\(long)\"}}"),
            fine("DraftVersion", "{\(version)}", "{\(version),\"source\":\"shortcut\"}"),
            wrong("DraftVersion", "version", "{}", #"{"version":0}"#, #"{"version":1000001}"#),
            fine("DraftApproval", "{\(version),\"acknowledged_side_effects\":[\"create_nag\",\"notify_recipient\"]}"),
            wrong("DraftApproval", "acknowledged_side_effects", "{\(version)}"),
            wrongBeyondSchema(
                "DraftApproval", "acknowledged_side_effects",
                "{\(version),\"acknowledged_side_effects\":[\"create_nag\",\"create_nag\"]}"),
            wrong(
                "DraftApproval", "acknowledged_side_effects[0]", "{\(version),\"acknowledged_side_effects\":[\"all\"]}"),
            fine("DraftExecution", "{\(version)}", "{\(version),\"confirmation\":\"c\"}"),
            wrong("DraftExecution", "confirmation", "{\(version),\"confirmation\":\"\"}"),
        ]
        return (created + steps).flatMap(\.self)
    }()
}
