import Domain

/// The facts that words are read against to draft a nag: the family's members, and the moment and zone of the person
/// who says them.
public struct IntentFacts: Sendable {
    public struct Member: Hashable, Sendable {
        public var id: UserID
        public var name: String

        public init(id: UserID, name: String) {
            self.id = id
            self.name = name
        }
    }

    public var author: UserID
    public var members: [Member]
    public var now: Timestamp
    public var zone: any ZoneRules

    public init(author: UserID, members: [Member], now: Timestamp, zone: any ZoneRules) {
        self.author = author
        self.members = members
        self.now = now
        self.zone = zone
    }
}

/// A nag as the rules or a model (`IntentReading`) read it from a person's words.
///
/// Recipient and category come from the given lists, the due time from `DueTimeReader`.
public struct DraftedNag: Hashable, Sendable {
    /// The confidence of the rules in their reading.
    public static let confidence = 0.3
    /// The confidence of the rules where they did not understand what the words say of a time.
    public static let misreadConfidence = 0.1

    public var recipient: UserID
    public var category: NagCategory
    public var description: String
    public var dueAt: Timestamp
    public var doneDefinition: DoneDefinition
    /// The words about a time that were not understood.
    public var misread: [String] = []

    init(
        recipient: UserID, category: NagCategory, description: String, dueAt: Timestamp, doneDefinition: DoneDefinition
    ) {
        self.recipient = recipient
        self.category = category
        self.description = description
        self.dueAt = dueAt
        self.doneDefinition = doneDefinition
    }

    /// - Parameter text: such as "Emma has to take her pills at 7 tonight". Without a member's name the nag is for the
    ///   author; without a time, or with one that is not understood, it is due tomorrow at 18:00.
    public init(reading text: String, _ facts: IntentFacts) {
        let line = singleLine(text)
        let said = words(in: line).map(\.text)
        recipient = Self.recipient(said, facts)
        category = Self.category(said)
        description = line
        let reader = DueTimeReader(now: facts.now, zone: facts.zone)
        let reading = reader.read(line)
        dueAt = reading.dueAt ?? reader.usual
        misread = reading.misread
        doneDefinition = .binaryCheck
    }

    /// Returns the member who is named first; if several names begin at the same word, the member with the longest one.
    /// A name that two members share identifies nobody.
    private static func recipient(_ said: [String], _ facts: IntentFacts) -> UserID {
        for index in said.indices {
            var named: Set<UserID> = []
            var length = 0
            for member in facts.members {
                let name = words(in: member.name).map(\.text)
                guard let first = name.first, first == said[index] else { continue }
                let isWhole = said[index...].starts(with: name)
                let matched = isWhole ? name.count : 1
                if matched > length { (named, length) = ([], matched) }
                if matched == length { named.insert(member.id) }
            }
            if named.count == 1, let person = named.first { return person }
        }
        return facts.author
    }

    /// Returns the first category, in the order of the table, of which a word occurs.
    private static func category(_ said: [String]) -> NagCategory {
        let said = Set(said)
        return categoryWords.first { !said.isDisjoint(with: $0.words) }?.category ?? .other
    }

    private static let categoryWords: [(category: NagCategory, words: Set<String>)] = [
        (
            .meds,
            ["med", "meds", "medicine", "medication", "pill", "pills", "tablet", "tablets", "inhaler", "vitamins"]
        ),
        (.homework, ["homework", "essay", "assignment", "maths", "math", "spelling", "study", "revise", "worksheet"]),
        (
            .appointments,
            ["appointment", "appointments", "dentist", "doctor", "orthodontist", "haircut", "checkup", "vaccination"]
        ),
        (
            .chores,
            [
                "chore", "chores", "dishes", "dishwasher", "laundry", "trash", "garbage", "rubbish", "bin", "bins",
                "room", "bed", "clean", "tidy", "vacuum", "sweep", "mow", "rake", "plants",
            ]
        ),
    ]
}
