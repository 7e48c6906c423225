import Domain

/// The effect of an incentive rule, as the entry of a completion or of a guardian's confirmation records it: a detail
/// of its own, named `incentive_1` and so on.
public struct IncentiveNote: Sendable, Hashable {
    public var event: ResourceID
    public var rule: ResourceID
    public var version: Int
    public var terms: IncentiveTerms

    public init(event: ResourceID, rule: ResourceID, version: Int, terms: IncentiveTerms) {
        self.event = event
        self.rule = rule
        self.version = version
        self.terms = terms
    }

    /// Whether the reward is given without a guardian's confirmation.
    public var isAutomatic: Bool { terms.approvalMode == .auto }

    /// `<event> <rule> <version> <trigger> <count> <reward> <amount> <approval mode>`.
    public var text: String {
        "\(event) \(rule) \(version) \(terms.trigger.rawValue) \(terms.count) \(terms.reward.rawValue) "
            + "\(terms.amount) \(terms.approvalMode.rawValue)"
    }

    /// Parses a note; nil for a text that is none.
    public init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        guard words.count == 8, let event = ResourceID(words[0]), let rule = ResourceID(words[1]),
            let version = Int(words[2]), let trigger = IncentiveTrigger(rawValue: words[3]),
            let count = Int(words[4]), let reward = IncentiveReward(rawValue: words[5]), let amount = Int(words[6]),
            let mode = IncentiveApprovalMode(rawValue: words[7])
        else { return nil }
        self.init(
            event: event, rule: rule, version: version,
            terms: IncentiveTerms(trigger: trigger, count: count, reward: reward, amount: amount, approvalMode: mode))
    }

    /// Returns the notes as details of an entry.
    public static func details(_ notes: [IncentiveNote]) -> AuditBody {
        var body = AuditBody()
        for (index, note) in notes.enumerated() { body[name(index)] = note.text }
        return body
    }

    /// The notes of an entry.
    static func all(in body: AuditBody) -> [IncentiveNote] {
        var notes: [IncentiveNote] = []
        while let text = body[name(notes.count)], let note = IncentiveNote(text) { notes.append(note) }
        return notes
    }

    private static func name(_ index: Int) -> String { "incentive_\(index + 1)" }
}

/// A version of an incentive rule, as its entry records it.
public struct IncentiveRuleVersion: Sendable, Hashable {
    public var version: Int
    public var terms: IncentiveTerms
    public var status: IncentiveRuleStatus
    /// The entry's.
    public var number: Int64

    public init(version: Int, terms: IncentiveTerms, status: IncentiveRuleStatus, number: Int64 = 0) {
        self.version = version
        self.terms = terms
        self.status = status
        self.number = number
    }

    public var details: AuditBody {
        [
            "version": "\(version)", "trigger": terms.trigger.rawValue, "count": "\(terms.count)",
            "reward": terms.reward.rawValue, "amount": "\(terms.amount)",
            "approval_mode": terms.approvalMode.rawValue, "status": status.rawValue,
        ]
    }

    /// Reads the rule in an entry's details; nil for those of another form.
    init?(_ body: AuditBody, _ number: Int64) {
        guard let version = body["version"].flatMap({ Int($0) }),
            let trigger = body["trigger"].flatMap(IncentiveTrigger.init),
            let count = body["count"].flatMap({ Int($0) }),
            let reward = body["reward"].flatMap(IncentiveReward.init),
            let amount = body["amount"].flatMap({ Int($0) }),
            let mode = body["approval_mode"].flatMap(IncentiveApprovalMode.init),
            let status = body["status"].flatMap(IncentiveRuleStatus.init)
        else { return nil }
        self.init(
            version: version,
            terms: IncentiveTerms(trigger: trigger, count: count, reward: reward, amount: amount, approvalMode: mode),
            status: status, number: number)
    }
}

/// A row of the versions of a rule.
public struct IncentiveRuleRow: Sendable {
    public var id: IncentiveRuleID
    /// `active`, `retired`, or `superseded` by a later version.
    public var status: String
    public var version: Int
    /// The terms; nil where the row has a value that no rule has.
    public var terms: IncentiveTerms?

    public init(id: IncentiveRuleID, status: String, version: Int, terms: IncentiveTerms?) {
        self.id = id
        self.status = status
        self.version = version
        self.terms = terms
    }
}

/// A row with the effect of an incentive rule.
public struct IncentiveRow: Sendable {
    public var id: IncentiveEventID
    public var nag: NagID
    public var rule: IncentiveRuleID
    public var version: Int
    public var person: Pseudonym?
    public var isApplied: Bool

    public init(
        id: IncentiveEventID, nag: NagID, rule: IncentiveRuleID, version: Int, person: Pseudonym?, isApplied: Bool
    ) {
        self.id = id
        self.nag = nag
        self.rule = rule
        self.version = version
        self.person = person
        self.isApplied = isApplied
    }
}
