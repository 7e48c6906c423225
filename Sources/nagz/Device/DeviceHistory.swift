import Contract
import Device
import JSON
import LocalAI
import NagzAI

/// `nagz device history`: lists the person's latest questions to the server's AI, or with `--local` the latest that
/// this device answered or refused, newest first and without their words.
enum DeviceHistory {
    private static let maxLocalRecords = 50

    static func run(_ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let (errorsOnly, isLocal) = (arguments.takeFlag("--errors"), arguments.takeFlag("--local"))
        try arguments.finish()
        let session = try context.requireSession()
        let family = try context.requireFamily(of: session)
        if isLocal {
            let records = try context.openCache().deviceExecutions(
                of: family, errorsOnly: errorsOnly, limit: maxLocalRecords, at: MachineClock.currentTime())
            return show(
                ExecutionPage(items: records, nextCursor: nil), of: "this device", errorsOnly, context)
        }
        let filter = ExecutionFilter(
            familyID: family, userID: session.userID, result: errorsOnly ? .error : nil)
        let page = try await context.makeClient(session).call(API.listExecutions, ExecutionListQuery(filter), NoBody())
        show(page, of: "the server", errorsOnly, context)
    }

    /// - Parameter answerer: `this device` or `the server`, which answered or refused the questions.
    private static func show(_ page: ExecutionPage, of answerer: String, _ errorsOnly: Bool, _ context: DeviceContext) {
        if context.asJSON { return print(json: page.jsonValue) }
        if page.items.isEmpty { print("\(answerer) has \(errorsOnly ? "refused" : "answered") no question") }
        let rows = page.items.map { record in
            let execution = record.execution
            return [
                record.createdAt.displayText, record.operation.rawValue,
                record.errorCode ?? execution.engineText + (execution.isModelReplaced ? " in place of a model" : ""),
                execution.violationReason ?? execution.reason ?? "",
            ]
        }
        for (record, line) in zip(page.items, aligned(rows)) {
            print(line)
            for warning in record.execution.warnings { print("  \(warning)") }
        }
    }
}
