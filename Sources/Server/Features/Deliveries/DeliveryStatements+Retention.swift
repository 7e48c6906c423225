import Domain
import SQL

extension DeliveryStatements {
    static let retention = RetentionRule(
        "deliveries", Retention.year,
        countDue: { "SELECT count(*) AS count FROM deliveries WHERE created_at < \($0)" },
        clearDue: { count, moment in
            """
            DELETE FROM deliveries WHERE (family_id, id) IN (
                SELECT family_id, id FROM deliveries WHERE created_at < \(moment) ORDER BY created_at LIMIT \(count))
            """
        })
}
