import NagzAI

/// Parameters or a body that carry the question of an AI operation.
public protocol AIRequest: Sendable {
    associatedtype Question: AIQuestion

    /// Creates the request of a question.
    init(asking question: Question)
    var question: Question { get }
    /// Whether the answer is to become a draft.
    var wantsDraft: Bool { get }
}

extension AIRequest {
    public var wantsDraft: Bool { false }
}

/// An AI operation with its endpoint. It converts questions into requests, and back.
public protocol AICall<Question, Response>: Sendable {
    associatedtype Question: AIQuestion
    associatedtype Parameters: WireParameters
    associatedtype Body: WireContent
    associatedtype Response: WireInput & WireMembers & Hashable

    var operation: AIOperation<Question, Response> { get }
    var endpoint: Endpoint<Parameters, Body, AIAnswer<Response>> { get }

    /// Returns the parameters and the body that carry a question and its options.
    func request(_ question: Question, _ options: ExecutionOptions) -> (parameters: Parameters, body: Body)
    /// Returns the question of a request, its options, and whether the answer is to become a draft.
    func decodeRequest(
        _ parameters: Parameters, _ body: Body
    ) -> (question: Question, options: ExecutionOptions, wantsDraft: Bool)
}

/// A call that sends the question as the body.
struct AIBodyCall<
    Request: AIRequest & WireInput & WireMembers & Hashable, Response: WireInput & WireMembers & Hashable
>: AICall {
    let operation: AIOperation<Request.Question, Response>
    let endpoint: Endpoint<NoParameters, AIEnvelope<Request>, AIAnswer<Response>>

    func request(_ question: Request.Question, _ options: ExecutionOptions) -> (
        parameters: NoParameters, body: AIEnvelope<Request>
    ) {
        (NoParameters(), AIEnvelope(Request(asking: question), options))
    }

    func decodeRequest(_: NoParameters, _ body: AIEnvelope<Request>) -> (
        question: Request.Question, options: ExecutionOptions, wantsDraft: Bool
    ) {
        (body.request.question, body.options, body.request.wantsDraft)
    }
}

/// A call that sends the question as parameters.
struct AIQueryCall<
    Request: AIRequest & WireParameters & Hashable, Response: WireInput & WireMembers & Hashable
>: AICall {
    let operation: AIOperation<Request.Question, Response>
    let endpoint: Endpoint<AIEnvelope<Request>, NoBody, AIAnswer<Response>>

    func request(_ question: Request.Question, _ options: ExecutionOptions) -> (
        parameters: AIEnvelope<Request>, body: NoBody
    ) {
        (AIEnvelope(Request(asking: question), options), NoBody())
    }

    func decodeRequest(_ parameters: AIEnvelope<Request>, _: NoBody) -> (
        question: Request.Question, options: ExecutionOptions, wantsDraft: Bool
    ) {
        (parameters.request.question, parameters.options, parameters.request.wantsDraft)
    }
}

extension AICall {
    /// The operation's ID.
    public var id: AIOperationID { operation.id }
}
