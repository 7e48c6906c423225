import Contract

/// The refusals about points, incentive rules and rewards.
extension APIError {
    static let pointsAreOff = APIError(
        .authorizationDenied, "Points are off in your preferences. Switch them on there.",
        reason: ErrorReason.switchedOff)
    static let pointsNeedConsent = APIError(
        .authorizationDenied, "Points need your consent to collect them. Grant it in the family's consents.",
        reason: ErrorReason.consentMissing)
    static let noSuchIncentiveRule = APIError(.notFound, "There is no such incentive rule.")
    static let noSuchIncentiveEvent = APIError(.notFound, "There is no such incentive event.")
    static let rewardedPersonHasLeft = APIError(.conflict, "This person is no longer a member of the family.")
    static let rewardedPersonHasPointsOff = APIError(
        .authorizationDenied, "This person has switched points off.", reason: ErrorReason.switchedOff)
    static let incentiveRuleHasChanged = APIError(
        .conflict, "The reward of this rule has changed. Read the rule again.")
    static let rewardNeedsCompletion = APIError(
        .conflict, "This nag is not completed. Only completed nags are rewarded.", reason: "nag_not_completed")
    static let rewardWasGiven = APIError(
        .conflict, "This rule has already rewarded this nag.", reason: "given_before")
    static let rewardIsWaiting = APIError(
        .conflict, "This reward waits for a guardian already. Confirm it in the family's incentives.",
        reason: "waits_for_guardian")
}
