import Domain

extension RoutingRule {
    /// The rule as a sentence for people, in answers, history, export and console.
    public var text: String {
        switch self {
        case .policyBlock: "A constraint forbids it"
        case .policyForceLocal: "A constraint keeps the question on the device"
        case .policyForceCloud: "A constraint sends the question to the server"
        case .privacyLocal: "The question is to stay on the device"
        case .privacyCloud: "The question is to be answered at the server"
        case .autoLocal: "The question is short enough for the device"
        case .autoCloud: "The question is too long for the device, or the device cannot answer it"
        case .localFailureFallback: "The device could not answer, and the person agreed to the server"
        case .networkUnavailable:
            "The server or provider that would have to answer cannot be reached, or gives no usable answers"
        }
    }
}

extension RoutingRule {
    /// Returns the reason for a question's route, for people: the rule's text, or another text where the rule's would
    /// be untrue.
    /// - Parameters:
    ///   - route: the route that the rule chose; nil for none.
    ///   - taskType: the kind of engine that was requested.
    ///   - level: the privacy level of the question.
    ///   - fallback: whether the person confirmed the fallback to the server.
    public func reason(
        _ route: RoutingDecision.Route?, _ taskType: TaskType, _ level: PrivacyLevel, fallback: ConfirmationStatus
    ) -> String {
        switch self {
        case .autoCloud where taskType == .heuristic: "The rules were asked for"
        case .autoCloud where taskType == .cloudModel: "A model of the person's own key was asked for"
        case .policyForceLocal where route == .cloud:
            "A constraint keeps the question from other companies: only the server's own records may answer it"
        case .privacyLocal where level != .local: "The question was to be answered on the device"
        case .localFailureFallback where fallback == .no:
            "The device could not answer, and the person did not agree to the server"
        case .localFailureFallback where fallback == .none:
            "The device could not answer, and the person has not agreed to the server yet"
        default: text
        }
    }
}

extension RoutingFailure {
    /// The failure as a sentence for people.
    public var text: String {
        switch self {
        case .blocked(let violation): "\(RoutingRule.policyBlock.text): \(violation.reason)"
        case .networkUnavailable: RoutingRule.networkUnavailable.text
        case .unavailableInMode: "The AI mode and the question leave nobody who may answer"
        case .ownProviderMissing: "The AI mode needs a key of the person's own, and there is none"
        case .thirdPartyForbidden:
            "The family's policy does not allow models of other companies; a guardian can allow them"
        case .nothingToWrite: "The AI mode lets only a model answer, and no model writes figures"
        case .switchedOff: "The AI is switched off"
        }
    }
}
