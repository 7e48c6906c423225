import Contract
import Domain
import NagzAI

/// Answers AI operations with the server's endpoints.
public struct ServerAIService: AIService, Sendable {
    private let client: ServerClient

    public init(_ client: ServerClient) { self.client = client }

    /// - Throws: `ClientError`; `NoEndpoint` for an operation that the contract does not have.
    public func answer<Question, Response>(
        _ operation: AIOperation<Question, Response>, _ question: Question
    ) async throws -> Response {
        guard let call = API.call(of: operation) else { throw NoEndpoint(operation: operation.id) }
        return try await send(call, question)
    }

    private func send<Call: AICall>(_ call: Call, _ question: Call.Question) async throws -> Call.Response {
        let (parameters, body) = call.request(question)
        return try await client.call(call.endpoint, parameters, body).response
    }
}

/// An AI operation without an endpoint in the contract.
public struct NoEndpoint: Error, Hashable, Sendable {
    public let operation: AIOperationID
}
