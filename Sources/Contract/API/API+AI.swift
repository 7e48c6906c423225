import NagzAI

extension API {
    /// Summarise an excuse.
    public static let summarizeExcuse = Endpoint<NoParameters, ExcuseSummaryRequest, ExcuseSummaryResponse>(
        Operation("summarizeExcuse", .post, "/api/v1/ai/summarize-excuse", tag: .ai, status: 201))

    /// Choose a tone.
    public static let selectTone = Endpoint<NoParameters, ToneSelectRequest, ToneSelectResponse>(
        Operation("selectTone", .post, "/api/v1/ai/select-tone", tag: .ai, status: 201))

    /// Get a tip.
    public static let coach = Endpoint<NoParameters, CoachingRequest, CoachingResponse>(
        Operation("coach", .post, "/api/v1/ai/coaching", tag: .ai, status: 201))

    /// Find weekdays with repeated misses.
    public static let detectPatterns = Endpoint<UserInFamilyQuery, NoBody, PatternsResponse>(
        Operation("detectPatterns", .get, "/api/v1/ai/patterns", tag: .ai))

    /// A family's week in sentences.
    public static let generateDigest = Endpoint<FamilyQuery, NoBody, DigestResponse>(
        Operation("generateDigest", .get, "/api/v1/ai/digest", tag: .ai))

    /// How likely a nag is to be done.
    public static let predictCompletion = Endpoint<NagQuery, NoBody, PredictCompletionResponse>(
        Operation("predictCompletion", .get, "/api/v1/ai/predict-completion", tag: .ai))

    /// Push back on an overdue nag.
    public static let evaluatePushBack = Endpoint<NoParameters, PushBackRequest, PushBackResponse>(
        Operation("evaluatePushBack", .post, "/api/v1/ai/push-back", tag: .ai, status: 201))

    /// Each AI operation with its endpoint.
    public static let aiCalls: [any AICall] = [
        AIBodyCall(operation: AIOperations.summarizeExcuse, endpoint: summarizeExcuse),
        AIBodyCall(operation: AIOperations.selectTone, endpoint: selectTone),
        AIBodyCall(operation: AIOperations.coaching, endpoint: coach),
        AIQueryCall(operation: AIOperations.patterns, endpoint: detectPatterns),
        AIQueryCall(operation: AIOperations.digest, endpoint: generateDigest),
        AIQueryCall(operation: AIOperations.predictCompletion, endpoint: predictCompletion),
        AIBodyCall(operation: AIOperations.pushBack, endpoint: evaluatePushBack),
    ]

    /// The endpoint of an AI operation; nil for one that has none.
    public static func call<Question, Response>(
        of operation: AIOperation<Question, Response>
    ) -> (any AICall<Question, Response>)? {
        aiCalls.first { $0.id == operation.id } as? any AICall<Question, Response>
    }

    static let aiOperations = aiCalls.map(\.described)
}
