import Contract
import Domain
import SQL

/// What is read of the audit trail's tables for people to look at. They are written by the ledger alone.
enum AuditStatements {
    /// The columns that `Contract.AuditEntry` and `Sealing.body` read, of an entry `e`, its body and its people.
    private static let columns: SQL = """
        e.family_id, e.n, e.at, e.kind, e.actor, e.subject, e.resource, e.trace, e.request, e.commit, e.prev, e.hash,
        p.salt, p.body, p.key_id, k.master, k.wrapped, a.id AS actor_id, s.id AS subject_id
        """
    private static let joins: SQL = """
        LEFT JOIN audit_payload p ON p.family_id = e.family_id AND p.n = e.n
        LEFT JOIN audit_subject_key k ON k.id = p.key_id
        LEFT JOIN users a ON a.pseudonym = e.actor
        LEFT JOIN users s ON s.pseudonym = e.subject
        """

    /// Entries before a place, newest first, one more than the limit so that a next page can be told of.
    ///
    /// Only the conditions that are asked for are in the statement, so that each combination is planned for itself. One
    /// family's entries go by number, those of all by time: each condition has an index in that order, or is so narrow
    /// that what it finds can be sorted.
    /// - Parameter family: nil for all.
    static func page(_ query: AuditQuery, _ search: AuditSearch, of family: FamilyID?, before: AuditCursor?) -> SQL {
        let conditions = conditions(query, family, before)
        // Written out, because plans are made without knowing parameters: what is asked for is a small part of all.
        let most: SQL = query.limit <= 50 ? "LIMIT 51" : query.limit <= 100 ? "LIMIT 101" : "LIMIT 201"
        let order: SQL = family == nil ? "e.at DESC, e.family_id DESC, e.n DESC" : "e.n DESC"
        // Within a family both are the same order; what people and things have is indexed by time.
        let walk: SQL = family == nil ? order : query.isNarrow ? "e.at DESC" : "e.n DESC"
        let found: SQL
        switch search {
        case .kinds(let kinds):
            // The newest of each kind, then the newest of those: never all of a kind.
            let walk = query.isNarrow || family == nil ? walk : order
            found = """
                SELECT e.* FROM unnest(\(SQLList(kinds))) AS wanted (kind) CROSS JOIN LATERAL (
                    SELECT e.* FROM audit_entry e WHERE e.kind = wanted.kind \(and: conditions) ORDER BY \(walk) \(most)
                ) e
                """
        case .id(let id):
            let walk: SQL = family == nil ? order : "e.at DESC"
            let person: SQL = "coalesce((SELECT u.pseudonym FROM users u WHERE u.id = \(id)), \(id))"
            let parts =
                ["e.trace = \(id)", "e.resource = \(id)", "e.actor = \(person)", "e.subject = \(person)"] as [SQL]
            found = .joined(
                parts.map { part in
                    "(SELECT e.* FROM audit_entry e WHERE \(part) \(and: conditions) ORDER BY \(walk) \(most))"
                }, separator: " UNION ")
        case .everything, .nothing:
            found = "SELECT e.* FROM audit_entry e WHERE true \(and: conditions) ORDER BY \(walk) \(most)"
        }
        return """
            SELECT \(columns) FROM (SELECT e.* FROM (\(found)) e ORDER BY \(order) \(most)) e \(joins) ORDER BY \(order)
            """
    }

    private static func conditions(_ query: AuditQuery, _ family: FamilyID?, _ before: AuditCursor?) -> [SQL] {
        var conditions: [SQL] = []
        if let family {
            conditions.append("e.family_id = \(family)")
            if query.isNarrow {
                if let before { conditions.append("e.at < \(before.at)") }
                if let from = query.from { conditions.append("e.at >= \(from)") }
                if let to = query.to { conditions.append("e.at < \(to)") }
            } else {
                if let before { conditions.append("e.n < \(before.before)") }
                // Times grow with numbers: a time is a number, found by halving.
                if let from = query.from { conditions.append("e.n >= (SELECT audit_number_at(\(family), \(from)))") }
                if let to = query.to { conditions.append("e.n < (SELECT audit_number_at(\(family), \(to)))") }
            }
        } else {
            if let before {
                conditions.append("(e.at, e.family_id, e.n) < (\(before.at), \(before.family), \(before.before))")
            }
            if let from = query.from { conditions.append("e.at >= \(from)") }
            if let to = query.to { conditions.append("e.at < \(to)") }
        }
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
        return conditions
    }

    static func entry(_ family: FamilyID, _ number: Int64) -> SQL {
        "SELECT \(columns) FROM audit_entry e \(joins) WHERE e.family_id = \(family) AND e.n = \(number)"
    }

    /// All kinds there are, by one step in the index for each.
    static let kinds: SQL = """
        WITH RECURSIVE kinds AS (
            (SELECT kind FROM audit_entry ORDER BY kind LIMIT 1)
            UNION ALL
            SELECT (SELECT e.kind FROM audit_entry e WHERE e.kind > k.kind ORDER BY e.kind LIMIT 1)
            FROM kinds k WHERE k.kind IS NOT NULL
        )
        SELECT kind FROM kinds WHERE kind IS NOT NULL
        """

    /// How many entries of the newest 200,000 of a time fall into which bucket.
    static func activity(_ family: FamilyID?, from: Timestamp, to: Timestamp, bucket: Int64) -> SQL {
        let place: SQL =
            if let family {
                """
                e.family_id = \(family) AND e.n >= (SELECT audit_number_at(\(family), \(from)))
                AND e.n < (SELECT audit_number_at(\(family), \(to))) ORDER BY e.n DESC
                """
            } else {
                "e.at >= \(from) AND e.at < \(to) ORDER BY e.at DESC"
            }
        return """
            SELECT kind, floor(extract(epoch FROM at - \(from)) / \(bucket))::bigint AS bucket, count(*)::bigint AS entries
            FROM (SELECT e.kind, e.at FROM audit_entry e WHERE \(place) LIMIT 200000) e
            GROUP BY 1, 2 ORDER BY 1, 2
            """
    }

    /// A page of families, most recently active first, one more than the limit.
    /// - Parameter name: part of the name, escaped for LIKE.
    static func families(name: String?, id: FamilyID?, offset: Int64, limit: Int) -> SQL {
        var conditions: [SQL] = ["c.seq > 0"]
        if let id { conditions.append("c.family_id = \(id)") }
        if let name { conditions.append("f.name ILIKE \(name)") }
        return """
            SELECT c.family_id, f.name, c.seq, c.ts FROM family_clock c LEFT JOIN families f ON f.id = c.family_id
            WHERE \(.joined(conditions, separator: " AND "))
            ORDER BY c.ts DESC, c.family_id LIMIT \(limit + 1) OFFSET \(offset)
            """
    }
}

extension AuditQuery {
    /// Whether it asks for a person, a thing, a trace or an id: what these have is walked by time.
    fileprivate var isNarrow: Bool {
        actorID != nil || subjectID != nil || resourceID != nil || traceID != nil || q.flatMap { ResourceID($0) } != nil
    }
}

extension SQL.StringInterpolation {
    /// ` AND …` for each condition.
    fileprivate mutating func appendInterpolation(and conditions: [SQL]) {
        for condition in conditions { appendInterpolation(" AND \(condition)" as SQL) }
    }
}
