/// The bounds on giving consents: each is a record that is kept for good.
public enum ConsentLimit {
    /// How often a person may give a consent of one type within 24 hours, whatever they took back between.
    public static let perDay = 10

    /// Why one more is refused to somebody who gave that type so often within 24 hours.
    public static func denial(givenToday: Int) -> Denial? { givenToday >= perDay ? .consentLimitReached : nil }
}
