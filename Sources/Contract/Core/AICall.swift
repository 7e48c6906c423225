import NagzAI

/// Parameters or a body that encode the question of an AI operation.
public protocol AIRequest: Sendable {
    associatedtype Question: AIQuestion

    init(asking question: Question)
    var question: Question { get }
    /// Whether the answer becomes a draft.
    var wantsDraft: Bool { get }
}

extension AIRequest {
    public var wantsDraft: Bool { false }
}

/// An AI operation with its endpoint; turns a question into a request.
public protocol AICall<Question, Response>: Sendable {
    associatedtype Question: AIQuestion
    associatedtype Parameters: WireParameters
    associatedtype Body: WireContent
    associatedtype Response: WireInput & WireMembers & Hashable

    var operation: AIOperation<Question, Response> { get }
    var endpoint: Endpoint<Parameters, Body, AIAnswer<Response>> { get }

    func request(_ question: Question, _ options: ExecutionOptions) -> (parameters: Parameters, body: Body)
    /// Returns the question and the options of a request: the reverse of `request`.
    func asked(
        _ parameters: Parameters, _ body: Body
    ) -> (question: Question, options: ExecutionOptions, wantsDraft: Bool)
}

/// Sends the question as the body.
struct AIBodyCall<
    Request: AIRequest & WireInput & WireMembers & Hashable, Response: WireInput & WireMembers & Hashable
>: AICall {
    let operation: AIOperation<Request.Question, Response>
    let endpoint: Endpoint<NoParameters, Asking<Request>, AIAnswer<Response>>

    func request(_ question: Request.Question, _ options: ExecutionOptions) -> (
        parameters: NoParameters, body: Asking<Request>
    ) {
        (NoParameters(), Asking(Request(asking: question), options))
    }

    func asked(_: NoParameters, _ body: Asking<Request>) -> (
        question: Request.Question, options: ExecutionOptions, wantsDraft: Bool
    ) {
        (body.request.question, body.options, body.request.wantsDraft)
    }
}

/// Sends the question as parameters.
struct AIQueryCall<
    Request: AIRequest & WireParameters & Hashable, Response: WireInput & WireMembers & Hashable
>: AICall {
    let operation: AIOperation<Request.Question, Response>
    let endpoint: Endpoint<Asking<Request>, NoBody, AIAnswer<Response>>

    func request(_ question: Request.Question, _ options: ExecutionOptions) -> (
        parameters: Asking<Request>, body: NoBody
    ) {
        (Asking(Request(asking: question), options), NoBody())
    }

    func asked(_ parameters: Asking<Request>, _: NoBody) -> (
        question: Request.Question, options: ExecutionOptions, wantsDraft: Bool
    ) {
        (parameters.request.question, parameters.options, parameters.request.wantsDraft)
    }
}

extension AICall {
    /// The operation's ID.
    public var id: AIOperationID { operation.id }

    var described: Operation { endpoint.operation }
}
