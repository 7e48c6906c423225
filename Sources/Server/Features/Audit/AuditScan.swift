import Contract
import Domain
import Postgres
import SQL

/// Reads one page of the audit log, newest first.
///
/// The cost of a page is bounded, however long the log is and whatever the filter is: most conditions have an index by
/// time, and so have all entries together. To read by one of these indexes is a *plan*. A first statement measures how
/// far back each plan gets within `depth` entries. The page then uses the plan that gets farthest, and checks the
/// other conditions of the filter on its entries.
/// If the plan ends before the page is full, the page is returned short, with the time back to which it has searched;
/// the next page continues there.
struct AuditScan {
    /// The maximum number of entries that a page reads.
    static let standardDepth = 1_000

    let filter: AuditFilter
    /// The family whose entries are read; nil for all families.
    let family: FamilyID?
    /// The position below which the page begins; nil if the page begins with the newest entry.
    let before: AuditCursor?
    /// The maximum number of entries on the page, at most 200.
    let limit: Int
    var depth = standardDepth
    /// Whether the page MUST reveal nothing about other families, as for guardians. Otherwise a short page can reveal
    /// the time of another family's entry, as the time back to which it has searched.
    var staysInFamily = false

    /// The result of a scan.
    struct Outcome {
        /// Rows of `AuditStatements.page`, at most `limit`.
        var rows: [Row] = []
        /// The cursor at which the next page begins; nil at the end.
        var next: AuditCursor?
        /// The moment back to which everything was searched, on a short page that is not the last; nil otherwise.
        var searchedTo: Timestamp?
    }

    func run(_ queries: any Queries) async throws -> Outcome {
        var plans = AuditQueryPlan.all(for: filter, of: family, staysInFamily: staysInFamily)
        var depth = depth
        // A plan whose entries all match needs no more depth than the page is long.
        if plans[0].isExact(for: filter, of: family) { (plans, depth) = ([plans[0]], min(depth, limit + 1)) }
        var span = AuditSpan(filter, family, before)
        guard span.from < span.timeBelow else { return Outcome() }
        let plan = try await farthestPlan(of: plans, &span, depth, queries)
        let rows = try await queries.query(
            AuditStatements.page(plan, filter, span, limit: limit))
        var outcome = Outcome(rows: (0..<min(rows.count, limit)).map { rows[$0] })
        if rows.count > limit {
            let last = rows[limit - 1]
            outcome.next = AuditCursor(family: try last["family_id"], number: try last["n"], at: try last["at"])
        } else if let searchEnd = span.searchEnd {
            outcome.next = AuditCursor(family: family ?? .outside, number: searchEnd.number ?? 0, at: searchEnd.at)
            outcome.searchedTo = searchEnd.at
        }
        return outcome
    }

    /// Returns the plan that gets farthest back, and ends the span at the position that it reaches. If the plan reads all
    /// that is left, the span gets no end.
    private func farthestPlan(
        of plans: [AuditQueryPlan], _ span: inout AuditSpan, _ depth: Int, _ queries: any Queries
    ) async throws -> AuditQueryPlan {
        var best: (plan: Int, searchEnd: AuditSpan.LastEntry?)?
        for row in try await queries.query(AuditStatements.reachedPositions(plans, span, depth)).map({
            row throws(PostgresError) in
            (plan: try row["plan"] as Int, at: try row["at"] as Timestamp?, number: try row["n"] as Int64?)
        }) {
            guard let at = row.at else {
                best = (row.plan, nil)
                break
            }
            if best.map({ at < $0.searchEnd?.at ?? .epoch }) ?? true {
                best = (row.plan, AuditSpan.LastEntry(at: at, number: row.number))
            }
        }
        span.searchEnd = best?.searchEnd
        return plans[best?.plan ?? 0]
    }
}

/// The part of the audit log that a page searches.
struct AuditSpan {
    /// The last entry that a page reads, if it would otherwise read too many.
    struct LastEntry {
        let at: Timestamp
        /// The entry's number in its chain; nil for a plan that reads by time.
        let number: Int64?
    }

    let family: FamilyID?
    /// The position below which the page begins; nil if the page begins with the newest entry.
    let before: AuditCursor?
    /// The end of the search of this page; nil if the page reads all that is left.
    var searchEnd: LastEntry?
    /// The page contains only entries before this time.
    let timeBelow: Timestamp
    private let filterStart: Timestamp?
    private let filterHasEnd: Bool

    init(_ filter: AuditFilter, _ family: FamilyID?, _ before: AuditCursor?) {
        self.family = family
        self.before = before
        filterStart = filter.from
        let end = before.map { $0.number == 0 ? $0.at : $0.at + Timestamp.Span(microseconds: 1) }
        timeBelow = [filter.to, end].compactMap(\.self).min() ?? .lastSecond
        filterHasEnd = filter.to != nil
    }

    /// The time of the earliest entries that the page can contain.
    var from: Timestamp { searchEnd?.at ?? filterStart ?? .epoch }

    // MARK: Numbers of one family's entries. Times never decrease in a chain, so a binary search finds a time.

    /// An expression: the lowest number of the entries that the page searches.
    var firstNumber: SQL {
        if let number = searchEnd?.number { return "\(number)" }
        guard let family, let from = searchEnd?.at ?? filterStart else { return "0::bigint" }
        return "(SELECT audit_number_at(\(family), \(from)))"
    }

    /// An expression: the number below which the page searches.
    var numberBelow: SQL {
        guard let family else { return "0::bigint" }
        switch before {
        case let cursor? where cursor.number > 0:
            return filterHasEnd
                ? "least(\(cursor.number), (SELECT audit_number_at(\(family), \(timeBelow))))" : "\(cursor.number)"
        case nil where !filterHasEnd: return "9223372036854775807::bigint"
        default: return "(SELECT audit_number_at(\(family), \(timeBelow)))"
        }
    }
}
