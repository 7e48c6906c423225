import Domain

/// A person's words for a model to read as a nag: the facts for the prompt, and the checks of the model's answer.
public struct IntentReading: Sendable {
    /// The word for the author in the prompt.
    static let author = "me"

    public let promptFacts: PromptFacts
    private let recipients: [String: UserID]
    private let dueTimes: DueTimeReader

    /// Creates the reading. The model may choose the author, or a member whose name is in the words; it is sent no
    /// other name. A name that two members share identifies nobody.
    public init(_ text: String, _ facts: IntentFacts) {
        let said = words(in: singleLine(text)).map(\.text)
        var named: [String: Set<UserID>] = [:]
        for member in facts.members {
            guard let name = Self.name(of: member, in: said), name.lowercased() != Self.author else { continue }
            named[name, default: []].insert(member.id)
        }
        var recipients = named.compactMapValues { $0.count == 1 ? $0.first : nil }
        recipients[Self.author] = facts.author
        self.recipients = recipients
        dueTimes = DueTimeReader(now: facts.now, zone: facts.zone)
        promptFacts = .intent(text, recipients: recipients.keys.sorted(), now: facts.now, zone: facts.zone)
    }

    /// Returns the full or first name of a member that the words contain; nil if they contain neither.
    private static func name(of member: IntentFacts.Member, in said: [String]) -> String? {
        let name = words(in: member.name).map(\.text)
        guard let first = name.first, said.contains(first) else { return nil }
        let isWhole = said.indices.contains { said[$0...].starts(with: name) }
        return isWhole ? member.name : member.name.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }

    /// The nag of a model's answer.
    /// - Parameter answer: the fields, which have the form that was asked for and passed the `OutputCheck`.
    /// - Throws: `due` for a due time that is not a local time ahead.
    public func nag(_ answer: [String: String]) throws(OutputCheck.Refusal) -> DraftedNag {
        guard let recipient = answer["recipient"].flatMap({ recipients[$0] }),
            let category = answer["category"].flatMap(NagCategory.init),
            let definition = answer["done_definition"].flatMap(DoneDefinition.init),
            let description = answer["description"]
        else { throw .empty }
        guard let due = answer["due_local"].flatMap(dueTimes.dueAt(local:)) else { throw .due }
        return DraftedNag(
            recipient: recipient, category: category, description: description, dueAt: due, doneDefinition: definition)
    }
}
