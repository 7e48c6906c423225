import Contract
import Device
import JSON
import NagzAI

/// `nagz device history`: what the person asked the server's AI, the newest first, without the words.
enum DeviceHistory {
    static func run(_ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let errorsOnly = arguments.flag("--errors")
        try arguments.finish()
        let session = try context.session()
        let filter = ExecutionFilter(
            familyID: try context.family(of: session), userID: session.userID, result: errorsOnly ? .error : nil)
        let page = try await context.client(session).call(API.listExecutions, ExecutionListQuery(filter), NoBody())
        if context.asJSON { return print(json: try JSONValue(parsing: page.jsonBytes.span)) }
        if page.items.isEmpty { print("you have asked the server's AI nothing\(errorsOnly ? " that it refused" : "")") }
        for record in page.items {
            let how = record.execution
            print(
                record.createdAt.spoken, record.operation.rawValue.padded(to: 18),
                record.errorCode ?? how.provider + (how.usedFallback ? " in place of a model" : ""),
                how.violation ?? how.reason ?? "", separator: "  ")
        }
    }
}
