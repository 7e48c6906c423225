import Domain

/// The facts that a prompt states, and that an answer may therefore state.
///
/// Only the facts of `summarizeExcuse`, `askCoach` and `intent` contain a person's words. Prompts call people `the
/// child`; `insertingName` inserts the one name of a digest into the answer.
public struct PromptFacts: Hashable, Sendable {
    public let task: ModelTask
    let values: [PromptSlot: String]
    /// The claims about nags that the facts support.
    let claims: Set<Claim>
    /// The names that an answer must not contain unless the facts contain them.
    let memberNames: [String]
    /// The name that `PromptFacts.personPhrase` replaces; nil if no name was withheld.
    let withheldName: String?
    let schema: OutputSchema?
    /// The tone. An answer may add courteous phrases of this tone.
    let tone: AITone
    /// Whether an answer may add praise.
    let allowsPraise: Bool
    /// Whether the answer may use only the rules' own words, because it is about medicine or appointments.
    let requiresExactWords: Bool

    /// The words that stand for a person in prompts and answers.
    static let personPhrase = "the child"
    static let personWord = "child"

    private init(
        _ task: ModelTask, _ values: [PromptSlot: String], claims: Set<Claim> = [], memberNames: [String],
        withheldName: String? = nil, schema: OutputSchema? = nil, tone: AITone = .neutral,
        allowsPraise: Bool = false, requiresExactWords: Bool = false
    ) {
        self.task = task
        self.values = values
        self.claims = claims
        self.memberNames = memberNames
        self.withheldName = withheldName
        self.schema = schema
        self.tone = tone
        self.allowsPraise = allowsPraise
        self.requiresExactWords = requiresExactWords
    }

    /// Creates the facts for shortening the words of an excuse.
    public static func summarizeExcuse(_ text: String, memberNames: [String]) -> Self {
        Self(.summarizeExcuse, [.text: quotable(text)], memberNames: memberNames)
    }

    /// Creates the facts for rewording the rule's reason for a tone.
    public static func selectTone(
        _ snapshot: Snapshot<NagFacts>, _ heuristics: Heuristics, memberNames: [String]
    ) -> Self {
        let response = heuristics.tone(for: snapshot.facts).response
        return Self(
            .selectTone,
            [
                .draft: response.reason, .tone: response.tone.rawValue, .misses: "\(response.missCount7d)",
                .streak: "\(response.streak)",
            ], claims: claims(snapshot), memberNames: memberNames, tone: response.tone,
            requiresExactWords: snapshot.facts.nag.category.requiresExactWords)
    }

    /// Creates the facts for rewording the rule's tip.
    public static func coaching(
        _ snapshot: Snapshot<NagFacts>, _ heuristics: Heuristics, memberNames: [String]
    ) -> Self {
        let tip = heuristics.coaching(for: snapshot).response.tip
        return rewordingFacts(.coaching, tip, snapshot, heuristics, memberNames)
    }

    /// Creates the facts for rewording the rule's message; nil if the rules refuse the push-back.
    public static func pushBack(
        _ snapshot: Snapshot<NagFacts>, _ heuristics: Heuristics, memberNames: [String]
    ) -> Self? {
        heuristics.pushBack(for: snapshot).response.message.map {
            rewordingFacts(.pushBack, $0, snapshot, heuristics, memberNames)
        }
    }

    /// Creates the facts for rewording a digest: its counts, and its text without names.
    public static func digest(_ snapshot: Snapshot<DigestFacts>, _ heuristics: Heuristics) -> Self {
        let totals = heuristics.digest(for: snapshot).response.totals
        let (text, praisedName) = heuristics.digestWithoutNames(for: snapshot)
        var claims: Set<Claim> = totals.completed > 0 ? [.done] : []
        if totals.missed > 0 { claims.insert(.missed) }
        if totals.missed + totals.overdue > 0 { claims.insert(.late) }
        return Self(
            .digest,
            [
                .draft: text, .completed: "\(totals.completed)", .total: "\(totals.totalNags)",
                .missed: "\(totals.missed)", .open: "\(totals.open)", .overdue: "\(totals.overdue)",
            ], claims: claims, memberNames: snapshot.facts.members.compactMap(\.displayName),
            withheldName: praisedName,
            // An answer may add praise only after a week in which everything was done.
            allowsPraise: totals.completed > 0 && totals.completed == totals.totalNags)
    }

    /// Creates the facts for a person's own question and for rewording the rules' answer; nil if the topic is unknown.
    public static func askCoach(
        _ text: String, _ snapshot: Snapshot<CoachFacts>, _ heuristics: Heuristics, memberNames: [String]
    ) -> Self? {
        let answer = heuristics.coachAnswer(to: text, for: snapshot).response
        guard answer.topic != .unknown else { return nil }
        let nags = snapshot.facts.digestFacts.nags.filter { $0.isCounted(now: snapshot.now) }
        var claims: Set<Claim> = nags.contains { $0.status == .completed } ? [.done] : []
        if snapshot.facts.missCount7d > 0 || nags.contains(where: { $0.status == .missed }) { claims.insert(.missed) }
        if nags.contains(where: { $0.status == .open && $0.dueAt < snapshot.now }) { claims.insert(.late) }
        return Self(
            .askCoach, [.text: quotable(text), .draft: answer.answer], claims: claims, memberNames: memberNames,
            requiresExactWords: heuristics.phrasebook.namesCategoryWithExactWords(answer.answer))
    }

