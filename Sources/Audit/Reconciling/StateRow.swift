import Domain

/// A row of the database that the audit log explains: its columns under the names that findings use.
public struct StateRow: Sendable {
    public var subject: StateFinding.Subject
    /// The row's id, as findings show it.
    public var id: String
    /// The keys under which the entries may record the row, the most exact first; none where it belongs to an erased
    /// person.
    public var keys: [StateKey]
    public var values: [String: StateValue]
    /// The account whose row it is; nil for rows of a family.
    public var user: UserID?
    /// The person whom the row's entry is about; nil where that may be several people.
    public var person: Pseudonym?
    /// The nag whose escalation or end may have caused the row; nil where there is none.
    public var sourceNag: ResourceID?
    /// The number of the act that made the row, where no other act changes such rows; 0 where the row does not say.
    public var creationNumber: Int64 = 0
    /// The number of the act that changed the row last; nil where the row does not say.
    public var lastChangeNumber: Int64?

    public init(
        _ subject: StateFinding.Subject, id: String, keys: [StateKey], _ values: [String: StateValue],
        user: UserID? = nil, person: Pseudonym? = nil, sourceNag: ResourceID? = nil, creationNumber: Int64 = 0,
        lastChangeNumber: Int64? = nil
    ) {
        self.subject = subject
        self.id = id
        self.keys = keys
        self.values = values
        self.user = user
        self.person = person
        self.sourceNag = sourceNag
        self.creationNumber = creationNumber
        self.lastChangeNumber = lastChangeNumber
    }
}

/// The value of a column. People are given by their pseudonyms; nil for an erased person.
public enum StateValue: Sendable, Hashable, ExpressibleByStringLiteral {
    /// A text, number, truth value or time, as entries write it; nil for NULL.
    case text(String?)
    case person(Pseudonym?)
    case people([Pseudonym?])
    /// Not compared: the row is older than the column.
    case unknown

    public init(stringLiteral text: String) { self = .text(text) }

    public init(_ value: some CustomStringConvertible) { self = .text(value.description) }

    /// The value as findings show it.
    var description: String {
        switch self {
        case .text(let text): text ?? "none"
        case .person(let person): person?.description ?? "nobody"
        case .people(let people):
            people.map { $0?.description ?? "nobody" }.sorted().joined(separator: ",")
        case .unknown: "unknown"
        }
    }
}

/// The key of a row among the rows of its subject.
public enum StateKey: Sendable, Hashable, CustomStringConvertible {
    case id(ResourceID)
    /// The number of the entry that made the row.
    case number(Int64)
    /// The person of a membership.
    case person(Pseudonym)
    case badge(Pseudonym, type: String)
    /// The two people of a relationship, in ascending order.
    case pair(Pseudonym, Pseudonym)
    /// A version of the incentive rule with that ID.
    case version(of: ResourceID, Int)
    /// The key of the family's policy.
    case policy

    /// Returns the key of a relationship, whichever person is named first.
    public static func pair(of one: Pseudonym, and other: Pseudonym) -> StateKey {
        one < other ? .pair(one, other) : .pair(other, one)
    }

    public var description: String {
        switch self {
        case .id(let id): id.description
        case .number(let number): "\(number)"
        case .person(let person): person.description
        case .badge(let person, let type): "\(person) \(type)"
        case .pair(let one, let other): "\(one) – \(other)"
        case .version(let rule, let version): "\(rule) \(version)"
        case .policy: "default"
        }
    }

    /// The people whose erasure may delete the row.
    var people: [Pseudonym] {
        switch self {
        case .person(let person), .badge(let person, _): [person]
        case .pair(let one, let other): [one, other]
        case .id, .number, .version, .policy: []
        }
    }
}

/// The row with the sums of a member's gamification events. Such rows come after the rows of the events.
public struct TotalsRow: Sendable {
    public var user: UserID
    public var sums: ScoreSums
    /// The part of the sums for events that retention has deleted.
    public var droppedSums: ScoreSums

    public init(user: UserID, sums: ScoreSums, droppedSums: ScoreSums = ScoreSums()) {
        self.user = user
        self.sums = sums
        self.droppedSums = droppedSums
    }
}

/// Sums over gamification events: points, changes of the streak, and the numbers of events and of completions.
public struct ScoreSums: Sendable, Hashable {
    public var points: Int64 = 0
    public var streak: Int64 = 0
    public var events: Int64 = 0
    public var completions: Int64 = 0

    public init(points: Int64 = 0, streak: Int64 = 0, events: Int64 = 0, completions: Int64 = 0) {
        self.points = points
        self.streak = streak
        self.events = events
        self.completions = completions
    }

    /// Adds sums. The streak is the sum of its changes, because a miss subtracts no more than the streak.
    mutating func add(_ other: ScoreSums) {
        points &+= other.points
        streak &+= other.streak
        events &+= other.events
        completions &+= other.completions
    }
}
