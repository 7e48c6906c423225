/// Request bodies of executions.
extension RequestTests {
    static let executions: [BodyCase] = {
        let family = "\"family_id\":\"\(someID)\""
        let start = "\(family),\"operation\":\"summarize_excuse\",\"task_type\":\"heuristic\""
        let create = "ExecutionRequest"
        let options = """
            "trace_id":"\(someID)","question_id":"\(someID)","session_id":"s","privacy_level":"cloud","intent":"retrieval",\
            "model":"m","rule_id":"PRIVACY_CLOUD","confirmation":"c"
            """
        let cases: [[BodyCase]] = [
            fine(create, "{\(start)}", "{\(start),\(options),\"text\":\"x\",\"nag_id\":\"\(someID)\",\"more\":1}"),
            wrong(create, "family_id", #"{"operation":"digest","task_type":"heuristic"}"#),
            wrong(create, "operation", "{\(family),\"operation\":\"other\",\"task_type\":\"heuristic\"}"),
            wrong(create, "task_type", "{\(family),\"operation\":\"digest\",\"task_type\":\"other\"}"),
            wrong(create, "text", "{\(start),\"text\":\"\"}"),
            wrong(create, "privacy_level", "{\(start),\"privacy_level\":\"other\"}"),
            wrong(create, "intent", "{\(start),\"intent\":5}"),
            wrong(create, "rule_id", "{\(start),\"rule_id\":\"OTHER\"}"),
            wrong(create, "session_id", "{\(start),\"session_id\":\"\"}"),
            wrong(create, "trace_id", "{\(start),\"trace_id\":\"x\"}"),
            fine("ConfirmationReply", #"{"confirmation":"c","accept":false}"#),
            wrong("ConfirmationReply", "accept", #"{"confirmation":"c"}"#),
            wrong("ConfirmationReply", "confirmation", #"{"accept":false}"#),
            fine("AISessionCreate", "{\(family)}"), wrong("AISessionCreate", "family_id", "{}"),
            fine("AISessionName", #"{"session_id":"s"}"#), wrong("AISessionName", "session_id", "{}"),
        ]
        return cases.flatMap(\.self)
    }()
}
