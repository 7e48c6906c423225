extension Timestamp {
    /// Parses an HTTP date in the preferred format, IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section
    /// 5.6.7). The day of the week is not checked; the obsolete formats give nil.
    public init?(httpDate text: String) {
        let words = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        func number(_ word: Substring, digitCount: Int) -> Int? {
            word.utf8.count == digitCount && word.utf8.allSatisfy { (48...57).contains($0) } ? Int(word) : nil
        }
        guard words.count == 6, words[5] == "GMT",
            let day = number(words[1], digitCount: 2), let year = number(words[3], digitCount: 4),
            let month = months.firstIndex(of: String(words[2])),
            let date = CivilDate(year: year, month: month + 1, day: day), let time = TimeOfDay(words[4])
        else { return nil }
        self.init(seconds: date.daysSinceEpoch * 86_400 + Int64(time.secondsSinceMidnight))
    }
}
