import Domain

/// The grounding of an answer to or about a person: the tone that they prefer, and the amount of history that was used.
public struct Grounding: Hashable, Sendable {
    /// The tone the recipient prefers, or the default.
    public var persona: PreferredTone
    /// Earlier turns of the AI session that were used.
    public var session: Int
    /// The number of recorded events that were counted. Events before the operation's window are not.
    public var events: Int

    public init(persona: PreferredTone, session: Int = 0, events: Int) {
        self.persona = persona
        self.session = session
        self.events = events
    }
}

extension NagFacts {
    /// The grounding of a tip: the misses, time conflicts and resolved nags of the category within `FactWindow.recent`.
    var groundingOfCoaching: Grounding {
        Grounding(
            persona: preferences.tone, session: session.count,
            events: max(0, missCount7d) + max(0, timeConflictCount7d) + max(0, recentCategory.total))
    }

    /// The grounding of a push-back: the misses within `FactWindow.recent`, and the push-backs that count for this one.
    var groundingOfPushBack: Grounding {
        let counted = pushBacks.isEmpty && earlierPushBack != nil ? 1 : pushBacks.count
        return Grounding(persona: preferences.tone, events: max(0, missCount7d) + counted)
    }
}
