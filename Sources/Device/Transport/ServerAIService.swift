import Contract
import Domain
import NagzAI

/// The seven operations by the server's endpoints.
public struct ServerAIService: AIService, Sendable {
    private let client: ServerClient

    public init(_ client: ServerClient) { self.client = client }

    public func summarizeExcuse(_ text: String, nagID: NagID) async throws -> ExcuseSummaryResponse {
        try await client.call(API.summarizeExcuse, ExcuseSummaryRequest(text: text, nagID: nagID))
    }

    public func selectTone(nagID: NagID) async throws -> ToneSelectResponse {
        try await client.call(API.selectTone, ToneSelectRequest(nagID: nagID))
    }

    public func coaching(nagID: NagID) async throws -> CoachingResponse {
        try await client.call(API.coach, CoachingRequest(nagID: nagID))
    }

    public func patterns(userID: UserID, familyID: FamilyID) async throws -> PatternsResponse {
        try await client.call(API.detectPatterns, UserInFamilyQuery(userID: userID, familyID: familyID))
    }

    public func digest(familyID: FamilyID) async throws -> DigestResponse {
        try await client.call(API.generateDigest, FamilyQuery(familyID: familyID))
    }

    public func predictCompletion(nagID: NagID) async throws -> PredictCompletionResponse {
        try await client.call(API.predictCompletion, NagQuery(nagID: nagID))
    }

    public func pushBack(nagID: NagID) async throws -> PushBackResponse {
        try await client.call(API.evaluatePushBack, PushBackRequest(nagID: nagID))
    }
}
