import Domain

/// New York with the clock changes of 2026, and none before or after.
struct NewYork2026: ZoneRules {
    /// 02:00 becomes 03:00 on 8 March.
    static let spring = at("2026-03-08T07:00:00Z")
    /// 02:00 becomes 01:00 on 1 November.
    static let autumn = at("2026-11-01T06:00:00Z")

    func secondsFromUTC(at moment: Timestamp) -> Int {
        (Self.spring..<Self.autumn).contains(moment) ? -4 * 3_600 : -5 * 3_600
    }
}

/// A moment from text; the epoch if a test has a typing error, which then fails.
func at(_ text: String) -> Timestamp { Timestamp(rfc3339: text) ?? .epoch }

func clock(_ text: String) -> TimeOfDay { TimeOfDay(text) ?? .midnight }

func day(_ text: String) -> CivilDate { CivilDate(datePartOf: text) ?? CivilDate(daysSinceEpoch: 0) }
