import Audit
import Domain
import SQL

/// One way to read a page of the audit log: the entries that match one condition, or all of them, newest first by an
/// index.
struct AuditQueryPlan {
    /// The condition that every entry of the plan matches; nil for the plan over all entries.
    private let condition: AuditFilter.Condition?
    private let ranges: [ScanRange]
    /// The number of index ranges that the plan merges: each gets its share of the depth.
    private let indexRangeCount: Int
    /// Whether the plan reads one family's entries only, by number.
    private let readsOneChain: Bool

    /// Returns the plans that can answer a page, usually the most selective first, the one over all entries last.
    /// - Parameter staysInFamily: leaves out the plans that read entries of other families.
    static func all(for filter: AuditFilter, of family: FamilyID?, staysInFamily: Bool) -> [AuditQueryPlan] {
        (filter.conditions.compactMap { AuditQueryPlan($0, family) } + [AuditQueryPlan(family)])
            .filter { $0.readsOneChain || !staysInFamily }
    }

    private init(_ family: FamilyID?) {
        condition = nil
        ranges = [family.map(ScanRange.chain) ?? .time]
        indexRangeCount = 1
        readsOneChain = family != nil
    }

    /// Creates the plan of a condition; nil where no index serves it.
    private init?(_ condition: AuditFilter.Condition, _ family: FamilyID?) {
        self.condition = condition
        var (indexRangeCount, readsOneChain) = (1, false)
        switch condition {
        case .kinds(let kinds):
            ranges = [ScanRange.kinds(kinds, family)]
            indexRangeCount = kinds.count
            readsOneChain = family != nil
        case .actor(let person): ranges = [.actor(person)]
        case .subject(let person): ranges = [.subject(person)]
        case .resource(let id): ranges = [.resource(id)]
        case .trace(let id): ranges = [.trace(id)]
        case .person(let person):
            ranges = [.actor(person), .subject(person)]
            indexRangeCount = 2
        case .id(let id, let person):
            ranges = [.trace(id.retyped()), .resource(id), .actor(person), .subject(person)]
            indexRangeCount = 4
        case .search, .excludingReadsBy: return nil
        }
        (self.indexRangeCount, self.readsOneChain) = (indexRangeCount, readsOneChain)
    }

    /// Whether the plan reads a single range, and all entries of that range match the filter.
    func isExact(for filter: AuditFilter, of family: FamilyID?) -> Bool {
        indexRangeCount == 1 && filter.conditions == [condition].compactMap(\.self) && (family == nil || readsOneChain)
    }

    /// Selects the position that the plan reaches with `depth` entries: `at`, and `n` if it reads one chain. Each range
    /// counts its share of them; the newest position of all ranges is selected, null if each has fewer entries.
    func reachedPosition(_ span: AuditSpan, _ depth: Int) -> SQL {
        let skippedCount = max(1, depth / indexRangeCount) - 1
        let parts = ranges.map { range -> SQL in
            "(\(range.forEachKind(range.reachedPosition(span, skipping: skippedCount), "at, e.n")))"
        }
        return "SELECT max(r.at) AS at, max(r.n) AS n FROM (\(.joined(parts, separator: " UNION ALL "))) r"
    }

    /// Selects the plan's entries that match the filter, newest first in each range.
    /// - Parameter limit: a LIMIT clause, which applies to each range.
    func entries(_ filter: AuditFilter, _ span: AuditSpan, limit: SQL) -> SQL {
        var otherConditions = filter.conditions.filter { $0 != condition }.map(\.predicate)
        if !readsOneChain {
            if let family = span.family { otherConditions.append("e.family_id = \(family)") }
            if let before = span.before, before.number > 0 {
                otherConditions.append("(e.at, e.family_id, e.n) < (\(before.at), \(before.family), \(before.number))")
            }
        }
        let check: SQL = otherConditions.isEmpty ? "true" : .joined(otherConditions, separator: " AND ")
        // UNION returns an entry once, even if it is in two ranges.
        return .joined(
            ranges.map { range in "(\(range.forEachKind(range.entries(span, check, limit), "*")))" },
            separator: " UNION ")
    }
}

extension AuditFilter.Condition {
    /// The condition on an entry `e`.
    fileprivate var predicate: SQL {
        switch self {
        case .kinds(let kinds) where kinds.count == 1: "e.kind = \(kinds[0])"
        case .kinds(let kinds): "e.kind = ANY(\(SQLList(kinds)))"
        case .actor(let person): "e.actor = \(person)"
        case .subject(let person): "e.subject = \(person)"
        case .resource(let id): "e.resource = \(id)"
        case .trace(let id): "e.trace = \(id)"
        case .person(let person): "(e.actor = \(person) OR e.subject = \(person))"
        case .id(let id, let person):
            "(e.trace = \(id) OR e.resource = \(id) OR e.actor = \(person) OR e.subject = \(person))"
        case .search(let meanings): meanings.predicate
        case .excludingReadsBy(let person): "NOT (e.kind = \(AuditKind.adminRead.rawValue) AND e.actor = \(person))"
        }
    }
}

