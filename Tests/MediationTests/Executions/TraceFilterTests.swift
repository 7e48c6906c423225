import Contract
import Domain
import NagzAI
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("The history by trace")
struct TraceFilterTests {
    @Test("list and export of the history by trace have the attempts of that trace alone")
    func filtered() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let options = ExecutionOptions(taskType: .heuristic)
            let first = try await scene.execute(.coaching, options)
            let second = try await scene.execute(.selectTone, options)
            #expect(first.traceID != second.traceID)
            for answer in [first, second] {
                let filter = ExecutionFilter(familyID: scene.home.id, traceID: answer.traceID)
                #expect(try await scene.history(filter).map(\.execution) == [answer.execution])
                let export = try await server.call(
                    "GET",
                    "/api/v1/ai/executions/export?family_id=\(scene.home.id)&trace_id=\(answer.traceID)",
                    as: scene.home.guardian)
                #expect(export.body.split(separator: UInt8(ascii: "\n")).count == 1)
            }
            let none = ExecutionFilter(familyID: scene.home.id, traceID: TraceID(high: 1, low: 1))
            #expect(try await scene.history(none).isEmpty)
        }
    }
}
