import SQL

/// Reports slow statements. For other statements it costs one comparison of times.
public struct SlowStatements: Sendable {
    let threshold: Duration
    let report: @Sendable (SlowBatch) -> Void

    /// - Parameters:
    ///   - threshold: the shortest time of a batch that is reported.
    ///   - report: called in the task that waited for the batch, even if the batch failed.
    public init(threshold: Duration, report: @escaping @Sendable (SlowBatch) -> Void) {
        (self.threshold, self.report) = (threshold, report)
    }
}

/// A batch of statements that took long. Their results arrive together, so it is unknown which of them was slow.
public struct SlowBatch: Sendable {
    public let statements: [SQL]
    /// The time from sending, or from the end of the batch before on the same session, to the last result.
    public let duration: Duration
    /// The number of rows of all results; nil for a batch that failed.
    public let rowCount: Int?
}
