import Audit
import Domain
import Postgres

/// A version of an incentive rule, with the terms of its reward.
struct RuleVersion {
    let id: IncentiveRuleID
    let version: Int
    let terms: IncentiveTerms

    /// Parses the result of `IncentiveStatements.activeRules`.
    static func parseList(_ text: String) throws(PostgresError) -> [RuleVersion] {
        var rules: [RuleVersion] = []
        for rule in text.split(separator: ",") {
            let words = rule.split(separator: " ").map(String.init)
            guard words.count == 7, let id = IncentiveRuleID(words[0]), let version = Int(words[1]),
                let trigger = IncentiveTrigger(rawValue: words[2]), let count = Int(words[3]),
                let reward = IncentiveReward(rawValue: words[4]), let amount = Int(words[5]),
                let mode = IncentiveApprovalMode(rawValue: words[6])
            else { throw .unexpectedShape("an incentive rule") }
            let terms = IncentiveTerms(
                trigger: trigger, count: count, reward: reward, amount: amount, approvalMode: mode)
            rules.append(RuleVersion(id: id, version: version, terms: terms))
        }
        return rules
    }
}

/// The reward that a rule gives a person for a nag, at once or after a guardian's approval.
struct Incentive {
    let id: IncentiveEventID
    let nag: NagID
    let user: UserID
    let rule: RuleVersion

    var terms: IncentiveTerms { rule.terms }

    /// The type of the reward's gamification event. Clients show it as words, with blanks for underscores.
    var eventType: String {
        switch terms.reward {
        case .bonusPoints: "bonus_points"
        case .badge: "family_reward"
        }
    }

    /// The note for the audit log.
    var note: IncentiveNote {
        IncentiveNote(event: id.retyped(), rule: rule.id.retyped(), version: rule.version, terms: terms)
    }
}
