import Domain

/// The rules of the operations: pure functions from facts to responses, worded by one phrasebook.
///
/// They use no clock, random numbers or I/O. The same facts give the same bytes on server and device.
public final class Heuristics: Sendable {
    public let phrasebook: Phrasebook

    public init(phrasebook: Phrasebook) { self.phrasebook = phrasebook }

    // MARK: Tone

    /// Returns the tone: firm after three misses, supportive after no miss and a streak of three, otherwise neutral.
    public func tone(for facts: NagFacts) -> Outcome<ToneSelectResponse> {
        let (misses, streak) = (max(0, facts.missCount7d), max(0, facts.streak))
        let (tone, rule) = tone(misses: misses, streak: streak)
        return Outcome(
            ToneSelectResponse(
                nagID: facts.nag.id, tone: tone, missCount7d: misses, streak: streak,
                reason: phrasebook.toneReasons[rule] ?? rule.rawValue),
            rule)
    }

    func tone(misses: Int, streak: Int) -> (tone: AITone, rule: HeuristicRule) {
        if misses >= 3 { return (.firm, .toneRecentMisses) }
        return misses <= 0 && streak >= 3 ? (.supportive, .toneSteadyStreak) : (.neutral, .toneDefault)
    }

    /// Returns the tone of tips and messages: the selected tone, or if that is neutral, the tone that the recipient
    /// prefers.
    func wordingTone(for facts: NagFacts) -> AITone {
        let tone = tone(for: facts).response.tone
        return tone == .neutral ? facts.preferences.tone.aiTone : tone
    }

    // MARK: Coaching

    /// Returns a tip for the first matching scenario, in the selected or the preferred tone.
    ///
    /// The FNV-1a hash of the nag's ID selects the first tip of the pool, and each local day of the recipient the next
    /// one. So the tip changes daily, and repeats only after all were shown.
    public func coaching(for snapshot: Snapshot<NagFacts>) -> Outcome<CoachingResponse> {
        let facts = snapshot.facts
        let (scenario, rule) = Self.scenario(facts)
        let tone = wordingTone(for: facts)
        let day = snapshot.zone.local(snapshot.now).date.daysSinceEpoch
        let count = phrasebook.tipCount(scenario, tone)
        let dailyNumber = Self.poolIndex(for: facts.nag.id, count: count, offset: day)
        func tip(_ number: UInt64) -> String {
            phrasebook.tip(number, scenario: scenario, tone: tone, category: facts.nag.category)
        }
        // A session gets no tip a second time as long as the pool has a tip that it has not had.
        let earlierAnswers = Set(facts.sessionTurns.map(\.answer))
        let number =
            earlierAnswers.isEmpty
            ? dailyNumber
            : (0..<UInt64(count)).map { dailyNumber &+ $0 }.first { !earlierAnswers.contains(tip($0)) } ?? dailyNumber
        return Outcome(
            CoachingResponse(
                nagID: facts.nag.id,
                tip: tip(number),
                category: facts.nag.category.rawValue, scenario: scenario.rawValue),
            rule)
    }

    private static func scenario(_ facts: NagFacts) -> (CoachingScenario, HeuristicRule) {
        if facts.timeConflictCount7d >= 2 { return (.repeatedTimeConflict, .coachingRepeatedTimeConflict) }
        if facts.missCount7d == 1 { return (.oneRecentMiss, .coachingOneRecentMiss) }
        if facts.streak >= 3 { return (.streak3, .coachingStreak) }
        let record = Ratio(facts.recentCategoryRecord)
        if facts.nag.category == .homework, record.total >= 3, record.part * 5 >= record.total * 4 {
            return (.highCompletionHomework, .coachingHighCompletionHomework)
        }
        return (.general, .coachingGeneral)
    }

    // MARK: Push-back

    /// Decides whether an insistent reminder is allowed now, and words it. The caller MUST record a granted push-back
    /// before the next call, because maximum and cooldown depend on the record.
    public func pushBack(for snapshot: Snapshot<NagFacts>) -> Outcome<PushBackResponse> {
        let facts = snapshot.facts
        let (reason, rule) = Self.pushBackReason(snapshot)
        var response = PushBackResponse(
            nagID: facts.nag.id, shouldPushBack: false, message: nil, tone: nil, reason: reason.rawValue)
        if reason == .boundedPushBack {
            let tone = wordingTone(for: facts)
            let timing: PushBackTiming = snapshot.now < facts.nag.dueAt ? .upcoming : .overdue
            let number = Self.poolIndex(
                for: facts.nag.id, count: phrasebook.pushBackMessageCount(timing, tone),
                offset: Int64(facts.cyclePushBacks.count))
            response.shouldPushBack = true
            response.tone = self.tone(for: facts).response.tone
            response.message = phrasebook.pushBackMessage(number, timing, tone: tone, category: facts.nag.category)
        }
        return Outcome(response, rule)
    }

    private static func pushBackReason(_ snapshot: Snapshot<NagFacts>) -> (PushBackDecisionReason, HeuristicRule) {
        let facts = snapshot.facts
        if facts.nag.status != .open { return (.nagNotOpen, .pushBackNagNotOpen) }
        if facts.preferences.pushBackMode == .off { return (.modeOff, .pushBackModeOff) }
        if facts.cyclePushBacks.count >= facts.policy.maxPushBacksPerNag {
            return (.maxAttemptsReached, .pushBackMaxAttempts)
        }
        if let quietHours = facts.preferences.quietHours, quietHours.contains(snapshot.now, in: snapshot.zone) {
            return (.quietHours, .pushBackQuietHours)
        }
        let cooldown = Timestamp.Span.minutes(Int64(facts.policy.pushBackCooldownMinutes))
        if let last = facts.cyclePushBacks.max() ?? facts.earlierPushBack, snapshot.now < last + cooldown {
            return (.cooldownActive, .pushBackCooldown)
        }
        return (.boundedPushBack, .pushBackBounded)
    }

    // MARK: Choosing from a pool

    /// Returns an index in a pool of `count` texts: the hash of the ID plus `steps`, modulo `count`; 0 for
    /// an empty pool.
    static func poolIndex(for id: NagID, count: Int, offset steps: Int64) -> UInt64 {
        guard count > 0 else { return 0 }
        let size = Int64(count)
        var hash = FNV1a()
        hash.mix(id.bytes)
        let start = Int64(hash.value % UInt64(count))
        let movedIndex = start + (steps - floorDivide(steps, size) * size)
        return UInt64(movedIndex % size)
    }
}
