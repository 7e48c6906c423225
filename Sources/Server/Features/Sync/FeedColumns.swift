import Contract
import Domain
import JSON
import Postgres
import SQL

/// The parts of the feed's statement, in the order of its rows.
enum FeedPart: Int {
    /// The one row that `FeedGate` reads.
    case gate
    case nags, nagEvents
    /// The mediation events.
    case mediation
    /// The gamification events.
    case points
    /// The caller's connections.
    case connections
    /// The rows of `DeviceFacts`, if the statement reads them.
    case facts
}

/// The columns of the feed's statement, the same thirteen for every part, grouped by type. A part uses the first ones of
/// each type; the rest are null.
enum FeedColumns {
    static let part = 0
    static let stamp = 1
    static let ids = 2..<5
    static let moments = 5..<9
    static let texts = 9..<13

    /// Returns the select list of a part: its columns, and nulls for the columns that it does not use.
    /// - Parameter stamp: the column that orders the part's rows.
    static func selectList(
        _ part: FeedPart, stamp: SQL, ids: [SQL] = [], moments: [SQL] = [], texts: [SQL] = []
    ) -> SQL {
        let lists = [
            ["\(literal: part.rawValue)", stamp], padded(ids, self.ids, "NULL::uuid"),
            padded(moments, self.moments, "NULL::timestamptz"), padded(texts, self.texts, "NULL::text"),
        ]
        return .joined(Array(lists.joined()), separator: ", ")
    }

    private static func padded(_ list: [SQL], _ columns: Range<Int>, _ null: SQL) -> [SQL] {
        precondition(list.count <= columns.count, "The feed's statement has too few columns of a type.")
        return list + [SQL](repeating: null, count: columns.count - list.count)
    }
}

/// Receives the members of an entity's JSON in order, each with its column.
///
/// An entity lists its members once (`FeedEntities`): `FeedSelectList` makes the statement's columns from the list, and
/// `FeedRowWriter` reads the same columns.
protocol FeedMembers: ~Copyable {
    /// The family of the page, which has no column.
    mutating func family(_ name: StaticString)
    /// An ID that is never null, from the column of the same name.
    mutating func id(_ name: StaticString)
    /// An ID that may be null, from `column`.
    mutating func optionalID(_ name: StaticString, _ column: @autoclosure () -> SQL)
    /// A time that may be null, from the column of the same name.
    mutating func moment(_ name: StaticString)
    /// A text that may be null, from `column`.
    mutating func text(_ name: StaticString, _ column: @autoclosure () -> SQL)
    /// A number or a `jsonb`, whose text in PostgreSQL is JSON already. It may be null.
    mutating func verbatim(_ name: StaticString, _ column: @autoclosure () -> SQL)
}

extension FeedMembers where Self: ~Copyable {
    /// A text member, from the column of the same name.
    @inline(__always)
    mutating func text(_ name: StaticString) { text(name, SQL(stringLiteral: name)) }
}

/// Collects an entity's columns for the statement.
struct FeedSelectList: FeedMembers {
    private var ids: [SQL] = []
    private var moments: [SQL] = []
    private var texts: [SQL] = []

    /// Returns the select list of a part.
    /// - Parameter stamp: the column that orders the part's rows.
    static func columns(
        _ part: FeedPart, stamp: SQL = "sync_ts", _ describe: (inout FeedSelectList) -> Void
    ) -> SQL {
        var list = FeedSelectList()
        describe(&list)
        return FeedColumns.selectList(part, stamp: stamp, ids: list.ids, moments: list.moments, texts: list.texts)
    }

    func family(_: StaticString) {}
    mutating func id(_ name: StaticString) { ids.append(SQL(stringLiteral: name)) }
    mutating func optionalID(_: StaticString, _ column: @autoclosure () -> SQL) { ids.append(column()) }
    mutating func moment(_ name: StaticString) { moments.append(SQL(stringLiteral: name)) }
    mutating func text(_: StaticString, _ column: @autoclosure () -> SQL) { texts.append(column()) }
    mutating func verbatim(_: StaticString, _ column: @autoclosure () -> SQL) { texts.append(column()) }
}

/// Writes one row as JSON, directly from its cells. A null cell becomes `null`.
struct FeedRowWriter: FeedMembers, ~Copyable {
    private var json: JSONWriter
    private let row: Row
    private let familyID: FamilyID
    private var nextIDColumn = FeedColumns.ids.lowerBound
    private var nextMomentColumn = FeedColumns.moments.lowerBound
    private var nextTextColumn = FeedColumns.texts.lowerBound

    private init(_ json: consuming JSONWriter, _ row: Row, _ family: FamilyID) {
        self.json = json
        self.row = row
        familyID = family
    }

    private consuming func finish() -> JSONWriter { json }

    @inline(__always)
    static func write(
        _ row: Row, of family: FamilyID, to json: inout JSONWriter, _ describe: (inout FeedRowWriter) -> Void
    ) {
        json.object { json in
            var writer = FeedRowWriter(json, row, family)
            describe(&writer)
            json = writer.finish()
        }
    }

    @inline(__always)
    mutating func family(_ name: StaticString) { json.field(name, familyID) }

    @inline(__always)
    mutating func id(_ name: StaticString) {
        json.key(name)
        let value = row.uuidOrZero(nextIDColumn)
        json.uuid(high: value.high, low: value.low)
        nextIDColumn += 1
    }

    @inline(__always)
    mutating func optionalID(_ name: StaticString, _: @autoclosure () -> SQL) {
        if row.isNull(nextIDColumn) {
            json.key(name)
            json.null()
            nextIDColumn += 1
        } else {
            id(name)
        }
    }

    @inline(__always)
    mutating func moment(_ name: StaticString) {
        json.key(name)
        if let microseconds = row.timestampMicroseconds(nextMomentColumn) {
            json.timestamp(microseconds: microseconds)
        } else {
            json.null()
        }
        nextMomentColumn += 1
    }

    @inline(__always)
    mutating func text(_ name: StaticString, _: @autoclosure () -> SQL) {
        json.key(name)
        row.withBytes(nextTextColumn) { if let text = $0 { json.string(utf8: text) } else { json.null() } }
        nextTextColumn += 1
    }

    @inline(__always)
    mutating func verbatim(_ name: StaticString, _: @autoclosure () -> SQL) {
        json.key(name)
        row.withBytes(nextTextColumn) { if let text = $0 { json.rawJSON(utf8: text) } else { json.null() } }
        nextTextColumn += 1
    }
}
