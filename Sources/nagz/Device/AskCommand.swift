import Contract
import Device
import Domain
import JSON
import LocalAI
import NagzAI

/// A command for one AI operation: its question, and its answer as lines.
struct AskCommand: Sendable {
    let name: String
    let operation: AIOperationID
    /// Whether the answer depends on the server's records, of which the device has a copy.
    let usesServerRecords: Bool
    let ask: @Sendable (any AIService, AskContext) async throws -> PrintableAnswer

    init<Question, Response: WireOutput>(
        _ name: String, _ operation: AIOperation<Question, Response>,
        about question: @escaping @Sendable (AskContext) throws -> Question,
        lines: @escaping @Sendable (Response) -> [String]
    ) {
        self.name = name
        self.operation = operation.id
        usesServerRecords = operation.factDepth != .none
        ask = { service, context in
            let answer = try await service.answer(operation, try question(context))
            return PrintableAnswer(json: answer.jsonValue, lines: lines(answer))
        }
    }
}

/// An answer for both output formats.
struct PrintableAnswer {
    let json: JSONValue
    let lines: [String]
}

/// The context of a question: the command's arguments, session and cache.
struct AskContext {
    let commandName: String
    /// The argument: a nag, a question or a user; nil without one.
    let subject: String?
    let session: DeviceSession
    let family: FamilyID
    let context: DeviceContext
    let cache: EventCache

    /// Returns the nag that the person named.
    func requireNag() throws -> NagID {
        guard let subject else { throw Stop(.usage, "nagz device \(commandName) takes a NAG") }
        return try context.resolveNagID(subject, cache, family)
    }

    /// Returns the question in the person's own words.
    func requireQuestion() throws -> String {
        guard let subject, CoachQuestionRequest.lengthRange.contains(subject.unicodeScalars.count) else {
            throw Stop(
                .usage,
                "nagz device \(commandName) takes a QUESTION of at most \(CoachQuestionRequest.lengthRange.upperBound) characters"
            )
        }
        return subject
    }

    /// Returns the named user, or the one who is signed in.
    func resolveUser() throws -> UserID {
        guard let user = subject.map({ UserID($0) }) ?? session.userID else {
            throw Stop(.usage, "nagz device \(commandName) takes a user's id")
        }
        return user
    }
}
