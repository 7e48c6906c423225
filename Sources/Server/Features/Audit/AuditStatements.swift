import Contract
import Domain
import SQL

/// What is read of the audit trail's tables. They are written by the ledger alone.
enum AuditStatements {
    /// Entries below `before`, newest first, one more than the limit so that a next page can be told of.
    ///
    /// Only the conditions that are asked for are in the statement, so that each combination is planned for itself.
    static func page(_ query: AuditQuery, of family: FamilyID, before: Int64?) -> SQL {
        var conditions: [SQL] = ["e.family_id = \(family)"]
        if let before { conditions.append("e.n < \(before)") }
        // A person is found by pseudonym: after erasure there is none, and nothing is found.
        if let actor = query.actorID {
            conditions.append("e.actor = (SELECT u.pseudonym FROM users u WHERE u.id = \(actor))")
        }
        if let subject = query.subjectID {
            conditions.append("e.subject = (SELECT u.pseudonym FROM users u WHERE u.id = \(subject))")
        }
        if let kind = query.kind { conditions.append("e.kind = \(kind)") }
        if let resource = query.resourceID { conditions.append("e.resource = \(resource)") }
        if let trace = query.traceID { conditions.append("e.trace = \(trace)") }
        if let from = query.from { conditions.append("e.at >= \(from)") }
        if let to = query.to { conditions.append("e.at < \(to)") }
        return """
            SELECT e.family_id, e.n, e.at, e.kind, e.actor, e.subject, e.resource, e.trace, e.request, e.commit, e.prev,
                   e.hash, p.salt, p.body, p.key_id, k.master, k.wrapped, a.id AS actor_id, s.id AS subject_id
            FROM (SELECT e.* FROM audit_entry e WHERE \(.joined(conditions, separator: " AND "))
                  ORDER BY e.n DESC LIMIT \(query.limit + 1)) e
            LEFT JOIN audit_payload p ON p.family_id = e.family_id AND p.n = e.n
            LEFT JOIN audit_subject_key k ON k.id = p.key_id
            LEFT JOIN users a ON a.pseudonym = e.actor
            LEFT JOIN users s ON s.pseudonym = e.subject
            ORDER BY e.n DESC
            """
    }
}
