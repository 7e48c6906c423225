import Contract
import Domain
import NagzAI

/// Answers AI operations with the server's endpoints.
public struct ServerAIService: AnsweringServer {
    private let client: ServerClient
    private let confirms: (String) -> Bool
    private let report: (ExecutionReport) -> Void

    /// - Parameters:
    ///   - confirms: whether the person agrees to the prompts of constraints, which the server gives.
    ///   - report: called with how an answer came about, where the server tells it.
    public init(
        _ client: ServerClient, confirms: @escaping (String) -> Bool = { _ in false },
        report: @escaping (ExecutionReport) -> Void = { _ in }
    ) {
        self.client = client
        self.confirms = confirms
        self.report = report
    }

    /// - Throws: `ClientError`; `NoEndpoint` for an operation that the contract does not have.
    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        try await answer(operation, question, ExecutionOptions())
    }

    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question, _ options: ExecutionOptions
    ) async throws -> Response {
        guard let call = API.call(of: operation) else { throw NoEndpoint(operation: operation.id) }
        return try await send(call, question, options)
    }

    private func send<Call: AICall>(
        _ call: Call, _ question: Call.Question, _ options: ExecutionOptions
    ) async throws -> Call.Response {
        do {
            return try await answer(call, question, options)
        } catch let ClientError.refused(refusal) {
            let askable: [ExecutionCode] = [.confirmationNeeded, .fallbackNeedsConfirmation]
            guard let fault = refusal.execution, askable.map(\.rawValue).contains(fault.code),
                let confirmation = fault.confirmation, confirms(refusal.message)
            else { throw ClientError.refused(refusal) }
            var confirmed = options
            confirmed.confirmation = confirmation
            return try await answer(call, question, confirmed)
        }
    }

    private func answer<Call: AICall>(
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