extension AuditFilter.SearchMeanings {
    fileprivate var predicate: SQL {
        var parts: [SQL] = ["e.kind = ANY(\(SQLList(kinds)))"]
        if !people.isEmpty {
            parts.append("e.actor = ANY(\(SQLList(people))) OR e.subject = ANY(\(SQLList(people)))")
        }
        if let idSuffix {
            parts.append(
                """
                \(idSuffix) IN (right(e.actor::text, 8), right(e.subject::text, 8), right(e.resource::text, 8),
                             right(e.trace::text, 8), right(e.family_id::text, 8))
                """)
        }
        return "(\(.joined(parts, separator: " OR ")))"
    }
}

/// A backward scan of one range of one index.
///
/// PostgreSQL plans these statements without their values, and its guess may be to read all entries by time where it
/// should read those of a rare kind. So each range states the columns of its own index alone (`0009_audit_pages.sql`),
/// and puts every other condition into a CASE, which the planner cannot use.
private struct ScanRange {
    /// The condition on all columns of the index but the last one.
    let condition: SQL
    var order: SQL = "e.at DESC"
    /// The family whose chain is read, by number; nil reads by time.
    var family: FamilyID?
    /// The kinds for each of which the plan reads a range of its own; nil for a single range.
    var kinds: [String]?

    static let time = ScanRange(condition: "e.n > 0")
    static func chain(_ family: FamilyID) -> ScanRange {
        ScanRange(condition: "e.family_id = \(family)", order: "e.n DESC", family: family)
    }
    static func kinds(_ kinds: [String], _ family: FamilyID?) -> ScanRange {
        guard let family else { return ScanRange(condition: "e.kind = wanted.kind", kinds: kinds) }
        return ScanRange(
            condition: "e.family_id = \(family) AND e.kind = wanted.kind", order: "e.n DESC NULLS LAST", family: family,
            kinds: kinds)
    }
    static func actor(_ person: Pseudonym) -> ScanRange { ScanRange(condition: "e.actor = \(person)") }
    static func subject(_ person: Pseudonym) -> ScanRange { ScanRange(condition: "e.subject = \(person)") }
    static func resource(_ id: ResourceID) -> ScanRange { ScanRange(condition: "e.resource = \(id)") }
    static func trace(_ id: TraceID) -> ScanRange { ScanRange(condition: "e.trace = \(id)") }

    private func rangeCondition(_ span: AuditSpan) -> SQL {
        family == nil
            ? "\(condition) AND e.at >= \(span.from) AND e.at < \(span.timeBelow)"
            : "\(condition) AND e.n >= \(span.firstNumber) AND e.n < \(span.numberBelow)"
    }

    func reachedPosition(_ span: AuditSpan, skipping count: Int) -> SQL {
        guard let family else {
            return """
                SELECT e.at, NULL::bigint AS n FROM audit_entry e WHERE \(rangeCondition(span))
                ORDER BY \(order) OFFSET \(Int64(count)) LIMIT 1
                """
        }
        return """
            SELECT (SELECT o.at FROM audit_entry o WHERE o.family_id = \(family) AND o.n = e.n) AS at, e.n
            FROM (
                SELECT e.n FROM audit_entry e WHERE \(rangeCondition(span))
                ORDER BY \(order) OFFSET \(Int64(count)) LIMIT 1
            ) e
            """
    }

    func entries(_ span: AuditSpan, _ check: SQL, _ limit: SQL) -> SQL {
        // Entries of the same moment are ordered too; those of one family by number.
        let ties: SQL = family == nil ? ", e.family_id DESC, e.n DESC" : ""
        return """
            SELECT e.* FROM audit_entry e WHERE \(rangeCondition(span)) AND CASE WHEN \(check) THEN true END
            ORDER BY \(order)\(ties) \(limit)
            """
    }

    /// Returns a query that runs `part` once for each kind of the range; `part` itself if the range has no kinds.
    func forEachKind(_ part: SQL, _ columns: SQL) -> SQL {
        guard let kinds else { return part }
        return """
            SELECT e.\(columns) FROM unnest(\(SQLList(kinds))) AS wanted (kind) CROSS JOIN LATERAL (\(part)) e
            """
    }
}
