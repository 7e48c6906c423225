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

    static let aiOperations: [Operation] = [
        summarizeExcuse.operation, selectTone.operation, coach.operation, detectPatterns.operation,
        generateDigest.operation, predictCompletion.operation, evaluatePushBack.operation,
    ]
}
