import Domain

/// The effect of an incentive rule, as the entry of a completion or of a guardian's confirmation records it: a detail
/// of its own, named `incentive_1` and so on.
public struct IncentiveNote: Sendable, Hashable {
    /// The ID of the effect's row, which is also that of its points.
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

    /// The note in one line: `<event> <rule> <version> <trigger> <count> <reward> <amount> <approval mode>`.
    public var text: String { "\(event) \(rule) \(version) \(terms.auditText)" }

    /// Parses the text of a note; nil for any other text.
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
        body.setNumberedValues(detailName, notes.map(\.text))
        return body
    }

    /// Returns the notes of an entry.
    static func notes(in body: AuditBody) -> [IncentiveNote] {
        body.numberedValues(detailName).compactMap(IncentiveNote.init)
    }

    private static let detailName = "incentive"
}

/// A version of an incentive rule, as its entry records it.
public struct IncentiveRuleVersion: Sendable, Hashable {
    public var version: Int
    public var terms: IncentiveTerms
    public var status: IncentiveRuleStatus

    public init(version: Int, terms: IncentiveTerms, status: IncentiveRuleStatus) {
        self.version = version
        self.terms = terms
        self.status = status
    }

    public var details: AuditBody {
        [
            "version": "\(version)", "trigger": terms.trigger.rawValue, "count": "\(terms.count)",
            "reward": terms.reward.rawValue, "amount": "\(terms.amount)",
            "approval_mode": terms.approvalMode.rawValue, "status": status.rawValue,
        ]
    }

    /// Reads the rule in an entry's details; nil for those of another form.
    init?(_ body: AuditBody) {
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
            status: status)
    }
}

extension IncentiveTerms {
    /// The terms in one line: `<trigger> <count> <reward> <amount> <approval mode>`.
    var auditText: String {
        "\(trigger.rawValue) \(count) \(reward.rawValue) \(amount) \(approvalMode.rawValue)"
    }
}
