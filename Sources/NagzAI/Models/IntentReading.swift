import Domain

/// The reading of a nag from a person's words by a model: the facts for the prompt, and the nag in the answer.
public struct IntentReading: Sendable {
    /// The word for the author in the prompt.
    static let authorWord = "me"

    public let promptFacts: PromptFacts
    /// The possible recipients, by the name that the prompt has.
    private let recipientsByName: [String: UserID]
    private let dueTimes: DueTimeReader

    /// Prepares the prompt. The recipient may be the author, or a member whose name is in the words. The model is sent
    /// no other names. A name that two members share identifies nobody.
    public init(_ text: String, _ facts: IntentFacts) {
        let spokenWords = words(in: singleLine(text)).map(\.text)
        var idsByName: [String: Set<UserID>] = [:]
        for member in facts.members {
            guard let name = Self.name(of: member, in: spokenWords), name.lowercased() != Self.authorWord else {
                continue
            }
            idsByName[name, default: []].insert(member.id)
        }
        var recipients = idsByName.compactMapValues { $0.count == 1 ? $0.first : nil }
        recipients[Self.authorWord] = facts.author
        recipientsByName = recipients
        dueTimes = DueTimeReader(now: facts.now, zone: facts.zone)
        promptFacts = .intent(text, recipients: recipients.keys.sorted(), now: facts.now, zone: facts.zone)
    }

    /// Returns the full or first name of a member that the words contain; nil if they contain neither.
    private static func name(of member: IntentFacts.Member, in spokenWords: [String]) -> String? {
        let name = words(in: member.name).map(\.text)
        guard let first = name.first, spokenWords.contains(first) else { return nil }
        let hasFullName = spokenWords.indices.contains { spokenWords[$0...].starts(with: name) }
        return hasFullName ? member.name : member.name.split(whereSeparator: \.isWhitespace).first.map(String.init)
    }

    /// Returns the nag that a model's answer describes.
    /// - Parameter answer: the fields of the answer, which have the requested form and passed the `OutputCheck`.
    /// - Throws: `due` if the due time is missing or `DueTimeReader` does not accept it; `empty` if another value is
    ///   missing or unknown.
    public func draftedNag(from answer: [String: String]) throws(OutputCheck.Refusal) -> DraftedNag {
        guard let recipient = answer["recipient"].flatMap({ recipientsByName[$0] }),
            let category = answer["category"].flatMap(NagCategory.init),
            let definition = answer["done_definition"].flatMap(DoneDefinition.init),
            let description = answer["description"]
        else { throw .empty }
        guard let due = answer["due_local"].flatMap(dueTimes.dueAt(local:)) else { throw .due }
        return DraftedNag(
            recipient: recipient, category: category, description: description, dueAt: due, doneDefinition: definition)
    }
}
