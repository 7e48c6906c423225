import Contract
import Domain
import LocalAI
import NagzAI

/// Answers AI operations with the server's endpoints.
public struct ServerAIService: AnsweringServer {
    private let client: ServerClient
    private let dialog: ConstraintDialog
    private let report: (ExecutionReport) -> Void

    /// - Parameters:
    ///   - dialog: asks the person for confirmations that the server requires.
    ///   - report: called with the report on an answer, if the server sends one.
    public init(
        _ client: ServerClient, dialog: ConstraintDialog = .silent,
        report: @escaping (ExecutionReport) -> Void = { _ in }
    ) {
        self.client = client
        self.dialog = dialog
        self.report = report
    }

    /// Answers a question without options.
    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        try await answer(operation, question, ExecutionOptions())
    }

    /// Answers a question with options.
    /// - Throws: `ClientError`; `QuestionRefusal.declined`; `NoEndpoint` for an operation that the contract does not have.
    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ options: ExecutionOptions
    ) async throws -> Response {
        guard let call = API.aiCall(for: operation) else { throw NoEndpoint(operation: operation.id) }
        return try await send(call, question, options)
    }

    /// Sends a question, and sends it again with the confirmation if the server requires one and the person confirms.
    /// The question keeps its trace and its ID.
    private func send<Call: AICall>(
        _ call: Call, _ question: Call.Question, _ options: ExecutionOptions
    ) async throws -> Call.Response {
        do {
            return try await sendOnce(call, question, options)
        } catch let ClientError.refused(refusal) {
            guard let fault = refusal.execution, Self.codesAskingForConfirmation.contains(fault.code),
                let confirmation = fault.confirmation
            else { throw ClientError.refused(refusal) }
            switch dialog.askForConfirmation(of: refusal.message) {
            case .given: break
            case .nobodyToAsk: throw ClientError.refused(refusal)
            case .declined:
                // The server records the decision. If it cannot be reached, the confirmation expires.
                _ = try? await client.call(
                    API.declineConfirmation, NoParameters(), ConfirmationReply(confirmation: confirmation))
                throw QuestionRefusal.declined
            }
            var options = options
            (options.traceID, options.confirmation) = (options.traceID ?? fault.traceID, confirmation)
            return try await sendOnce(call, question, options)
        }
    }

    /// The codes that ask for a confirmation.
    private static let codesAskingForConfirmation = [ExecutionCode.confirmationNeeded, .fallbackNeedsConfirmation].map(
        \.rawValue)

    private func sendOnce<Call: AICall>(
        _ call: Call, _ question: Call.Question, _ options: ExecutionOptions
    ) async throws -> Call.Response {
        let (parameters, body) = call.request(question, options)
        let answer = try await client.call(call.endpoint, parameters, body)
        if let execution = answer.execution { report(execution) }
        return answer.response
    }
}

/// An AI operation without an endpoint in the contract.
public struct NoEndpoint: Error, Hashable, Sendable {
    public let operation: AIOperationID
}
