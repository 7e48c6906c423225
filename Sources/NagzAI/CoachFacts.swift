import Domain

/// A person's own question in words, about themselves.
public struct CoachQuestion: AIQuestion, Hashable {
    public var familyID: FamilyID
    /// The person who asks; nil in a request, where it is the sender.
    public var userID: UserID?
    public var text: String

    public init(familyID: FamilyID, userID: UserID? = nil, text: String) {
        self.familyID = familyID
        self.userID = userID
        self.text = text
    }

    public var ownWords: String { text }

    /// False, because a free question may be about anything: the person's choices and token limit decide whether it
    /// goes to the server.
    public var keepsWordsOnDevice: Bool { false }

    public func facts(from source: some FactSource) async throws -> Snapshot<CoachFacts> {
        try await source.coachFacts(of: userID, familyID: familyID)
    }
}

/// The facts that the coach has of a person: their nags, recent misses and streak.
public struct CoachFacts: Hashable, Sendable {
    /// A nag that the person receives, and that is open or counted in a digest.
    public struct Nag: Hashable, Sendable {
        public var id: NagID
        public var category: NagCategory
        public var status: NagStatus
        public var dueAt: Timestamp
        /// The time at which it was completed or missed; nil while it is open.
        public var closedAt: Timestamp?

        public init(id: NagID, category: NagCategory, status: NagStatus, dueAt: Timestamp, closedAt: Timestamp? = nil) {
            self.id = id
            self.category = category
            self.status = status
            self.dueAt = dueAt
            self.closedAt = closedAt
        }
    }

    public var familyID: FamilyID
    public var userID: UserID
    /// The nags in any order.
    public var nags: [Nag]
    /// The number of misses in the last seven days, as in `NagFacts`.
    public var missCount7d: Int
    /// The number of nags that the person completed on time since their last miss, as in `NagFacts`.
    public var streak: Int
    /// The tone that the person prefers.
    public var tone: PreferredTone
    /// The latest turns of the AI session that the question belongs to, oldest first.
    public var sessionTurns: [SessionTurn] = []

    public init(
        familyID: FamilyID, userID: UserID, nags: [Nag], missCount7d: Int = 0, streak: Int = 0,
        tone: PreferredTone = .friendly
    ) {
        self.familyID = familyID
        self.userID = userID
        self.nags = nags
        self.missCount7d = missCount7d
        self.streak = streak
        self.tone = tone
    }

    /// The counts that the audit log stores as the inputs of an answer.
    var counts: [(name: String, value: String)] {
        [
            ("nags", "\(nags.count)"), ("miss_count_7d", "\(max(0, missCount7d))"), ("streak", "\(max(0, streak))"),
        ]
    }
}

/// The coach's answer to a person's own question.
public struct CoachAnswer: Hashable, Sendable {
    public var familyID: FamilyID
    public var answer: String
    public var topic: CoachTopic
    /// The nags that the answer is about, at most 20.
    public var citations: [NagID]
    /// The confidence that the rules gave, 0 to 1.
    public var confidence: Double

    public init(
        familyID: FamilyID, answer: String, topic: CoachTopic, citations: [NagID] = [], confidence: Double
    ) {
        self.familyID = familyID
        self.answer = answer
        self.topic = topic
        self.citations = citations
        self.confidence = confidence
    }
}