    /// Creates the facts for drafting a nag from a person's words.
    /// - Parameter recipients: the names of the possible recipients; the answer names one of them.
    public static func intent(
        _ text: String, recipients: [String], now: Timestamp, zone: any ZoneRules
    ) -> Self {
        let categories = NagCategory.allCases.map(\.rawValue)
        let definitions = DoneDefinition.allCases.map(\.rawValue)
        let (date, time) = zone.local(now)
        return Self(
            .intent,
            [
                .text: quotable(text), .recipients: recipients.map(quotable).joined(separator: ", "),
                .categories: categories.joined(separator: ", "), .definitions: definitions.joined(separator: ", "),
                .now: "\(date.weekday.rawValue) \(date) \(time)",
            ], memberNames: recipients,
            schema: OutputSchema(
                name: "nag",
                fields: [
                    .init("recipient", choices: recipients), .init("category", choices: categories),
                    .init("description"), .init("due_local"), .init("done_definition", choices: definitions),
                ]))
    }

    /// The values that an answer may repeat. The words of a question to the coach are not among them, because a
    /// question proves no answer.
    var evidence: [PromptSlot: String] { task == .askCoach ? values.filter { $0.key != .text } : values }

    /// Returns the answer with the withheld name in place of `the child`.
    public func insertingName(into answer: String) -> String {
        guard let withheldName else { return answer }
        return answer.replacing(Self.personPhrase, with: withheldName).replacing("The child", with: withheldName)
    }

    private static func rewordingFacts(
        _ task: ModelTask, _ draft: String, _ snapshot: Snapshot<NagFacts>, _ heuristics: Heuristics,
        _ memberNames: [String]
    ) -> Self {
        Self(
            task,
            [
                .draft: draft, .tone: heuristics.wordingTone(for: snapshot.facts).rawValue,
                .category: heuristics.phrasebook.name(of: snapshot.facts.nag.category),
            ], claims: claims(snapshot), memberNames: memberNames, tone: heuristics.wordingTone(for: snapshot.facts),
            allowsPraise: snapshot.facts.streak >= 3 && snapshot.facts.missCount7d <= 0,
            requiresExactWords: snapshot.facts.nag.category.requiresExactWords)
    }

    private static func claims(_ snapshot: Snapshot<NagFacts>) -> Set<Claim> {
        let nag = snapshot.facts.nag
        var claims: Set<Claim> = nag.status == .completed ? [.done] : []
        if nag.status == .missed || snapshot.facts.missCount7d > 0 { claims.insert(.missed) }
        if snapshot.now >= nag.dueAt { claims.insert(.late) }
        return claims
    }

    /// Returns a person's words on one line, with plain quotation marks in place of the marks that surround the words
    /// in a prompt.
    private static func quotable(_ text: String) -> String {
        singleLine(text).replacing("\u{AB}", with: "\"").replacing("\u{BB}", with: "\"")
    }
}

extension NagCategory {
    /// Whether texts about the category may use only the rules' words.
    fileprivate var requiresExactWords: Bool { self == .meds || self == .appointments }
}

extension Phrasebook {
    /// Whether a text names medicine or an appointment.
    fileprivate func namesCategoryWithExactWords(_ text: String) -> Bool {
        let distinctWords = Set(words(in: text).map(\.text))
        return NagCategory.allCases.contains { category in
            category.requiresExactWords && words(in: name(of: category)).allSatisfy { distinctWords.contains($0.text) }
        }
    }
}

/// The placeholders of prompts.
enum PromptSlot: String, Sendable, CaseIterable {
    /// A person's own words.
    case text
    /// The rules' text, which the model rewords.
    case draft
    /// A fact with this name, such as a count, the list of values that an answer may have, or the current time.
    case tone, category, misses, streak, completed, total, missed, open, overdue, recipients, categories, definitions,
        now
}

extension ModelTask {
    /// The placeholders that its prompts may have.
    var slots: Set<PromptSlot> {
        switch self {
        case .summarizeExcuse: [.text]
        case .selectTone: [.draft, .tone, .misses, .streak]
        case .coaching, .pushBack: [.draft, .tone, .category]
        case .digest: [.draft, .completed, .total, .missed, .open, .overdue]
        case .askCoach: [.text, .draft]
        case .intent: [.text, .recipients, .categories, .definitions, .now]
        }
    }
}

/// A claim about nags that a text may make only if the facts support it.
enum Claim: String, Sendable, CaseIterable {
    case done, missed
    /// The due time has passed.
    case late
}
