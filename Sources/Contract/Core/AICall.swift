import NagzAI

/// An AI operation with its endpoint; turns a question into a request.
public protocol AICall<Question, Response>: Sendable {
    associatedtype Question: AIQuestion
    associatedtype Parameters: WireParameters
    associatedtype Body: WireContent
    associatedtype Response: WireContent

    var operation: AIOperation<Question, Response> { get }
    var endpoint: Endpoint<Parameters, Body, Response> { get }

    func request(_ question: Question) -> (parameters: Parameters, body: Body)
}

/// Sends the question as the body.
struct AIBodyCall<Body: AIRequest & WireContent, Response: WireContent>: AICall {
    let operation: AIOperation<Body.Question, Response>
    let endpoint: Endpoint<NoParameters, Body, Response>

    func request(_ question: Body.Question) -> (parameters: NoParameters, body: Body) {
        (NoParameters(), Body(asking: question))
    }
}

/// Sends the question as parameters.
struct AIQueryCall<Parameters: AIRequest & WireParameters, Response: WireContent>: AICall {
    let operation: AIOperation<Parameters.Question, Response>
    let endpoint: Endpoint<Parameters, NoBody, Response>

    func request(_ question: Parameters.Question) -> (parameters: Parameters, body: NoBody) {
        (Parameters(asking: question), NoBody())
    }
}

extension AICall {
    /// The operation's ID.
    public var id: AIOperationID { operation.id }

    var described: Operation { endpoint.operation }
}
