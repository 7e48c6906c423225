import Contract
import Domain
import Postgres
import SQL

/// One page's plan through the audit log, newest first.
///
/// However long the audit log is and whatever is asked for, a page looks at a bounded number of entries: each condition
/// has an index in the order of time, and so have all entries together. How far each of these plans leads back within
/// `depth` entries is measured first, then the one that leads farthest is walked, and what else is asked for is checked
/// on the plan. A page that is not full by then comes back short and says how far it has looked; the next goes on from
/// there.
struct AuditScan {
    /// Entries a page looks at.
    static let standardDepth = 1_000

    let filter: AuditFilter
    /// Nil for all.
    let family: FamilyID?
    let before: AuditCursor?
    let limit: Int
    var depth = standardDepth
    /// Whether the page MUST tell nothing of other families: a short page says how far it has looked, and that is the
    /// time of an entry it met. True for guardians.
    var staysInFamily = false

    /// What a walk comes to.
    struct Outcome {
        /// Rows of `AuditStatements.page`, `limit` at most.
        var rows: [Row] = []
        /// Where the next page goes on; nil at the end.
        var next: AuditCursor?
        /// The moment back to which all was looked at, on a page that is short and not the last.
        var searchedTo: Timestamp?
    }

    func run(_ queries: any Queries) async throws -> Outcome {
        var plans = AuditQueryPlan.all(for: filter, of: family, staysInFamily: staysInFamily)
        var depth = depth
        // A plan on which all that it meets is asked for is taken, and is as long as the page.
        if plans[0].isExact(for: filter, of: family) { (plans, depth) = ([plans[0]], min(depth, limit + 1)) }
        var span = AuditSpan(filter, family, before)
        guard span.from < span.below else { return Outcome() }
        let plan = try await farthest(of: plans, &span, depth, queries)
        let rows = try await queries.query(
            AuditStatements.page(plan, filter, span, limit: limit))
        var outcome = Outcome(rows: (0..<min(rows.count, limit)).map { rows[$0] })
        if rows.count > limit {
            let last = rows[limit - 1]
            outcome.next = AuditCursor(family: try last["family_id"], before: try last["n"], at: try last["at"])
        } else if let cut = span.cut {
            outcome.next = AuditCursor(family: family ?? .outside, before: cut.number ?? 0, at: cut.at)
            outcome.searchedTo = cut.at
        }
        return outcome
    }

    /// The plan that leads farthest back, best to the end; the span ends where it does.
    private func farthest(
        of plans: [AuditQueryPlan], _ span: inout AuditSpan, _ depth: Int, _ queries: any Queries
    ) async throws -> AuditQueryPlan {
        var best: (plan: Int, cut: AuditSpan.Bound?)?
        for row in try await queries.query(AuditStatements.reaches(plans, span, depth)).map({
            row throws(PostgresError) in
            (plan: try row["plan"] as Int, at: try row["at"] as Timestamp?, number: try row["n"] as Int64?)
        }) {
            guard let at = row.at else {
                best = (row.plan, nil)
                break
            }
            if best.map({ at < $0.cut?.at ?? .epoch }) ?? true {
                best = (row.plan, AuditSpan.Bound(at: at, number: row.number))
            }
        }
        span.cut = best?.cut
        return plans[best?.plan ?? 0]
    }
}

/// The stretch of the audit log that a page looks at.
struct AuditSpan {
    /// Where a page ends that would be looking for too long: this entry is the last.
    struct Bound {
        let at: Timestamp
        /// In a chain.
        let number: Int64?
    }

    let family: FamilyID?
    /// What the page begins below; nil for the newest.
    let before: AuditCursor?
    var cut: Bound?
    /// Times are whole microseconds, so that a bound can be one that is not reached.
    let below: Timestamp
    private let start: Timestamp?
    private let isToGiven: Bool

    init(_ filter: AuditFilter, _ family: FamilyID?, _ before: AuditCursor?) {
        self.family = family
        self.before = before
        start = filter.from
        let end = before.map { $0.before == 0 ? $0.at : $0.at + Timestamp.Span(microseconds: 1) }
        below = [filter.to, end].compactMap(\.self).min() ?? .lastSecond
        isToGiven = filter.to != nil
    }

    var from: Timestamp { cut?.at ?? start ?? .epoch }

    // MARK: Numbers of one family's entries: times grow with them, so a time is a number, found by halving

    var firstNumber: SQL {
        if let number = cut?.number { return "\(number)" }
        guard let family, let from = cut?.at ?? start else { return "0::bigint" }
        return "(SELECT audit_number_at(\(family), \(from)))"
    }

    var numberBelow: SQL {
        guard let family else { return "0::bigint" }
        switch before {
        case let place? where place.before > 0:
            return isToGiven
                ? "least(\(place.before), (SELECT audit_number_at(\(family), \(below))))" : "\(place.before)"
        case nil where !isToGiven: return "9223372036854775807::bigint"
        default: return "(SELECT audit_number_at(\(family), \(below)))"
        }
    }
}
