import Domain

extension Heuristics {
    /// Returns the likelihood that a nag will be completed, and a good time for a reminder. A completed nag has the
    /// likelihood 1, and a missed, withdrawn or cancelled one 0; neither has a time for a reminder.
    ///
    /// The factors list the inputs: the two expected rates with four decimals, the counted misses (at most 3) and the
    /// streak.
    public func prediction(for snapshot: Snapshot<NagFacts>) -> Outcome<PredictCompletionResponse> {
        let facts = snapshot.facts
        let misses = min(max(0, facts.missCount7d), 3)
        let streak = max(0, facts.streak)
        let (category, overall) = (Ratio(facts.categoryRecord), Ratio(facts.overallRecord))
        var response = PredictCompletionResponse(
            nagID: facts.nag.id, likelihood: 0, suggestedReminderTime: nil,
            factors: [
                CompletionFactor(name: "category_rate", value: category.expectedRateFourDecimals),
                CompletionFactor(name: "overall_rate", value: overall.expectedRateFourDecimals),
                CompletionFactor(name: "recent_misses", value: Double(misses)),
                CompletionFactor(name: "streak", value: Double(streak)),
            ])
        switch facts.nag.status {
        case .open:
            let percent = Self.likelihoodPercent(category, overall, misses: Int64(misses), hasStreak: streak >= 3)
            response.likelihood = Double(percent) / 100
            response.suggestedReminderTime = Self.reminderTime(snapshot, percent: percent)
            return Outcome(response, .predictionWeighedRates)
        case .completed:
            response.likelihood = 1
            return Outcome(response, .predictionCompleted)
        case .missed, .withdrawn, .cancelledRelationshipChange:
            return Outcome(response, .predictionClosed)
        }
    }

    /// Returns the likelihood in hundredths, clamped to 5…95: 0.6 × the expected rate of the category + 0.4 × that of
    /// all categories − 0.1 × misses + 0.05 for a streak of three or more. It is computed in integers over the common
    /// denominator and rounded once, half up, so that all platforms agree.
    private static func likelihoodPercent(
        _ category: Ratio, _ overall: Ratio, misses: Int64, hasStreak: Bool
    ) -> Int64 {
        let (categoryRate, overallRate) = (category.expectedRate, overall.expectedRate)
        let correction = (hasStreak ? 5 : 0) - 10 * misses
        let denominator = categoryRate.denominator * overallRate.denominator
        let numerator =
            60 * categoryRate.numerator * overallRate.denominator
            + 40 * overallRate.numerator * categoryRate.denominator + correction * denominator
        return numerator <= 0 ? 5 : min(max(Ratio.rounded(numerator, denominator), 5), 95)
    }

    /// Returns the time of the reminder: 30, 60 or 120 minutes before the due time, the earlier the lower the
    /// likelihood. A time in quiet hours is moved to before them. Nil if the time has passed.
    private static func reminderTime(_ snapshot: Snapshot<NagFacts>, percent: Int64) -> Timestamp? {
        let leadMinutes: Int64 = percent >= 80 ? 30 : percent >= 50 ? 60 : 120
        let plannedTime = snapshot.facts.nag.dueAt - .minutes(leadMinutes)
        let moment =
            snapshot.facts.preferences.quietHours?.lastMomentOutside(upTo: plannedTime, in: snapshot.zone)
            ?? plannedTime
        return moment < snapshot.now ? nil : moment
    }
}
