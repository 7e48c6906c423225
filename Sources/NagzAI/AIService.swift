import Domain

/// Answers the questions of the mediator's operations: from a device's event cache, or over the server's endpoints.
///
/// The server's `Mediator` does not conform, because it records each answer in the transaction that evaluates the rule.
public protocol AIService {
    func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response
}

// A method with the parameters of each operation.
extension AIService {
    public func summarizeExcuse(_ text: String, nagID: NagID) async throws -> ExcuseSummaryResponse {
        try await answer(AIOperations.summarizeExcuse, ExcuseQuestion(text: text, nagID: nagID))
    }

    public func selectTone(nagID: NagID) async throws -> ToneSelectResponse {
        try await answer(AIOperations.selectTone, NagQuestion(nagID: nagID))
    }

    public func coaching(nagID: NagID) async throws -> CoachingResponse {
        try await answer(AIOperations.coaching, NagQuestion(nagID: nagID))
    }

    public func patterns(userID: UserID, familyID: FamilyID) async throws -> PatternsResponse {
        try await answer(AIOperations.patterns, MemberQuestion(userID: userID, familyID: familyID))
    }

    public func digest(familyID: FamilyID) async throws -> DigestResponse {
        try await answer(AIOperations.digest, FamilyQuestion(familyID: familyID))
    }

    public func predictCompletion(nagID: NagID) async throws -> PredictCompletionResponse {
        try await answer(AIOperations.predictCompletion, NagQuestion(nagID: nagID))
    }

    public func pushBack(nagID: NagID) async throws -> PushBackResponse {
        try await answer(AIOperations.pushBack, NagQuestion(nagID: nagID))
    }

    /// - Parameter user: the person who asks; nil in a request to the server, where it is the sender.
    public func askCoach(_ text: String, of user: UserID?, familyID: FamilyID) async throws -> CoachAnswer {
        try await answer(AIOperations.askCoach, CoachQuestion(familyID: familyID, userID: user, text: text))
    }
}
