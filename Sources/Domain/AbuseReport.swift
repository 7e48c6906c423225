/// The progress of the review of an abuse report.
public enum AbuseReportStatus: String, Sendable, CaseIterable {
    case open, investigating, resolved, dismissed

    /// Whether the review has ended.
    public var isClosed: Bool { self == .resolved || self == .dismissed }

    /// Whether a review may go on from here to the next status.
    public func mayBecome(_ next: AbuseReportStatus) -> Bool {
        switch self {
        case .open: next == .investigating
        case .investigating: next.isClosed
        case .resolved, .dismissed: false
        }
    }
}

/// The severity of a reported case, as the reviewing administrator sees it.
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

/// The number of reports that one person may make within a time.
public enum AbuseReportLimit {
    public static let reports = 10
    public static let window = Timestamp.Span.hours(1)
}
