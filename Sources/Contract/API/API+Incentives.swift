import Domain

extension API {
    /// List a family's incentive rules.
    public static let listIncentiveRules = Endpoint<IncentiveListQuery, NoBody, Page<IncentiveRuleResponse>>(
        Operation("listIncentiveRules", .get, "/api/v1/incentive-rules", tag: .incentives))

    /// Make an incentive rule.
    public static let createIncentiveRule = Endpoint<NoParameters, IncentiveRuleCreate, IncentiveRuleResponse>(
        Operation("createIncentiveRule", .post, "/api/v1/incentive-rules", tag: .incentives, status: 201))

    /// Change an incentive rule.
    public static let updateIncentiveRule = Endpoint<IncentiveRulePath, IncentiveRuleUpdate, IncentiveRuleResponse>(
        Operation("updateIncentiveRule", .patch, "/api/v1/incentive-rules/{rule_id}", tag: .incentives))

    /// List what the rules did with a nag.
    public static let listIncentiveEvents = Endpoint<
        IncentiveEventListQuery, NoBody, Page<IncentiveEventResponse>
    >(Operation("listIncentiveEvents", .get, "/api/v1/incentive-events", tag: .incentives))

    /// List what waits for a guardian's confirmation.
    public static let listWaitingIncentiveEvents = Endpoint<
        IncentiveListQuery, NoBody, Page<IncentiveEventResponse>
    >(Operation("listWaitingIncentiveEvents", .get, "/api/v1/incentive-events/waiting", tag: .incentives))

    /// Confirm what a rule gives somebody.
    public static let approveIncentiveEvent = Endpoint<IncentiveEventPath, NoBody, IncentiveEventResponse>(
        Operation("approveIncentiveEvent", .post, "/api/v1/incentive-events/{event_id}/approve", tag: .incentives))

    static let incentivesOperations: [Operation] = [
        listIncentiveRules.operation, createIncentiveRule.operation, updateIncentiveRule.operation,
        listIncentiveEvents.operation, listWaitingIncentiveEvents.operation, approveIncentiveEvent.operation,
    ]
}

// MARK: Parameters

/// The rule in a path.
public struct IncentiveRulePath: WireParameters, Hashable {
    public var ruleID: IncentiveRuleID

    public init(ruleID: IncentiveRuleID) {
        self.ruleID = ruleID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        ruleID = try parameters.path("rule_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("rule_id", ruleID)
    }
}

/// The event in a path.
public struct IncentiveEventPath: WireParameters, Hashable {
    public var eventID: IncentiveEventID

    public init(eventID: IncentiveEventID) {
        self.eventID = eventID
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        eventID = try parameters.path("event_id")
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.path("event_id", eventID)
    }
}

/// The nag whose incentive events are listed, and the page.
public struct IncentiveEventListQuery: WireParameters, Hashable {
    public var nagID: NagID
    public var page: PageRequest

    public init(nagID: NagID, page: PageRequest = PageRequest()) {
        self.nagID = nagID
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        nagID = try parameters.query("nag_id")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("nag_id", nagID)
        page.write(to: &parameters)
    }
}

/// The family whose rules or waiting events are listed, and the page.
public struct IncentiveListQuery: WireParameters, Hashable {
    public var familyID: FamilyID
    public var page: PageRequest

    public init(familyID: FamilyID, page: PageRequest = PageRequest()) {
        self.familyID = familyID
        self.page = page
    }

    public init(_ parameters: ParameterReader) throws(InvalidInput) {
        familyID = try parameters.query("family_id")
        page = try PageRequest(parameters)
    }

    public func write(to parameters: inout ParameterWriter) {
        parameters.query("family_id", familyID)
        page.write(to: &parameters)
    }
}
