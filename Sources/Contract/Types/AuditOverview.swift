import Domain
import JSON

/// The families whose audit logs the caller may read.
public struct AuditFamilies: Hashable, WireObject {
    public var items: [AuditFamily]
    public var nextCursor: String?

    public init(items: [AuditFamily], nextCursor: String?) {
        self.items = items
        self.nextCursor = nextCursor
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        items = try fields.required("items")
        nextCursor = try fields.optional("next_cursor")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("items", items)
            json.field("next_cursor", nextCursor)
        }
    }
}

/// A summary of a family's audit log. The log of actions outside families has the nil ID and no name.
public struct AuditFamily: Hashable, WireObject {
    public var familyID: FamilyID
    public var name: String?
    /// The number of the newest entry.
    public var entries: Int
    public var lastAt: Timestamp?

    public init(familyID: FamilyID, name: String?, entries: Int, lastAt: Timestamp?) {
        self.familyID = familyID
        self.name = name
        self.entries = entries
        self.lastAt = lastAt
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        familyID = try fields.required("family_id")
        name = try fields.optional("name")
        entries = try fields.required("entries")
        lastAt = try fields.optional("last_at")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("family_id", familyID)
            json.field("name", name)
            json.field("entries", entries)
            json.field("last_at", lastAt)
        }
    }
}

/// Counts of audit entries over time, for a chart.
public struct AuditActivity: Hashable, WireObject {
    /// The length of a bucket, in the calendar of the requested zone.
    public enum Unit: String, Sendable, CaseIterable, WireEnumeration { case minute, hour, day, week, month }

    public var from: Timestamp
    public var to: Timestamp
    public var timeZone: String
    public var unit: Unit
    /// The starts of the buckets. The first starts at `from` and the last ends at `to`, so both may be incomplete.
    public var starts: [Timestamp]
    public var series: [AuditSeries]
    /// Whether only the newest entries of the period were counted.
    public var isPartial: Bool

    public init(
        from: Timestamp, to: Timestamp, timeZone: String, unit: Unit, starts: [Timestamp], series: [AuditSeries],
        isPartial: Bool
    ) {
        self.from = from
        self.to = to
        self.timeZone = timeZone
        self.unit = unit
        self.starts = starts
        self.series = series
        self.isPartial = isPartial
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        from = try fields.required("from")
        to = try fields.required("to")
        timeZone = try fields.required("time_zone")
        unit = try fields.required("unit")
        starts = try fields.required("starts")
        series = try fields.required("series")
        isPartial = try fields.required("is_partial")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("from", from)
            json.field("to", to)
            json.field("time_zone", timeZone)
            json.field("unit", unit)
            json.field("starts", starts)
            json.field("series", series)
            json.field("is_partial", isPartial)
        }
    }
}

/// Counts of the entries of one kind, one for each bucket.
public struct AuditSeries: Hashable, WireObject {
    public var kind: String
    public var counts: [Int]

    public init(kind: String, counts: [Int]) {
        self.kind = kind
        self.counts = counts
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        kind = try fields.required("kind")
        counts = try fields.required("counts")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("kind", kind)
            json.field("counts", counts)
        }
    }
}

/// Binary content.
public struct Bytes: WireContent, Hashable {
    public static var form: ContentForm { .other }

    public var bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }

    public init(content: Span<UInt8>) { bytes = content.withUnsafeBufferPointer { Array($0) } }

    public var content: [UInt8] { bytes }
}
