/// The limits on the due time of a nag.
public enum DueTimeLimit {
    /// The maximum time from now to the due time: two years.
    public static let maxLead = Timestamp.Span.days(731)

    /// The fault of a due time that is not after now.
    public static let pastMessage = "The due time must lie in the future."
    /// The fault of a due time that is too far ahead.
    public static let tooFarMessage = "The due time must be at most two years ahead."

    /// Returns the fault of a due time, as a sentence; nil if there is none.
    public static func fault(of dueAt: Timestamp, now: Timestamp) -> String? {
        guard dueAt > now else { return pastMessage }
        return isTooFar(dueAt, now: now) ? tooFarMessage : nil
    }

    public static func isTooFar(_ dueAt: Timestamp, now: Timestamp) -> Bool { dueAt > now + maxLead }
}
