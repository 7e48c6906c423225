import NagzAI

extension API {
    /// Summarise and categorise an excuse.
    public static let summarizeExcuse = Endpoint<
        NoParameters, Asking<ExcuseSummaryRequest>, AIAnswer<ExcuseSummaryResponse>
    >(
        Operation("summarizeExcuse", .post, "/api/v1/ai/summarize-excuse", tag: .ai, status: 201))

    /// Select the tone for a nag's recipient.
    public static let selectTone = Endpoint<NoParameters, Asking<ToneSelectRequest>, AIAnswer<ToneSelectResponse>>(
        Operation("selectTone", .post, "/api/v1/ai/select-tone", tag: .ai, status: 201))

    /// Get a tip for a nag.
    public static let coach = Endpoint<NoParameters, Asking<CoachingRequest>, AIAnswer<CoachingResponse>>(
        Operation("coach", .post, "/api/v1/ai/coaching", tag: .ai, status: 201))

    /// Find weekdays with repeated misses.
    public static let detectPatterns = Endpoint<Asking<UserInFamilyQuery>, NoBody, AIAnswer<PatternsResponse>>(
        Operation("detectPatterns", .get, "/api/v1/ai/patterns", tag: .ai))

    /// Summarise a family's week.
    public static let generateDigest = Endpoint<Asking<FamilyQuery>, NoBody, AIAnswer<DigestResponse>>(
        Operation("generateDigest", .get, "/api/v1/ai/digest", tag: .ai))

    /// Predict how likely a nag is to be completed.
    public static let predictCompletion = Endpoint<Asking<NagQuery>, NoBody, AIAnswer<PredictCompletionResponse>>(
        Operation("predictCompletion", .get, "/api/v1/ai/predict-completion", tag: .ai))

    /// Push back on an overdue nag.
    public static let evaluatePushBack = Endpoint<NoParameters, Asking<PushBackRequest>, AIAnswer<PushBackResponse>>(
        Operation("evaluatePushBack", .post, "/api/v1/ai/push-back", tag: .ai, status: 201))

    /// Ask the coach a question of your own.
    public static let askCoach = Endpoint<NoParameters, Asking<CoachQuestionRequest>, AIAnswer<CoachAnswer>>(
        Operation("askCoach", .post, "/api/v1/ai/ask", tag: .ai, status: 201))

    /// All AI operations with their endpoints.
    public static let aiCalls: [any AICall] = [
        AIBodyCall(operation: AIOperations.summarizeExcuse, endpoint: summarizeExcuse),
        AIBodyCall(operation: AIOperations.selectTone, endpoint: selectTone),
        AIBodyCall(operation: AIOperations.coaching, endpoint: coach),
        AIQueryCall(operation: AIOperations.patterns, endpoint: detectPatterns),
        AIQueryCall(operation: AIOperations.digest, endpoint: generateDigest),
        AIQueryCall(operation: AIOperations.predictCompletion, endpoint: predictCompletion),
        AIBodyCall(operation: AIOperations.pushBack, endpoint: evaluatePushBack),
        AIBodyCall(operation: AIOperations.askCoach, endpoint: askCoach),
    ]

    /// The endpoint of an AI operation; nil if there is none.
    public static func call<Question, Response>(
        of operation: AIOperation<Question, Response>
    ) -> (any AICall<Question, Response>)? {
        aiCalls.first { $0.id == operation.id } as? any AICall<Question, Response>
    }

    static let aiOperations = aiCalls.map(\.described)
}
