/// The limit on giving consents, whose records are kept permanently.
public enum ConsentLimit {
    /// The maximum number of consents of one type that a person may give within 24 hours, including revoked ones.
    public static let perDay = 10

    /// Returns the reason why one more consent is refused; nil when it is allowed.
    public static func denial(givenToday: Int) -> Denial? { givenToday >= perDay ? .consentLimitReached : nil }
}
