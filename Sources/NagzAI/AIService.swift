import Domain

/// The seven operations of the mediator: the same signatures and the same answers wherever they run.
///
/// On the server the facts come from PostgreSQL, on a phone from its event cache; a REST client of the server's
/// endpoints conforms as well.
public protocol AIService {
    func summarizeExcuse(_ text: String, nagID: NagID) async throws -> ExcuseSummaryResponse
    func selectTone(nagID: NagID) async throws -> ToneSelectResponse
    func coaching(nagID: NagID) async throws -> CoachingResponse
    func patterns(userID: UserID, familyID: FamilyID) async throws -> PatternsResponse
    func digest(familyID: FamilyID) async throws -> DigestResponse
    func predictCompletion(nagID: NagID) async throws -> PredictCompletionResponse
    func pushBack(nagID: NagID) async throws -> PushBackResponse
}
