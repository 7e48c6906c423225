import Domain

/// The data about a person that an answer is based on: their preferred tone, and the amount of history that was used.
public struct Grounding: Hashable, Sendable {
    /// The tone that the person prefers, or the default.
    public var persona: PreferredTone
    /// The number of earlier turns of the AI session that were used.
    public var session: Int
    /// The number of records that were used: misses, time conflicts, resolved nags, push-backs, or the nags that an
    /// answer cites.
    public var events: Int

    public init(persona: PreferredTone, session: Int = 0, events: Int) {
        self.persona = persona
        self.session = session
        self.events = events
    }
}

extension NagFacts {
    /// The grounding of a tip. It counts the misses, the time conflicts and the resolved nags of the category, all
    /// within `FactWindow.recent`.
    var coachingGrounding: Grounding {
        Grounding(
            persona: preferences.tone, session: sessionTurns.count,
            events: max(0, missCount7d) + max(0, timeConflictCount7d) + max(0, recentCategoryRecord.resolved))
    }

    /// The grounding of a push-back. It counts the misses within `FactWindow.recent`, and the push-backs of the nag's
    /// due cycle, or the latest earlier one if there are none.
    var pushBackGrounding: Grounding {
        let pushBackCount = cyclePushBacks.isEmpty && earlierPushBack != nil ? 1 : cyclePushBacks.count
        return Grounding(persona: preferences.tone, events: max(0, missCount7d) + pushBackCount)
    }
}
