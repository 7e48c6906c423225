import Contract
import Domain
import JSON
import NagzAI
import Testing

/// One call of an operation with every field filled in, seen as bytes.
struct Sample: Sendable, CustomTestStringConvertible {
    let operation: Operation
    let pathNames: [String]
    let queryNames: [String]
    let body: [UInt8]
    let answer: [UInt8]
    /// The parameters, read from what was printed and printed again.
    let targetAgain: @Sendable () throws -> String
    let target: String
    /// The target, read from other query parameters and printed again.
    let targetWithQuery: @Sendable ([(name: String, value: String)]) throws -> String
    let query: [(name: String, value: String)]
    /// Body and answer, read from their bytes and written again.
    let bodyAgain: @Sendable () throws -> [UInt8]
    let answerAgain: @Sendable () throws -> [UInt8]
    /// The names in the request that its readers do not ask for.
    let unknownNames: @Sendable () throws -> [KnownNames.Unknown]

    var testDescription: String { operation.id }

    init<Parameters, Body, Answer>(
        _ endpoint: Endpoint<Parameters, Body, Answer>, _ parameters: Parameters, _ body: Body, _ answer: Answer
    ) {
        var writer = ParameterWriter()
        parameters.write(to: &writer)
        let request = endpoint.request(parameters, body)
        let bodyBytes = request.body
        let answerBytes = answer.content
        let (path, query) = (writer.path, writer.query)
        operation = endpoint.operation
        pathNames = path.map(\.name)
        queryNames = query.map(\.name)
        self.body = bodyBytes
        self.answer = answerBytes
        target = request.target
        targetAgain = { endpoint.target(try endpoint.decodeParameters(ParameterReader(path: path, query: query))) }
        self.query = query
        targetWithQuery = { endpoint.target(try endpoint.decodeParameters(ParameterReader(path: path, query: $0))) }
        bodyAgain = { try endpoint.decodeBody(bodyBytes.span).content }
        unknownNames = {
            let names = KnownNames()
            _ = try endpoint.decodeParameters(ParameterReader(path: path, query: query, names: names))
            _ = try names.recordBodyNames { () throws(APIError) in try endpoint.decodeBody(bodyBytes.span) }
            return names.unknownNames
        }
        answerAgain = {
            try endpoint.decode(status: endpoint.operation.successStatus, body: answerBytes.span).content
        }
    }
}
