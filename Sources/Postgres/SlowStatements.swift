import SQL

/// Reports statements that take long. For others it costs one comparison of times.
public struct SlowStatements: Sendable {
    let threshold: Duration
    let report: @Sendable (SlowBatch) -> Void

    /// - Parameters:
    ///   - threshold: how long a batch takes at least to be reported.
    ///   - report: called in the task that waited for the batch, also when it failed.
    public init(from threshold: Duration, report: @escaping @Sendable (SlowBatch) -> Void) {
        (self.threshold, self.report) = (threshold, report)
    }
}

/// Statements that were sent together and took long together. Their results arrive together, so nothing tells which
/// of them took the time.
public struct SlowBatch: Sendable {
    public let statements: [SQL]
    /// The time from sending, or from the end of the batch before on the same session, to the last result.
    public let duration: Duration
    /// The rows of all results; nil for a batch that failed.
    public let rows: Int?
}
