import Contract
import Domain
import JSON
import NagzAI
import Postgres
import SQL

/// An `ExecutionReport` in its stored form: only the differences from an ordinary answer, which the rules give and no
/// constraint affects. Most answers are ordinary.
struct StoredReport {
    /// The members that differ from an ordinary answer, as a JSON object.
    let jsonText: String
    /// The identifiers of the evaluated constraints, sixteen bytes each; nil for none.
    let evaluatedBytes: [UInt8]?

    /// The report of an ordinary answer. A stored report may omit members that have these values.
    private static let ordinaryMembers: JSONObject = [
        "provider": "heuristic", "model": .null, "rule_id": .string(RoutingRule.autoCloud.rawValue),
        "task_type": .string(TaskType.heuristic.rawValue), "privacy_level": .string(PrivacyLevel.auto.rawValue),
        "intent": .null, "fallback_allowed": false, "used_fallback": false, "fallback_reason": "none",
        "fallback_confirmed": "none", "constraint_confirmed": "none", "asked": .null, "claimed_rule_id": .null,
        "question_hash": .null, "question_length": 0, "stages": [],
        "confidence": 0.7, "token_count": 0, "evaluated": [], "applied": [],
        "warnings": [], "violation_reason": .null, "side_effects": ["ai_mediation_event"],
        "grounding": .null,
    ]

    init(_ report: ExecutionReport) {
        evaluatedBytes = report.evaluated.isEmpty ? nil : Self.bytes(of: report.evaluated)
        // 384 bytes are enough for an ordinary answer with its stages.
        let bytes = JSONWriter.document(reserving: 384) { json in
            json.object { json in
                if report.provider != ProviderName.heuristic.rawValue { json.field("provider", report.provider) }
                if let model = report.model { json.field("model", model) }
                if let asked = report.asked { json.field("asked", asked) }
                if report.rule != .autoCloud { json.field("rule_id", report.rule) }
                if let claimed = report.claimedRule { json.field("claimed_rule_id", claimed) }
                if report.taskType != .heuristic { json.field("task_type", report.taskType) }
                if report.privacyLevel != .auto { json.field("privacy_level", report.privacyLevel) }
                if let intent = report.intent { json.field("intent", intent) }
                if report.isFallbackAllowed { json.field("fallback_allowed", true) }
                if report.usedFallback { json.field("used_fallback", true) }
                if report.fallbackReason != "none" { json.field("fallback_reason", report.fallbackReason) }
                if report.fallbackConfirmed != .none { json.field("fallback_confirmed", report.fallbackConfirmed) }
                if report.constraintConfirmed != .none {
                    json.field("constraint_confirmed", report.constraintConfirmed)
                }
                if report.confidence != 0.7 { json.field("confidence", report.confidence) }
                if report.questionTokenCount != 0 { json.field("token_count", report.questionTokenCount) }
                if let hash = report.questionHash { json.field("question_hash", hash) }
                if report.questionLength != 0 { json.field("question_length", report.questionLength) }
                json.field("latency_ms", report.latencyMilliseconds)
                if !report.stages.isEmpty { json.field("stages", report.stages) }
                if !report.applied.isEmpty { json.field("applied", report.applied) }
                if !report.warnings.isEmpty { json.field("warnings", report.warnings) }
                if let reason = report.violationReason { json.field("violation_reason", reason) }
                if report.sideEffects != ["ai_mediation_event"] { json.field("side_effects", report.sideEffects) }
                if let grounding = report.grounding { json.field("grounding", grounding) }
            }
        }
        jsonText = String(decoding: bytes, as: UTF8.self)
    }

    private static func bytes(of ids: [ConstraintID]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16 * ids.count)
        for id in ids { bytes.append(id) }
        return bytes
    }
}

extension ExecutionReport {
    /// Reads the columns `report`, `evaluated`, `id` and `route` of a row.
    init(stored row: Row) throws {
        let text: String = try row["report"]
        guard var members = StoredReport.membersWithDefaults(of: text) else {
            throw PostgresError.unexpectedShape("a report")
        }
        let (id, route): (ExecutionID, String?) = (try row["id"], try row["route"])
        members["id"] = .string(id.description)
        members["route"] = route.map { .string($0) } ?? .null
        try self.init(json: .object(members))
        reason = derivedReason
        if let bytes: [UInt8] = try row["evaluated"] {
            evaluated = stride(from: 0, to: bytes.count - 15, by: 16).map { start in
                func word(at offset: Int) -> UInt64 { bytes[offset..<(offset + 8)].reduce(0) { $0 << 8 | UInt64($1) } }
                return ConstraintID(high: word(at: start), low: word(at: start + 8))
            }
        }
    }
}

extension StoredReport {
    /// Returns the members of a stored report, including those that it omits; nil unless it is a JSON object.
    fileprivate static func membersWithDefaults(of text: String) -> JSONObject? {
        guard let stored = (try? JSONValue(parsing: Array(text.utf8).span))?.objectValue else { return nil }
        var members = ordinaryMembers
        for member in stored.members { members[member.key] = member.value }
        return members
    }

    /// An expression: the stored report of the row `e`, including the members that it omits, as `jsonb`.
    static let completeJSON: SQL = """
        (\(SQLJSON(JSONValue.object(ordinaryMembers).description)) || jsonb_build_object('id', e.id, 'route', e.route)
         || e.report::jsonb || CASE WHEN e.evaluated IS NULL THEN '{}' ELSE jsonb_build_object('evaluated', (
                SELECT jsonb_agg(encode(substring(e.evaluated FROM n FOR 16), 'hex')::uuid ORDER BY n)
                FROM generate_series(1, length(e.evaluated), 16) n)) END)
        """
}
