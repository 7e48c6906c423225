import Contract
import Domain
import JSON
import Postgres

/// The rows of a page, read by one statement from the primary, or by two from the primary and a standby.
struct PageRows {
    /// The primary's rows: the gate, the connections and the facts.
    let primary: Rows
    /// The rows with the entities: the primary's rows, unless a standby has read the entities.
    let entities: Rows

    init(_ rows: Rows) { (primary, entities) = (rows, rows) }
    init(_ primary: Rows, entities: Rows) { (self.primary, self.entities) = (primary, entities) }

    /// The memory that the rows take, in bytes.
    var memoryShare: Int { primary.memoryShare + (entities === primary ? 0 : entities.memoryShare) }
    var count: Int { primary.count + (entities === primary ? 0 : entities.count) }
}

/// One page of the feed, written as JSON directly from the rows.
struct FeedPage {
    /// The size of one entity's rows, in bytes, at which a page ends: the row that exceeds it is the last one. Later
    /// rows are left for the next page, as are those beyond `FeedPageSize`. A page that has not yet reached beyond its
    /// first second can be larger.
    static let maxPartBytes = 512 << 10

    /// The position that the session gets with this page.
    let grant: GrantedPosition
    /// Whether the session was granted the position of `grant` before this page.
    let isAlreadyGranted: Bool
    let json: [UInt8]

    /// Creates a page from its rows.
    /// - Parameter checkpoint: the newest checkpoint of the audit log, for clients to store.
    /// - Throws: 401 or 403 from the gate; `unexpectedShape` when the rows are not those of the statement.
    init(
        _ page: PageRows, _ family: FamilyID, _ request: FeedRequest, at now: Timestamp, checkpoint: String? = nil
    ) throws {
        let gate = try FeedGate(page.primary)
        let rows = page.entities
        let parts = Self.entityParts.map { Self.fittingRows(Self.rows(of: $0, in: rows), rows, request.size) }
        var ranges = parts.map(\.range)
        let cutStamp = parts.filter(\.isCut).map { rows[$0.range.upperBound - 1].timestamp(FeedColumns.stamp) }.min()
        var position = gate.clockTime
        if let cutStamp {
            // A page by cursor ends before the first stamp of which it may not contain all rows, so that no row is sent
            // twice.
            position = Timestamp(microseconds: cutStamp.microseconds - 1)
            if !request.isLegacy {
                ranges = ranges.map { range in
                    let last = range.lastIndex { rows[$0].timestamp(FeedColumns.stamp) < cutStamp }
                    return range.lowerBound..<(last ?? range.lowerBound - 1) + 1
                }
            }
        }
        let serverTime = (cutStamp ?? gate.clockTime).flooredToMillisecond
        grant = GrantedPosition(second: serverTime.seconds, visibility: gate.visibility)
        isAlreadyGranted = gate.isGranted(grant)
        let mustRefetch = request.hasUnusableCursor || (!request.isLegacy && !gate.isPositionValid)
        // Facts are as of the newest moment, so only the page that reaches it contains them.
        let facts = cutStamp == nil ? try DeviceFacts.facts(page.primary, Self.rows(of: .facts, in: page.primary)) : nil
        json = Self.write(
            page, ranges, family, serverTime, hasMore: cutStamp != nil, mustRefetch, facts,
            Cursor(family: family, epoch: gate.epoch, position: position, visibility: gate.visibility, issuedAt: now)
                .text,
            checkpoint)
    }

    private static let entityParts: [FeedPart] = [.nags, .nagEvents, .mediation, .points]

    /// Returns the range of a part's rows. Rows are ordered by part, so a few comparisons find where each part begins.
    private static func rows(of part: FeedPart, in rows: Rows) -> Range<Int> {
        let end = firstRow(from: part.rawValue + 1, in: rows)
        return min(firstRow(from: part.rawValue, in: rows), end)..<end
    }

    /// Returns the index of the first row of a part; if it has none, of the first row after it.
    private static func firstRow(from part: Int, in rows: Rows) -> Int {
        var (start, end) = (0, rows.count)
        while start < end {
            let middle = (start + end) / 2
            if rows[middle].integerOrZero(FeedColumns.part) < part { start = middle + 1 } else { end = middle }
        }
        return start
    }

    /// Returns the rows of an entity that fit into the page, and whether there may be more.
    ///
    /// A page always reaches beyond the second in which it starts, however large its rows are. Otherwise a client that
    /// floors the time to the second would get the same page forever.
    private static func fittingRows(
        _ range: Range<Int>, _ rows: Rows, _ size: FeedPageSize
    ) -> (range: Range<Int>, isCut: Bool) {
        let allRows = (range, range.count >= size.rowsPerPart)
        guard rows.memoryBytes > maxPartBytes, let first = range.first else { return allRows }
        let firstSecond = rows[first].timestamp(FeedColumns.stamp).seconds
        var bytes = 0
        for index in range.dropLast() {
            bytes += rows[index].byteCount
            if bytes > maxPartBytes, rows[index].timestamp(FeedColumns.stamp).seconds > firstSecond {
                return (first..<index + 1, true)
            }
        }
        return allRows
    }

    private static func write(
        _ page: PageRows, _ ranges: [Range<Int>], _ family: FamilyID, _ serverTime: Timestamp, hasMore: Bool,
        _ mustRefetch: Bool, _ facts: FamilyFacts?, _ cursor: String, _ checkpoint: String?
    ) -> [UInt8] {
        JSONWriter.document(reserving: 512 + 280 * page.count) { json in
            json.object { json in
                let (rows, primary) = (page.entities, page.primary)
                write("nags", rows, ranges[0], family, to: &json) { FeedEntities.nag(&$0) }
                write("nag_events", rows, ranges[1], family, to: &json) { FeedEntities.nagEvent(&$0) }
                write("ai_mediation_events", rows, ranges[2], family, to: &json) { FeedEntities.mediation(&$0) }
                write("gamification_events", rows, ranges[3], family, to: &json) { FeedEntities.points(&$0) }
                // Each page contains all connections, at most `FeedPageSize.exact.rowsPerPart`, because their stamps
                // are of their own ledgers, not of the family's.
                write("connections", primary, Self.rows(of: .connections, in: primary), family, to: &json) {
                    FeedEntities.connection(&$0)
                }
                json.field("server_time", serverTime)
                json.field("cursor", cursor)
                json.field("has_more", hasMore)
                json.key("deleted")
                json.array { _ in }
                json.field("must_refetch", mustRefetch)
                json.field("facts", facts)
                json.field("checkpoint", checkpoint)
            }
        }
    }

    @inline(__always)
    private static func write(
        _ name: StaticString, _ rows: Rows, _ range: Range<Int>, _ family: FamilyID, to json: inout JSONWriter,
        _ describe: (inout FeedRowWriter) -> Void
    ) {
        json.key(name)
        json.array { json in
            for index in range { FeedRowWriter.write(rows[index], of: family, to: &json, describe) }
        }
    }
}
