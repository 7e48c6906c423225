/// The `Date` line of responses, updated when the second changes (RFC 9110 §6.6.1).
struct DateLine {
    private(set) var bytes: [UInt8] = []
    private var second = Int.min

    /// Updates the line if the second has changed.
    /// - Parameter now: seconds since 1970, UTC.
    mutating func refresh(_ now: Int) {
        guard now != second else { return }
        second = now
        bytes.removeAll(keepingCapacity: true)
        bytes.append("Date: ")
        bytes.append(Self.fixdate(now))
        bytes.append("\r\n")
    }

    /// Returns a time as an IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
    /// - Parameter seconds: seconds since 1970, UTC.
    static func fixdate(_ seconds: Int) -> String {
        let (days, time) = (seconds.floorDivided(by: 86_400), seconds.floorRemainder(by: 86_400))
        // Days to a civil date: years begin in March, so that the leap day is the last of its year.
        let daysFromMarchOfYear0 = days + 719_468
        let era = daysFromMarchOfYear0.floorDivided(by: 146_097)
        let dayOfEra = daysFromMarchOfYear0 - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthSinceMarch = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * monthSinceMarch + 2) / 5 + 1
        let month = monthSinceMarch < 10 ? monthSinceMarch + 3 : monthSinceMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        let weekday = (days + 4).floorRemainder(by: 7)
        return "\(weekdays[weekday]), \(twoDigits(day)) \(months[month - 1]) \(year) "
            + "\(twoDigits(time / 3600)):\(twoDigits(time / 60 % 60)):\(twoDigits(time % 60)) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension Int {
    fileprivate func floorDivided(by divisor: Int) -> Int {
        self >= 0 ? self / divisor : (self - divisor + 1) / divisor
    }
    fileprivate func floorRemainder(by divisor: Int) -> Int { self - floorDivided(by: divisor) * divisor }
}
