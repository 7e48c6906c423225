/// Request bodies of constraints.
extension RequestTests {
    static let constraints: [BodyCase] = {
        let family = "\"family_id\":\"\(someID)\""
        let (when, then) = (
            #""conditions":[{"field":"content","operator":"contains","value":"a|b"}]"#,
            #""action":{"type":"force_local"}"#
        )
        let start = #""scope":"own","name":"n","type":"cost","priority":1"#
        let terms = "\(start),\(when),\(then)"
        func condition(_ field: String, _ comparison: String, _ value: String) -> String {
            "{\(family),\(start),\(then),\"conditions\":[{\"field\":\"\(field)\",\"operator\":\"\(comparison)\",\"value\":\(value)}]}"
        }
        func action(_ action: String) -> String { "{\(family),\(start),\(when),\"action\":\(action)}" }
        let create = "ConstraintCreate"
        let made: [[BodyCase]] = [
            fine(
                create, "{\(family),\(terms)}", "{\(family),\(terms),\"enabled\":false,\"more\":1}",
                condition("token_count", "exceeds", "\"10000000\""), condition("intent", "equals", "\"retrieval\""),
                condition("privacy_level", "notEquals", "\"local\""), condition("content", "equals", "\"|\""),
                action(#"{"type":"block","reason":"r"}"#), action(#"{"type":"require_confirmation","prompt":"p"}"#),
                action(#"{"type":"warn","message":"m"}"#)),
            wrong(create, "family_id", "{\(terms)}"),
            wrong(create, "scope", "{\(family),\(terms),\"scope\":\"all\"}".replacing("\"scope\":\"own\",", with: "")),
            wrong(create, "name", "{\(family),\(terms)}".replacing("\"n\"", with: "\" \"")),
            wrong(
                create, "name",
                "{\(family),\(terms)}".replacing("\"n\"", with: "\"\(String(repeating: "x", count: 81))\"")),
            wrong(
                create, "priority", "{\(family),\(terms)}".replacing(":1", with: ":0"),
                "{\(family),\(terms)}".replacing(":1", with: ":1000")),
            wrongBeyondSchema(create, "conditions", "{\(family),\(start),\(then),\"conditions\":[]}"),
            wrong(create, "conditions[0].field", condition("words", "equals", "\"x\"")),
            wrongBeyondSchema(
                create, "conditions[0].operator", condition("content", "exceeds", "\"x\""),
                condition("intent", "contains", "\"retrieval\"")),
            wrong(create, "conditions[0].operator", condition("content", "is", "\"x\"")),
            wrong(
                create, "conditions[0].value", condition("content", "equals", "\"\""),
                condition("token_count", "equals", "5")),
            wrongBeyondSchema(
                create, "conditions[0].value", condition("content", "contains", "\"a||b\""),
                condition("token_count", "equals", "\"-1\""), condition("token_count", "equals", "\"10000001\""),
                condition("intent", "equals", "\"none\""), condition("privacy_level", "equals", "\"\(someID)\"")),
        ]
        let acts: [[BodyCase]] = [
            wrong(create, "action.type", action(#"{"type":"stop"}"#), action("{}")),
            wrong(create, "action.reason", action(#"{"type":"block"}"#), action(#"{"type":"block","reason":" "}"#)),
            wrong(create, "action.prompt", action(#"{"type":"require_confirmation","reason":"r"}"#)),
            wrong(
                create, "action.message",
                action("{\"type\":\"warn\",\"message\":\"\(String(repeating: "x", count: 281))\"}")),
        ]
        let others: [[BodyCase]] = [
            fine("ConstraintUpdate", "{}", #"{"name":null,"enabled":false,"priority":999}"#, "{\(when),\(then)}"),
            wrong("ConstraintUpdate", "name", #"{"name":""}"#),
            wrong("ConstraintUpdate", "priority", #"{"priority":1000}"#),
            wrong("ConstraintUpdate", "type", #"{"type":"other"}"#),
            fine("ConstraintOrderUpdate", "{\"ids\":[\"\(someID)\"]}"),
            wrong("ConstraintOrderUpdate", "ids[0]", #"{"ids":["x"]}"#),
            wrongBeyondSchema(
                "ConstraintOrderUpdate", "ids", #"{"ids":[]}"#, "{\"ids\":[\"\(someID)\",\"\(someID)\"]}"),
            fine(
                "ConstraintDocument", #"{"schema_version":1,"constraints":[]}"#,
                "{\"schema_version\":1,\"constraints\":[{\(terms)}]}"),
            wrong("ConstraintDocument", "schema_version", #"{"schema_version":2,"constraints":[]}"#),
            wrongBeyondSchema(
                "ConstraintDocument", "constraints[1].conditions",
                "{\"schema_version\":1,\"constraints\":[{\(terms)},{\(start),\(then),\"conditions\":[]}]}"),
        ]
        return (made + acts + others).flatMap(\.self) + simulations
    }()

    private static let simulations: [BodyCase] = {
        let family = "\"family_id\":\"\(someID)\""
        func cases(_ text: String) -> String { "{\(family),\"cases\":[\(text)]}" }
        let asked = #""question":{"content":"","privacy_level":"auto"}"#
        let name = "ConstraintSimulation"
        let all: [[BodyCase]] = [
            fine(
                name, cases("{\(asked)}"), cases("{\(asked),\"state\":{}}"),
                cases(
                    "{\(asked),\"state\":{\"local\":{\"model\":{\"name\":\"m\"}},\"mode\":\"byo_only\",\"token_threshold\":null}}"
                )),
            wrong(name, "cases", "{\(family)}") + wrongBeyondSchema(name, "cases", cases("")),
            wrong(name, "cases[0].question.privacy_level", cases(#"{"question":{"content":""}}"#)),
            wrong(
                name, "cases[1].question.content",
                cases(
                    "{\(asked)},{\"question\":{\"content\":\"\(String(repeating: "x", count: 10_001))\",\"privacy_level\":\"auto\"}}"
                )),
            wrong(name, "cases[0].state.mode", cases("{\(asked),\"state\":{\"mode\":\"some\"}}")),
            wrong(
                name, "cases[0].state.local.max_tokens", cases("{\(asked),\"state\":{\"local\":{\"max_tokens\":-1}}}")),
        ]
        return all.flatMap(\.self)
    }()
}
