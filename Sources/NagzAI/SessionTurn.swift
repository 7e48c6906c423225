import Domain

/// A question of an AI session with its answer, as context for the next questions.
public struct SessionTurn: Hashable, Sendable {
    /// The person's words; for a question without words, the ID of the operation.
    public var question: String
    public var answer: String
    /// The tone of the answer.
    public var tone: AITone

    /// The maximum number of turns that a session keeps.
    public static let maxTurnsPerSession = 4
    /// The maximum length of a question and of an answer, in Unicode scalars; a longer one is cut.
    public static let maxTextLength = 2_000

    public init(question: String, answer: String, tone: AITone) {
        self.question = Self.cut(question)
        self.answer = Self.cut(answer)
        self.tone = tone
    }

    /// Creates the turn of an answered question.
    public init(_ operation: AIOperationID, words: String, _ record: AIRecord) {
        self.init(question: words.isEmpty ? operation.rawValue : words, answer: record.content, tone: record.tone)
    }

    private static func cut(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(maxTextLength)))
    }
}
