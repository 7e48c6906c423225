import Domain

/// The windows of escalation in an operator's text: `phase_1=-60m,phase_3=90m,missed=2d`.
///
/// The names are `phase_1` to `phase_4`, `missed` and `reminders`; missing ones keep their defaults. `reminders` is the
/// time between reminders; the other times are offsets from a nag's base time. Times are whole numbers followed by `s`,
/// `m`, `h` or `d`; `0` needs no unit. Commas and line breaks separate the windows; `#` begins a comment.
extension EscalationPlan {
    /// A reason for which a text cannot be parsed.
    public struct Malformed: Error, CustomStringConvertible {
        public let description: String
    }

    private static let windowNames = ["phase_1", "phase_2", "phase_3", "phase_4", "missed", "reminders"]

    public init(text: String) throws(Malformed) {
        var spans: [String: Timestamp.Span] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            for part in line.prefix(while: { $0 != "#" }).split(separator: ",") {
                let words = part.split(separator: "=", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
                if words == [""] { continue }
                guard words.count == 2, let name = Self.windowNames.first(where: { $0 == words[0] }) else {
                    throw Malformed(
                        description: "“\(part)” is no window: write NAME=TIME with a name of "
                            + Self.windowNames.joined(separator: ", "))
                }
                guard let span = Self.parseSpan(words[1]) else {
                    throw Malformed(description: "“\(words[1])” is no time: write a number with s, m, h or d, as -60m")
                }
                guard spans.updateValue(span, forKey: name) == nil else {
                    throw Malformed(description: "\(name) is set twice")
                }
            }
        }
        let standard = EscalationPlan.standard
        let plan = EscalationPlan(
            dueSoon: spans["phase_1"] ?? standard.dueSoon, overdueSoft: spans["phase_2"] ?? standard.overdueSoft,
            overduePushBack: spans["phase_3"] ?? standard.overduePushBack,
            guardianReview: spans["phase_4"] ?? standard.guardianReview, missed: spans["missed"] ?? standard.missed,
            reminderInterval: spans["reminders"] ?? standard.reminderInterval)
        guard let plan else {
            throw Malformed(
                description:
                    "the windows must follow each other from phase_1 to missed, at most a year before or after the due"
                    + " or committed time, and reminders be 1s to 1d apart")
        }
        self = plan
    }

    /// The windows in seconds, in the form that `init(text:)` parses.
    public var text: String {
        let spans = [dueSoon, overdueSoft, overduePushBack, guardianReview, missed, reminderInterval]
        return zip(Self.windowNames, spans).map { "\($0)=\($1.microseconds / 1_000_000)s" }.joined(separator: ",")
    }

    private static func parseSpan(_ word: String) -> Timestamp.Span? {
        let secondsPerUnit: Int64
        switch word.last {
        case "s": secondsPerUnit = 1
        case "m": secondsPerUnit = 60
        case "h": secondsPerUnit = 3_600
        case "d": secondsPerUnit = 86_400
        default: return word.utf8.allSatisfy { $0 == UInt8(ascii: "0") } && !word.isEmpty ? .seconds(0) : nil
        }
        guard let count = Int64(word.dropLast()), abs(count) <= 366 * 86_400 else { return nil }
        return .seconds(count * secondsPerUnit)
    }
}
