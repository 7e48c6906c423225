import JSON

/// One metric with the thresholds for a dashboard.
public struct Metric: Hashable, WireObject {
    public var key: String
    public var label: String
    public var value: Double
    public var unit: String
    public var warnAbove: Double?
    public var warnBelow: Double?
    /// The values of the last five minutes, oldest first; nil for a metric without a chart.
    public var sparklineHistory: [Double]?

    public init(
        key: String, label: String, value: Double, unit: String, warnAbove: Double?, warnBelow: Double?,
        sparklineHistory: [Double]?
    ) {
        self.key = key
        self.label = label
        self.value = value
        self.unit = unit
        self.warnAbove = warnAbove
        self.warnBelow = warnBelow
        self.sparklineHistory = sparklineHistory
    }

    public init(_ fields: FieldReader) throws(InvalidInput) {
        key = try fields.required("key")
        label = try fields.required("label")
        value = try fields.required("value")
        unit = try fields.required("unit")
        warnAbove = try fields.optional("warn_above")
        warnBelow = try fields.optional("warn_below")
        sparklineHistory = try fields.optional("sparkline_history")
    }

    public func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("key", key)
            json.field("label", label)
            json.key("value")
            json.number(value)
            json.field("unit", unit)
            json.field("warn_above", warnAbove)
            json.field("warn_below", warnBelow)
            json.field("sparkline_history", sparklineHistory)
        }
    }
}
