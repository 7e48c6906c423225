import Contract
import Domain
import JSON
import Postgres

/// One answer of the feed, written straight from the rows.
struct FeedPage {
    /// The columns of `SyncStatements.page`, by position.
    private enum Column {
        static let entity = 0
        static let id = 1
        static let stamp = 2
        static let firstID = 3
        static let secondID = 4
        static let firstMoment = 5
        static let firstText = 6
        static let secondText = 7
        static let thirdText = 8
        static let fourthText = 9
        static let secondMoment = 10
        static let thirdMoment = 11
    }

    /// Bytes of an entity's rows in a page: an entity with more is cut off as one with too many rows is.
    static let entityBytes = 512 << 10

    /// What the session is handed with this page.
    let grant: GrantedPlace
    /// Whether it was handed that before.
    let isGranted: Bool
    let json: [UInt8]

    /// - Parameter checkpoint: the audit log's newest, for clients to keep.
    /// - Throws: 401, 403 as the gate says; `unexpectedShape` when the rows are not those of the statement.
    init(
        _ rows: Rows, _ family: FamilyID, _ request: FeedRequest, at now: Timestamp, checkpoint: String? = nil
    ) throws {
        guard let gate = rows.first else { throw Access.sessionEnded }
        guard gate.integer(Column.entity) == 0 else { throw PostgresError.unexpectedShape("the feed's gate") }
        try Access.requireActive(status: gate.text(Column.firstText) ?? "")
        guard !gate.isNull(Column.id) else {
            throw APIError(.authorizationDenied, .notAMember)
        }
        let clock = gate.timestamp(Column.stamp)
        let isKnown = !gate.isNull(Column.firstMoment)

        let parts = Self.entities(rows).map { Self.fit($0, rows) }
        var entities = parts.map(\.range)
        let cut = parts.filter(\.isCut).map { rows[$0.range.upperBound - 1].timestamp(Column.stamp) }.min()
        var place = clock
        if let cut {
            // By cursor a page ends before the first stamp it may not hold whole, so that nothing comes twice.
            place = Timestamp(microseconds: cut.microseconds - 1)
            if !request.isLegacy {
                entities = entities.map { range in
                    range
                        .lowerBound..<(range.lastIndex { rows[$0].timestamp(Column.stamp) < cut } ?? range.lowerBound
                        - 1) + 1
                }
            }
        }
        let serverTime = (cut ?? clock).flooredToMillisecond
        let visibility = FeedVisibility(rawValue: gate.text(Column.thirdText).flatMap { Int64($0) } ?? 0)
        guard let epoch = gate.text(Column.fourthText).flatMap({ Int64($0) }) else {
            throw PostgresError.unexpectedShape("the feed's epoch")
        }
        let grant = GrantedPlace(second: serverTime.seconds, visibility: visibility)
        self.grant = grant
        isGranted = gate.withBytes(Column.secondText) { $0?.listsNumber(grant.number) ?? false }
        let mustRefetch = request.isForeign || (!request.isLegacy && !isKnown)
        // Facts are of the newest moment, so they come with the page that reaches it.
        let facts = cut == nil ? try DeviceFacts.facts(rows, Self.rowsAfterEntities(rows)) : nil
        json = Self.write(
            rows, entities, family, serverTime, hasMore: cut != nil, mustRefetch, facts,
            Cursor(family: family, epoch: epoch, place: place, visibility: visibility, handedOut: now).text, checkpoint)
    }

    /// Which rows belong to which entity: nags, nag events, mediation events, gamification events.
    private static func entities(_ rows: Rows) -> [Range<Int>] {
        var starts = [Int](repeating: rowsAfterEntities(rows).lowerBound, count: 6)
        for index in stride(from: rows.count - 1, through: 0, by: -1) {
            let entity = Int(rows[index].integer(Column.entity))
            if (0...4).contains(entity) { starts[entity] = index }
        }
        for entity in stride(from: 4, through: 1, by: -1) { starts[entity] = min(starts[entity], starts[entity + 1]) }
        return (1...4).map { starts[$0]..<starts[$0 + 1] }
    }

    /// An entity's rows as far as the page holds them, and whether there may be more.
    ///
    /// A page goes beyond the second it starts in, however large its rows are: a client that floors the time to the second
    /// would get the same page for ever.
    private static func fit(_ range: Range<Int>, _ rows: Rows) -> (range: Range<Int>, isCut: Bool) {
        let whole = (range, range.count >= SyncStatements.pageSize)
        guard rows.memoryBytes > entityBytes, let first = range.first else { return whole }
        let firstSecond = rows[first].timestamp(Column.stamp).seconds
        var bytes = 0
        for index in range.dropLast() {
            bytes += rows[index].byteCount
            if bytes > entityBytes, rows[index].timestamp(Column.stamp).seconds > firstSecond {
                return (first..<index + 1, true)
            }
        }
        return whole
    }

