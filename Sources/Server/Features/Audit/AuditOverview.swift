import Audit
import Contract
import Domain
import Postgres
import TimeZones

/// The list of audit logs, and their activity over time.
final class AuditOverview {
    private static let pageSize = 50
    /// The largest number of entries that one chart counts.
    static let maxEntriesPerChart = 200_000

    private let services: Services

    init(_ services: Services) { self.services = services }

    /// Lists the guardian's own family, or a page of all families for an administrator.
    /// - Throws: 422 for an invalid cursor.
    func listFamilies(_ caller: Caller, _ call: Call<AuditFamiliesQuery, NoBody>) async throws -> AuditFamilies {
        let reader = try await services.authorizeAndRecordRead(
            caller, of: nil, reading: API.listAuditFamilies.operation)
        let query = call.parameters
        guard let offset = Int64(query.cursor ?? "0"), (0...1_000_000).contains(offset) else {
            throw APIError.cursorIsUnknown
        }
        let text = query.q.flatMap { $0.isEmpty ? nil : $0 }
        let id = reader.family ?? text.flatMap { FamilyID($0) }
        let pattern = id == nil ? text.map { "%" + $0.replacing(/[\\%_]/) { "\\" + $0.output } + "%" } : nil
        let rows = try await services.database.query(
            AuditStatements.families(pattern: pattern, id: id, offset: offset, limit: Self.pageSize))
        let items = try rows.map { row throws(PostgresError) in
            let entries: Int = try row["seq"]
            return AuditFamily(
                familyID: try row["family_id"], name: try row["name"], entries: entries,
                lastAt: entries > 0 ? try row["ts"] : nil)
        }
        let hasMore = items.count > Self.pageSize
        return AuditFamilies(
            items: Array(items.prefix(Self.pageSize)),
            nextCursor: hasMore ? String(offset + Int64(Self.pageSize)) : nil)
    }

    /// Counts the entries of each kind in minutes, hours, days, weeks or months of a zone: at most 135 intervals, and
    /// only the newest `maxEntriesPerChart` entries.
    /// - Throws: 422 for a range that is shorter than a second, is longer than about eleven years or begins before
    ///   1970, and for an unknown zone.
    func getActivity(_ caller: Caller, _ call: Call<AuditActivityQuery, NoBody>) async throws -> AuditActivity {
        let query = call.parameters
        let to = query.to ?? caller.now
        let from = query.from ?? to - .days(30)
        let name = query.timeZone ?? "UTC"
        guard (1...350_000_000).contains((to - from).microseconds / 1_000_000), from >= .epoch else {
            throw APIError.auditRangeIsInvalid
        }
        guard let zone = services.zones.knownZone(name) else { throw APIError.timeZoneIsUnknown }
        let reader = try await services.authorizeAndRecordRead(
            caller, of: query.familyID, reading: API.getAuditActivity.operation,
            details: ["from": from.rfc3339, "to": to.rfc3339])
        let unit = AuditActivity.Unit(of: to - from)
        var starts = zone.starts(of: unit, from: from, to: to)
        if !starts.isEmpty { starts[0] = from }
        let rows = try await services.throttledQueries(of: caller).query(
            AuditStatements.activity(reader.family, from: from, to: to, starts: starts))
        var series: [AuditSeries] = []
        var countedEntries = 0
        for row in rows {
            let (kind, bucket, entries): (String, Int, Int) = (try row["kind"], try row["bucket"], try row["entries"])
            if series.last?.kind != kind {
                series.append(AuditSeries(kind: kind, counts: [Int](repeating: 0, count: starts.count)))
            }
            countedEntries += entries
            if starts.indices.contains(bucket) { series[series.count - 1].counts[bucket] = entries }
        }
        return AuditActivity(
            from: from, to: to, timeZone: name, unit: unit, starts: starts, series: series,
            isPartial: countedEntries >= Self.maxEntriesPerChart)
    }
}

extension AuditActivity.Unit {
    /// Chooses the interval for a chart over a span of time.
    fileprivate init(of span: Timestamp.Span) {
        switch span {
        case ...Timestamp.Span.hours(2): self = .minute
        case ...Timestamp.Span.days(3): self = .hour
        case ...Timestamp.Span.days(120): self = .day
        case ...Timestamp.Span.days(730): self = .week
        default: self = .month
        }
    }
}
