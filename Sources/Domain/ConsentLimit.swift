/// The limit on giving consents, because each record is kept permanently.
public enum ConsentLimit {
    /// How often a person may give a consent of one type within 24 hours, including those that were revoked.
    public static let perDay = 10

    /// Why one more is refused.
    public static func denial(givenToday: Int) -> Denial? { givenToday >= perDay ? .consentLimitReached : nil }
}