    /// The rows of facts, which come last.
    private static func rowsAfterEntities(_ rows: Rows) -> Range<Int> {
        var start = rows.count
        while start > 0, rows[start - 1].integer(Column.entity) == 5 { start -= 1 }
        return start..<rows.count
    }

    private static func write(
        _ rows: Rows, _ entities: [Range<Int>], _ family: FamilyID, _ serverTime: Timestamp, hasMore: Bool,
        _ mustRefetch: Bool, _ facts: FamilyFacts?, _ cursor: String, _ checkpoint: String?
    ) -> [UInt8] {
        JSONWriter.document(reserving: 512 + 280 * rows.count) { json in
            json.object { json in
                json.key("nags")
                json.array { json in for index in entities[0] { nag(rows[index], family, to: &json) } }
                json.key("nag_events")
                json.array { json in for index in entities[1] { nagEvent(rows[index], to: &json) } }
                json.key("ai_mediation_events")
                json.array { json in for index in entities[2] { mediation(rows[index], to: &json) } }
                json.key("gamification_events")
                json.array { json in for index in entities[3] { points(rows[index], family, to: &json) } }
                json.key("connections")
                json.array { _ in }
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

    private static func nag(_ row: Row, _ family: FamilyID, to json: inout JSONWriter) {
        json.object { json in
            json.id("id", row, Column.id)
            json.field("family_id", family)
            json.id("creator_id", row, Column.firstID)
            json.id("recipient_id", row, Column.secondID)
            json.moment("due_at", row, Column.firstMoment)
            json.text("category", row, Column.firstText)
            json.text("done_definition", row, Column.secondText)
            json.text("description", row, Column.thirdText)
            json.text("status", row, Column.fourthText)
            json.moment("created_at", row, Column.secondMoment)
            json.moment("committed_at", row, Column.thirdMoment)
        }
    }

    private static func nagEvent(_ row: Row, to json: inout JSONWriter) {
        json.object { json in
            json.id("id", row, Column.id)
            json.id("nag_id", row, Column.firstID)
            json.text("event_type", row, Column.firstText)
            json.id("actor_id", row, Column.secondID)
            json.moment("at", row, Column.firstMoment)
            json.verbatim("payload", row, Column.secondText)
        }
    }

    private static func mediation(_ row: Row, to json: inout JSONWriter) {
        json.object { json in
            json.id("id", row, Column.id)
            json.id("nag_id", row, Column.firstID)
            json.text("prompt_type", row, Column.firstText)
            json.text("tone", row, Column.secondText)
            json.text("summary", row, Column.thirdText)
            json.moment("at", row, Column.firstMoment)
        }
    }

    private static func points(_ row: Row, _ family: FamilyID, to json: inout JSONWriter) {
        json.object { json in
            json.id("id", row, Column.id)
            json.field("family_id", family)
            json.id("user_id", row, Column.firstID)
            json.text("event_type", row, Column.firstText)
            json.verbatim("delta_points", row, Column.secondText)
            json.verbatim("streak_delta", row, Column.thirdText)
            json.moment("at", row, Column.firstMoment)
        }
    }
}

/// Cells of a row as fields, without a value in between; a null cell is null.
extension JSONWriter {
    @inline(__always)
    fileprivate mutating func id(_ name: StaticString, _ row: Row, _ column: Int) {
        key(name)
        let value = row.uuid(column)
        uuid(high: value.high, low: value.low)
    }

    @inline(__always)
    fileprivate mutating func moment(_ name: StaticString, _ row: Row, _ column: Int) {
        key(name)
        if let moment = row.optionalTimestamp(column) { timestamp(microseconds: moment.microseconds) } else { null() }
    }

    /// PostgreSQL's own text of a number or a jsonb is JSON already.
    @inline(__always)
    fileprivate mutating func verbatim(_ name: StaticString, _ row: Row, _ column: Int) {
        key(name)
        row.withBytes(column) { if let text = $0 { unescaped(utf8: text) } else { null() } }
    }

    @inline(__always)
    fileprivate mutating func text(_ name: StaticString, _ row: Row, _ column: Int) {
        key(name)
        row.withBytes(column) { if let text = $0 { string(utf8: text) } else { null() } }
    }
}

extension Span<UInt8> {
    /// Whether a number is among those that stand here as decimal digits with commas between them.
    fileprivate func listsNumber(_ wanted: Int64) -> Bool {
        var number: Int64 = 0
        for index in indices {
            if self[index] == UInt8(ascii: ",") {
                if number == wanted { return true }
                number = 0
            } else {
                number = number &* 10 &+ Int64(self[index] &- UInt8(ascii: "0"))
            }
        }
        return number == wanted
    }
}
