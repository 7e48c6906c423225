import Contract
import Device
import JSON
import LocalAI
import NagzAI

/// `nagz device history`: what the person asked the server's AI, or with `--local` what this device answered or refused
/// by itself; the newest first, without the words.
enum DeviceHistory {
    private static let limit = 50

    static func run(_ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let (errorsOnly, isLocal) = (arguments.flag("--errors"), arguments.flag("--local"))
        try arguments.finish()
        let session = try context.session()
        let family = try context.family(of: session)
        if isLocal {
            let records = try context.cache().executions(
                of: family, errorsOnly: errorsOnly, limit: limit, at: MachineClock.moment())
            return show(
                ExecutionPage(items: records, nextCursor: nil), nothing: "this device answered", errorsOnly, context)
        }
        let filter = ExecutionFilter(
            familyID: family, userID: session.userID, result: errorsOnly ? .error : nil)
        let page = try await context.client(session).call(API.listExecutions, ExecutionListQuery(filter), NoBody())
        show(page, nothing: "the server answered", errorsOnly, context)
    }

    /// - Parameter nothing: the beginning of what an empty list is told with.
    private static func show(_ page: ExecutionPage, nothing: String, _ errorsOnly: Bool, _ context: DeviceContext) {
        if context.asJSON { return print(json: page.jsonValue) }
        if page.items.isEmpty { print("no question\(errorsOnly ? " that was refused" : ""): \(nothing) none") }
        for record in page.items {
            let how = record.execution
            print(
                record.createdAt.spoken, record.operation.rawValue.padded(to: 18),
                record.errorCode ?? how.provider + (how.isInPlaceOfModel ? " in place of a model" : ""),
                how.violation ?? how.reason ?? "", separator: "  ")
            for warning in how.warnings { print("  \(warning)") }
        }
    }
}
