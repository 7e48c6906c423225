import Domain
import Postgres

/// The contents of a daily digest: a person's open nags that are overdue, or due within a day.
struct DailyDigest {
    /// The largest number of nags that the text names.
    static let maxNamedNags = 20
    /// The period until the next digest: nags that become due within it are in the digest, besides overdue ones.
    static let horizon = Timestamp.Span.days(1)
    /// The largest number of characters of a nag's description in the text.
    private static let maxDescriptionLength = 80

    private let namedNags: [(dueAt: Timestamp, words: String)]
    /// The number of all nags in the digest, including those that the text does not name.
    private let nagCount: Int

    /// Reads the rows of `NagStatements.digestNags`.
    init(_ rows: Rows) throws(PostgresError) {
        namedNags = try rows.map { row throws(PostgresError) in
            let (description, category): (String?, NagCategory) = (try row["description"], try row["category"])
            let words = description.map(safeLine).flatMap { $0.isEmpty ? nil : $0 } ?? category.rawValue
            return (
                try row["due_at"],
                words.count > Self.maxDescriptionLength ? words.prefix(Self.maxDescriptionLength) + "…" : words
            )
        }
        nagCount = try rows.first?["total"] ?? 0
    }

    var isEmpty: Bool { namedNags.isEmpty }

    /// Returns the text, such as `Overdue: Feed the cat; Read. Due within a day: Walk the dog. And 3 more.`
    func text(at now: Timestamp) -> String {
        let parts = [
            ("Overdue", namedNags.filter { $0.dueAt <= now }),
            ("Due within a day", namedNags.filter { $0.dueAt > now }),
        ]
        var sentences = parts.filter { !$0.1.isEmpty }.map { title, group in
            "\(title): \(group.map(\.words).joined(separator: "; "))."
        }
        if nagCount > namedNags.count { sentences.append("And \(nagCount - namedNags.count) more.") }
        return sentences.joined(separator: " ")
    }
}
