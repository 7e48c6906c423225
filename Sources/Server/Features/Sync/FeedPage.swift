import Contract
import Domain
import JSON
import Postgres

/// The rows of a page, of one or two statements.
struct PageRows {
    /// The rows of the gate, the connections and the facts.
    let rest: Rows
    /// The rows of the entities: the same rows, unless a standby read them.
    let entities: Rows

    init(_ rows: Rows) { (rest, entities) = (rows, rows) }
    init(_ rest: Rows, entities: Rows) { (self.rest, self.entities) = (rest, entities) }

    var memoryShare: Int { rest.memoryShare + (entities === rest ? 0 : entities.memoryShare) }
    var count: Int { rest.count + (entities === rest ? 0 : entities.count) }
}

/// One answer of the feed, written straight from the rows.
struct FeedPage {
    /// The size limit of one entity's rows in a page: more rows are cut off as those beyond `FeedPageSize`.
    static let entityBytes = 512 << 10

    /// The position that the session gets with this page.
    let grant: GrantedPosition
    /// Whether the session already had that position.
    let isGranted: Bool
    let json: [UInt8]

    /// - Parameter checkpoint: the audit log's newest, for clients to keep.
    /// - Throws: 401 or 403 from the gate; `unexpectedShape` when the rows are not those of the statement.
    init(
        _ page: PageRows, _ family: FamilyID, _ request: FeedRequest, at now: Timestamp, checkpoint: String? = nil
    ) throws {
        let gate = try FeedGate(page.rest)
        let rows = page.entities
        let parts = Self.entities.map { Self.fit(Self.rows(of: $0, in: rows), rows, request.size) }
        var entities = parts.map(\.range)
        let cut = parts.filter(\.isCut).map { rows[$0.range.upperBound - 1].timestamp(FeedColumns.stamp) }.min()
        var position = gate.clock
        if let cut {
            // A page by cursor ends before the first stamp that it may not hold completely, so that no row comes twice.
            position = Timestamp(microseconds: cut.microseconds - 1)
            if !request.isLegacy {
                entities = entities.map { range in
                    let last = range.lastIndex { rows[$0].timestamp(FeedColumns.stamp) < cut }
                    return range.lowerBound..<(last ?? range.lowerBound - 1) + 1
                }
            }
        }
        let serverTime = (cut ?? gate.clock).flooredToMillisecond
        grant = GrantedPosition(second: serverTime.seconds, visibility: gate.visibility)
        isGranted = gate.isGranted(grant)
        let mustRefetch = request.isForeign || (!request.isLegacy && !gate.isKnown)
        // Facts are of the newest moment, so only the page that reaches it carries them.
        let facts = cut == nil ? try DeviceFacts.facts(page.rest, Self.rows(of: .facts, in: page.rest)) : nil
        json = Self.write(
            page, entities, family, serverTime, hasMore: cut != nil, mustRefetch, facts,
            Cursor(family: family, epoch: gate.epoch, position: position, visibility: gate.visibility, handedOut: now)
                .text,
            checkpoint)
    }

    private static let entities: [FeedPart] = [.nags, .nagEvents, .mediation, .points]

    /// Returns the range of a part's rows. Rows are ordered by part, so a few comparisons find where each part begins.
    private static func rows(of part: FeedPart, in rows: Rows) -> Range<Int> {
        let end = firstRow(from: part.rawValue + 1, in: rows)
        return min(firstRow(from: part.rawValue, in: rows), end)..<end
    }

    /// The first row of a part or, if it has none, of those behind it.
    private static func firstRow(from part: Int, in rows: Rows) -> Int {
        var (start, end) = (0, rows.count)
        while start < end {
            let middle = (start + end) / 2
            if rows[middle].integer(FeedColumns.part) < part { start = middle + 1 } else { end = middle }
        }
        return start
    }

    /// The rows of an entity that fit into the page, and whether there may be more.
    ///
    /// A page goes beyond the second it starts in, however large its rows are: otherwise a client that floors the time
    /// to the second would get the same page forever.
    private static func fit(
        _ range: Range<Int>, _ rows: Rows, _ size: FeedPageSize
    ) -> (range: Range<Int>, isCut: Bool) {
        let whole = (range, range.count >= size.rows)
        guard rows.memoryBytes > entityBytes, let first = range.first else { return whole }
        let firstSecond = rows[first].timestamp(FeedColumns.stamp).seconds
        var bytes = 0
        for index in range.dropLast() {
            bytes += rows[index].byteCount
            if bytes > entityBytes, rows[index].timestamp(FeedColumns.stamp).seconds > firstSecond {
                return (first..<index + 1, true)
            }
        }
        return whole
    }

    private static func write(
        _ page: PageRows, _ entities: [Range<Int>], _ family: FamilyID, _ serverTime: Timestamp, hasMore: Bool,
        _ mustRefetch: Bool, _ facts: FamilyFacts?, _ cursor: String, _ checkpoint: String?
    ) -> [UInt8] {
        JSONWriter.document(reserving: 512 + 280 * page.count) { json in
            json.object { json in
                let (rows, rest) = (page.entities, page.rest)
                write("nags", rows, entities[0], family, to: &json) { FeedEntities.nag(&$0) }
                write("nag_events", rows, entities[1], family, to: &json) { FeedEntities.nagEvent(&$0) }
                write("ai_mediation_events", rows, entities[2], family, to: &json) { FeedEntities.mediation(&$0) }
                write("gamification_events", rows, entities[3], family, to: &json) { FeedEntities.points(&$0) }
                // All of them, on each page: they are stamped by ledgers of their own, not by the family's.
                write("connections", rest, Self.rows(of: .connections, in: rest), family, to: &json) {
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
