import Domain

/// The facts for drafting a nag from a person's words: the members of the family, and the author's time and zone.
public struct IntentFacts: Sendable {
    /// A member of the family, who can be the recipient.
    public struct Member: Hashable, Sendable {
        public var id: UserID
        public var name: String

        public init(id: UserID, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// The person whose words are read.
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

/// A nag that the rules, or a model (`IntentReading`), drafted from a person's words.
///
/// The recipient is a member of the family or the author. `DueTimeReader` reads or checks the due time.
public struct DraftedNag: Hashable, Sendable {
    /// The confidence of a draft by the rules.
    public static let ruleConfidence = 0.3
    /// The confidence of a draft by the rules if they did not understand the words about a time.
    public static let unclearPhraseConfidence = 0.1

    public var recipient: UserID
    public var category: NagCategory
    public var description: String
    public var dueAt: Timestamp
    public var doneDefinition: DoneDefinition
    /// The phrases about a time that were not understood.
    public var unclearPhrases: [String] = []

    init(
        recipient: UserID, category: NagCategory, description: String, dueAt: Timestamp, doneDefinition: DoneDefinition
    ) {
        self.recipient = recipient
        self.category = category
        self.description = description
        self.dueAt = dueAt
        self.doneDefinition = doneDefinition
    }

    /// Drafts a nag by the rules.
    /// - Parameter text: the person's words, such as "Emma has to take her pills at 7 tonight". Without a member's name
    ///   the nag is for the author; without a time, or with one that is not understood, it is due tomorrow at 18:00.
    public init(reading text: String, _ facts: IntentFacts) {
        let line = singleLine(text)
        let spokenWords = words(in: line).map(\.text)
        recipient = Self.recipient(in: spokenWords, facts)
        category = Self.category(of: spokenWords)
        description = line
        let reader = DueTimeReader(now: facts.now, zone: facts.zone)
        let reading = reader.read(line)
        dueAt = reading.dueAt ?? reader.defaultDueTime
        unclearPhrases = reading.unclearPhrases
        doneDefinition = .binaryCheck
    }

    /// Returns the member whose full or first name comes first in the words; the author if there is none. If names of
    /// several members begin at the same word, the longest counts. A name that two members share identifies nobody.
    private static func recipient(in spokenWords: [String], _ facts: IntentFacts) -> UserID {
        for index in spokenWords.indices {
            var namedMembers: Set<UserID> = []
            var nameLength = 0
            for member in facts.members {
                let name = words(in: member.name).map(\.text)
                guard let first = name.first, first == spokenWords[index] else { continue }
                let isFullName = spokenWords[index...].starts(with: name)
                let matchedLength = isFullName ? name.count : 1
                if matchedLength > nameLength { (namedMembers, nameLength) = ([], matchedLength) }
                if matchedLength == nameLength { namedMembers.insert(member.id) }
            }
            if namedMembers.count == 1, let person = namedMembers.first { return person }
        }
        return facts.author
    }

    /// Returns the first category in the order of `categoryWords` of which a word occurs; `other` if none does.
    private static func category(of spokenWords: [String]) -> NagCategory {
        let distinctWords = Set(spokenWords)
        return categoryWords.first { !distinctWords.isDisjoint(with: $0.words) }?.category ?? .other
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
