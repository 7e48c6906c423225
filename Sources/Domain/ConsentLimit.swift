/// The limit on giving consents, whose records are kept permanently.
public enum ConsentLimit {
    /// The maximum number of consents of one type that a person may give within 24 hours, including revoked ones.
    public static let perTypeAndDay = 10

    /// Returns the reason why one more consent is refused; nil when it is allowed.
    /// - Parameter givenWithinDay: the number of consents of the type that the person gave within the last 24 hours.
    public static func denial(givenWithinDay: Int) -> Denial? {
        givenWithinDay >= perTypeAndDay ? .dailyConsentLimitReached : nil
    }
}
