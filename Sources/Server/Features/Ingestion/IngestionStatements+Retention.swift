import Domain
import SQL

extension IngestionStatements {
    static let retentionOfEnrichments = RetentionRule(
        "enrichments", Retention.twoYears,
        due: { "SELECT count(*) AS count FROM enrichments WHERE made_at < \($0)" },
        end: { count, moment in
            """
            DELETE FROM enrichments WHERE (family_id, event_id, kind) IN (
                SELECT family_id, event_id, kind FROM enrichments WHERE made_at < \(moment)
                ORDER BY made_at LIMIT \(count))
            """
        })

    /// An input stays as long as something that was found out about it.
    static let retentionOfInputs = RetentionRule(
        "inputs", Retention.twoYears,
        due: { "SELECT count(*) AS count FROM inputs i WHERE received_at < \($0) AND \(isPlain)" },
        end: { count, moment in
            """
            DELETE FROM inputs WHERE (family_id, user_id, id) IN (
                SELECT family_id, user_id, id FROM inputs i WHERE received_at < \(moment) AND \(isPlain)
                ORDER BY received_at LIMIT \(count))
            """
        })

    private static let isPlain: SQL = """
        NOT EXISTS (SELECT FROM enrichments e WHERE e.family_id = i.family_id AND e.event_id = i.event_id)
        """
}
