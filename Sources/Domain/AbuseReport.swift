/// The progress of the review of an abuse report.
public enum AbuseReportStatus: String, Sendable, CaseIterable {
    case open, investigating, resolved, dismissed

    /// Whether the review has ended.
    public var isClosed: Bool { self == .resolved || self == .dismissed }

    /// Returns whether a review may change the status to the next one.
    public func mayBecome(_ next: AbuseReportStatus) -> Bool {
        switch self {
        case .open: next == .investigating
        case .investigating: next.isClosed
        case .resolved, .dismissed: false
        }
    }
}

/// The severity of a reported case, which the reviewing administrator sets.
public enum AbuseReportSeverity: String, Sendable, CaseIterable {
    case critical, standard, low

    /// The time after the report within which its review should end.
    public var reviewTimeLimit: Timestamp.Span {
        switch self {
        case .critical: .hours(4)
        case .standard: .hours(24)
        case .low: .hours(72)
        }
    }
}

/// The limit on the reports of one person.
public enum AbuseReportLimit {
    /// The maximum number of reports within `window`.
    public static let reportsPerWindow = 10
    /// The length of the period before a new report in which earlier ones count.
    public static let window = Timestamp.Span.hours(1)
}
