/// The limits on the due time of a nag.
public enum DueTimeLimit {
    /// Two years.
    public static let furthest = Timestamp.Span.days(731)

    public static let past = "The due time must lie in the future."
    public static let tooFar = "The due time must be at most two years ahead."

    /// Returns the fault of a due time, as a sentence; nil if there is none.
    public static func fault(of dueAt: Timestamp, now: Timestamp) -> String? {
        guard dueAt > now else { return past }
        return isTooFar(dueAt, now: now) ? tooFar : nil
    }

    public static func isTooFar(_ dueAt: Timestamp, now: Timestamp) -> Bool { dueAt > now + furthest }
}
