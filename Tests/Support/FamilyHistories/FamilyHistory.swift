import Domain
import SeededNumbers

/// A random history of a family, as the server stores it. Tests compute from it the facts of the server and of the
/// device.
public struct FamilyHistory: Sendable {
    /// A current or former member of the family.
    public struct Member: Sendable {
        public var id: UserID
        public var name: String
        public var role: FamilyRole
        public var status: MembershipStatus
        /// Nil if the person uses the family's zone.
        public var timeZone: String?
        public var quietHours: QuietHours?
        public var pushBackMode = PushBackMode.bounded
        public var tone = PreferredTone.friendly

        public init(id: UserID, name: String, role: FamilyRole, status: MembershipStatus = .active) {
            self.id = id
            self.name = name
            self.role = role
            self.status = status
        }
    }

    /// The final state of a nag.
    public struct Nag: Sendable {
        public var id: NagID
        public var creator: UserID
        public var recipient: UserID
        public var category: NagCategory
        public var status: NagStatus
        public var dueAt: Timestamp
        public var createdAt: Timestamp
        public var closedAt: Timestamp?
        /// The time of the last change of the due time; the time of the creation if it never changed.
        public var cycleStartedAt: Timestamp
    }

    /// An event of a nag.
    public struct Event: Sendable {
        public var id: EventID
        public var nag: NagID
        public var type: String
        public var actor: UserID
        public var recipient: UserID
        public var at: Timestamp
        public var payload: [String: String]
    }

    /// An excuse; its event is also among the events.
    public struct Excuse: Sendable {
        public var nag: NagID
        public var author: UserID
        public var category: ExcuseCategory
        public var at: Timestamp
    }

    /// A push-back.
    public struct PushBack: Sendable {
        public var id: EventID
        public var nag: NagID
        public var at: Timestamp
    }

    /// A change of a person's streak.
    public struct Score: Sendable {
        public var id: EventID
        public var user: UserID
        public var streakDelta: Int
        public var at: Timestamp
    }

    public var family: FamilyID
    public var now: Timestamp
    public var timeZone: String
    public var maxPushBack: Int
    public var cooldownMinutes: Int
    public var members: [Member]
    public var nags: [Nag] = []
    public var events: [Event] = []
    public var excuses: [Excuse] = []
    public var pushBacks: [PushBack] = []
    public var scores: [Score] = []
    /// The person who requests facts; nil for unrestricted access.
    public var reader: UserID?
}

extension FamilyHistory {
    /// Zones with offsets of whole and half hours, with clock changes of an hour and of half an hour, and without
    /// changes.
    public static let zones = [
        "America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "America/St_Johns", "UTC",
        "Pacific/Auckland",
    ]

    /// The times, in seconds since 1970, near which histories end: clock changes, and an ordinary one.
    private static let anchors: [Int64] = [
        1_772_953_200, 1_774_746_000, 1_793_512_800, 1_793_491_200, 1_775_314_800, 1_767_225_600, 1_780_000_000,
    ]

    /// Returns a random history with at most `nagCount` nags for these people.
    public static func random(
        seed: UInt64, family: FamilyID, members: [Member], nagCount: Int, endingAt now: Timestamp? = nil
    ) -> FamilyHistory {
        var dice = SeededNumbers(seed: seed)
        let anchor = anchors.randomElement(using: &dice) ?? 0
        let end = Timestamp(seconds: anchor + .random(in: -90_000...90_000, using: &dice))
        var history = FamilyHistory(
            family: family, now: now ?? end, timeZone: zones.randomElement(using: &dice) ?? "UTC",
            maxPushBack: .random(in: 0...3, using: &dice), cooldownMinutes: .random(in: 15...240, using: &dice),
            members: members)
        for index in history.members.indices { history.members[index].change(&dice) }
        var streaks: [UserID: Int] = [:]
        for _ in 0..<Int.random(in: 1...max(1, nagCount), using: &dice) {
            history.addNag(&dice, &streaks)
        }
        return history
    }

    private mutating func addNag(_ dice: inout SeededNumbers, _ streaks: inout [UserID: Int]) {
        guard let creator = members.randomElement(using: &dice)?.id,
            // A few people get most nags, so that counts reach the rules' thresholds.
            let recipient = members.prefix(Bool.random(using: &dice) ? 2 : members.count).randomElement(using: &dice)?
                .id
        else { return }
        // Most nags are recent; the rest are older than the feed's window.
        let reach: Int64 = [8, 30, 85, 200].randomElement(using: &dice) ?? 8
        let created = now - .seconds(.random(in: 60...(reach * 86_400), using: &dice))
        let id = NagID(high: dice.next(), low: dice.next())
        var nag = Nag(
            id: id, creator: creator, recipient: recipient,
            category: NagCategory.allCases.randomElement(using: &dice) ?? .other, status: .open,
            dueAt: created + .minutes(.random(in: 1...(6 * 1_440), using: &dice)), createdAt: created, closedAt: nil,
            cycleStartedAt: created)
        add("nag_created", nag, by: creator, at: created, &dice)
        let roll = Int.random(in: 0..<100, using: &dice)
        switch roll {
        case 0..<35: close(&nag, .completed, at: nag.dueAt + .minutes(.random(in: -600...600, using: &dice)), &dice)
        case 35..<65: close(&nag, .missed, at: nag.dueAt + .hours(24), &dice)
        case 65..<70: close(&nag, .withdrawn, at: nag.dueAt, &dice)
        case 70..<73: close(&nag, .cancelledRelationshipChange, at: nag.dueAt, &dice)
        default: leaveOpen(&nag, &dice)
        }
        score(nag, &streaks, &dice)
        nags.append(nag)
        if Int.random(in: 0..<3, using: &dice) == 0 { addExcuse(nag, &dice) }
    }

    private mutating func close(
        _ nag: inout Nag, _ status: NagStatus, at moment: Timestamp, _ dice: inout SeededNumbers
    ) {
        let at = max(moment, nag.createdAt + .seconds(1))
        guard at <= now else { return }
        (nag.status, nag.closedAt) = (status, at)
        switch status {
        case .completed: add("nag_completed", nag, by: nag.recipient, at: at, &dice)
        case .missed: add("nag_missed", nag, by: FamilyHistory.system, at: at, &dice)
        case .withdrawn: add("nag_withdrawn", nag, by: nag.creator, at: at, &dice)
        case .open, .cancelledRelationshipChange: add("nag_cancelled", nag, by: FamilyHistory.system, at: at, &dice)
        }
    }

    private mutating func leaveOpen(_ nag: inout Nag, _ dice: inout SeededNumbers) {
        // Devices cannot know push-backs that have left the feed, so an old nag has none.
        guard now - nag.createdAt < .days(80) else { return }
        func later(than moment: Timestamp, _ dice: inout SeededNumbers) -> Timestamp {
            moment + .seconds(.random(in: 1...max(2, (now - moment).microseconds / 1_000_000), using: &dice))
        }
        for _ in 0..<Int.random(in: 0...2, using: &dice) {
            let at = later(than: nag.createdAt, &dice)
            if at < now { pushBacks.append(PushBack(id: id(&dice), nag: nag.id, at: at)) }
        }
        if Int.random(in: 0..<3, using: &dice) == 0 {
            let at = later(than: nag.createdAt, &dice)
            guard at < now else { return }
            (nag.cycleStartedAt, nag.dueAt) = (at, at + .minutes(.random(in: 1...2_000, using: &dice)))
            add("nag_updated", nag, by: nag.creator, at: at, &dice, ["due_at": nag.dueAt.rfc3339])
        }
    }

    private mutating func addExcuse(_ nag: Nag, _ dice: inout SeededNumbers) {
        let end = nag.closedAt ?? now
        let span = max(1, (end - nag.createdAt).microseconds / 1_000_000 - 1)
        let at = nag.createdAt + .seconds(.random(in: 0...span, using: &dice))
        let category = Bool.random(using: &dice) ? .timeConflict : ExcuseCategory.allCases.randomElement(using: &dice)
        excuses.append(Excuse(nag: nag.id, author: nag.recipient, category: category ?? .other, at: at))
        add("excuse_submitted", nag, by: nag.recipient, at: at, &dice, ["category": (category ?? .other).rawValue])
    }

    /// Streaks follow the order in which nags are created here; only their sum matters.
    private mutating func score(_ nag: Nag, _ streaks: inout [UserID: Int], _ dice: inout SeededNumbers) {
        guard let at = nag.closedAt else { return }
        let delta: Int
        switch nag.status {
        case .completed: delta = at <= nag.dueAt ? 1 : 0
        case .missed: delta = Int.random(in: 0..<3, using: &dice) == 0 ? -(streaks[nag.recipient] ?? 0) : 0
        case .open, .withdrawn, .cancelledRelationshipChange: return
        }
        streaks[nag.recipient, default: 0] += delta
        scores.append(Score(id: id(&dice), user: nag.recipient, streakDelta: delta, at: at))
    }

    private mutating func add(
        _ type: String, _ nag: Nag, by actor: UserID, at: Timestamp, _ dice: inout SeededNumbers,
        _ payload: [String: String] = [:]
    ) {
        events.append(
            Event(
                id: id(&dice), nag: nag.id, type: type, actor: actor, recipient: nag.recipient, at: at, payload: payload
            ))
    }

    /// Adds one more miss of a nag, for tests in which the facts of server and device must differ.
    public mutating func addMiss(of nag: Nag, _ id: EventID, at moment: Timestamp) {
        events.append(
            Event(
                id: id, nag: nag.id, type: "nag_missed", actor: Self.system, recipient: nag.recipient, at: moment,
                payload: [:]))
    }

    private func id(_ dice: inout SeededNumbers) -> EventID { EventID(high: dice.next(), low: dice.next()) }

    /// The actor of events that no person caused.
    public static let system = UserID(high: 0x0000_0000_0000_4000, low: 0x8000_0000_0000_0001)
}

extension FamilyHistory.Member {
    fileprivate mutating func change(_ dice: inout SeededNumbers) {
        if Bool.random(using: &dice) { timeZone = FamilyHistory.zones.randomElement(using: &dice) }
        if Bool.random(using: &dice) {
            let (start, end) = (Int.random(in: 0..<1_440, using: &dice), Int.random(in: 0..<1_440, using: &dice))
            if let start = TimeOfDay(secondsSinceMidnight: start * 60),
                let end = TimeOfDay(secondsSinceMidnight: end * 60)
            {
                quietHours = QuietHours(start: start, end: end)
            }
        }
        if Int.random(in: 0..<5, using: &dice) == 0 { pushBackMode = .off }
        tone = PreferredTone.allCases.randomElement(using: &dice) ?? .friendly
    }
}
