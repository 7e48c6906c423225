import Contract
import Domain
import JSON
import NagzAI
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("History of executions")
struct ExecutionHistoryTests {
    @Test("pages of the history by cursor have every record once, the newest first, with any filter")
    func pages() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            for _ in 0..<3 {
                server.clock.advance(by: .seconds(1))
                _ = try await scene.tone()
                _ = try await scene.tone(as: scene.home.guardian)
                _ = try await scene.summarize()
            }
            for filter in [
                ExecutionFilter(familyID: scene.home.id),
                ExecutionFilter(
                    familyID: scene.home.id, operation: .operation(.selectTone), route: .cloud, result: .success),
            ] {
                let all = try await scene.history(filter)
                #expect(all.count == (filter.operation == nil ? 9 : 6))
                var (paged, cursor): ([ExecutionRecord], String?) = ([], nil)
                repeat {
                    let page = try await server.call(
                        API.listExecutions, ExecutionListQuery(filter, cursor: cursor, limit: 2),
                        as: scene.home.guardian)
                    paged += page.items
                    cursor = page.nextCursor
                } while cursor != nil
                #expect(paged == all)
                #expect(all.map(\.createdAt) == all.map(\.createdAt).sorted(by: >))
            }
            #expect(try await scene.history(as: scene.home.child).count == 6)
            let first = ManualClock.start + .seconds(1)
            let early = ExecutionFilter(familyID: scene.home.id, since: first, until: first + .seconds(1))
            #expect(try await scene.history(early).count == 3)
            let refused = try await refusal {
                try await server.call(
                    API.listExecutions,
                    ExecutionListQuery(ExecutionFilter(familyID: scene.home.id), cursor: "!"), as: scene.home.guardian)
            }
            #expect(refused.field == "cursor")
        }
    }

    @Test("an export of the history has the same records as lines of JSON")
    func export() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            _ = try await scene.tone()
            _ = try await scene.summarize()
            let filter = ExecutionFilter(familyID: scene.home.id)
            let text = try await server.call(API.exportExecutions, filter, as: scene.home.guardian).text
            let read = try text.split(separator: "\n").map {
                try ExecutionRecord(json: JSONValue(parsing: Array($0.utf8).span))
            }
            #expect(try await read == scene.history() && read.count == 2)
        }
    }

    @Test("an export has only a guardian's own records after the page during which the guardian became a participant")
    func exportAfterDemotion() async throws {
        try await TestServer.run(isOfActs: false) { server in
            let scene = try await AIScene(server)
            let reader = scene.home.secondGuardian
            _ = try await scene.tone()
            try await server.sql(
                """
                INSERT INTO ai_executions SELECT r.* FROM ai_executions e, generate_series(1, 249) i,
                    jsonb_populate_record(e, jsonb_build_object('id', md5(i::text)::uuid)) r
                """)
            let export = try await server.database.run { database in
                try await database.transaction { transaction in
                    _ = try await transaction.query("LOCK TABLE ai_executions IN ACCESS EXCLUSIVE MODE")
                    let export = Task {
                        try await server.call(
                            API.exportExecutions, ExecutionFilter(familyID: scene.home.id), as: reader)
                    }
                    try await transaction.waitUntilBlocking("the export never came to read its first page")
                    _ = try await transaction.query(
                        "UPDATE memberships SET role = 'participant' WHERE user_id = \(reader.id)")
                    return export
                }
            }
            #expect(try await export.value.text.split(separator: "\n").count == 200)
        }
    }

    @Test("a record is stored without ordinary values, and is read whole in the history and the account's export")
    func stored() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            let plain = try #require(try await scene.tone(ExecutionOptions(taskType: .heuristic)).execution)
            _ = try await scene.constrain(.warn(message: "Mind"), [Self.words])
            _ = try await scene.constrain(.warn(message: "Never"), [("token_count", "exceeds", "9999")])
            server.clock.advance(by: .seconds(1))
            let options = ExecutionOptions(taskType: .localModel, intent: .analytical, rule: .policyForceCloud)
            let warned = try #require(try await scene.summarize("the bus", options).execution)
            #expect(warned.evaluated.count == 2 && warned.applied.count == 1 && warned.usedFallback)
            #expect(try await scene.history(as: scene.home.child).map(\.execution) == [warned, plain])
            let stored = try await server.rows("SELECT report::text AS report FROM ai_executions ORDER BY created_at")
            let stages = String(decoding: JSONWriter.document { plain.stages.write(to: &$0) }, as: UTF8.self)
            #expect(
                stored.first?["report"]?.stringValue
                    == #"{"latency_ms":\#(plain.latencyMilliseconds),"stages":\#(stages)}"#)
            let export = try await server.call(API.exportAccount, as: scene.home.child)
            let exported = try #require(export.sections[.aiExecutions]).map { try #require($0["execution"]) }
            // The text of a rule is not repeated there.
            for (report, document) in zip([plain, warned], exported) {
                #expect(try ExecutionReport(json: document).rule == report.rule)
                #expect(try ExecutionReport(json: document).evaluated == report.evaluated)
                #expect(try ExecutionReport(json: document).warnings == report.warnings)
            }
            #expect(exported.count == 2)
        }
    }

    private static let words = ("content", "contains", "bus")

    @Test("a guardian sees that a question was blocked, but not the constraint")
    func ownConstraints() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            for action in [ConstraintAction.block(reason: "canary"), .warn(message: "canary")] {
                _ = try await scene.constrain(action, [("content", "contains", "bus")], .own, as: scene.home.child)
            }
            let trace = TraceID(high: 4, low: 4)
            let fault = try await scene.expectRefusal(.blocked, 403) {
                try await scene.summarize("bus", ExecutionOptions(traceID: trace))
            }
            let own = try #require(try await scene.history(as: scene.home.child).first?.execution)
            #expect(
                own.violationReason == "canary" && own.warnings == ["canary"]
                    && own.applied.last == fault.constraintID)
            let filter = ExecutionFilter(familyID: scene.home.id)
            let seen = [
                try await server.call(API.exportExecutions, filter, as: scene.home.guardian).text,
                String(
                    decoding: try await server.call(
                        API.getExecution, ExecutionPath(traceID: trace), as: scene.home.guardian
                    ).jsonBytes, as: UTF8.self),
                String(
                    decoding: try await server.call(
                        API.listExecutions, ExecutionListQuery(filter), as: scene.home.guardian
                    ).jsonBytes, as: UTF8.self),
            ]
            for text in seen {
                #expect(text.contains("E-POLICY-001") && !text.contains("canary"))
                #expect(!text.contains(own.evaluated[0].description) && !text.contains(own.evaluated[1].description))
            }
        }
    }

    @Test("a person deletes own records by trace and by time, and the audit log keeps its entries")
    func deletion() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            _ = try await scene.tone(as: scene.home.guardian)
            for _ in 0..<3 {
                server.clock.advance(by: .seconds(1))
                _ = try await scene.tone()
            }
            let entries = try await server.audit(scene.home.id).count { $0.kind == "ai.select_tone" }
            let last = try #require(try await scene.history(as: scene.home.child).first)
            try await server.expectOnly(audit: ["ai_execution.deleted"]) {
                _ = try await server.call(
                    API.deleteExecution, ExecutionPath(traceID: last.traceID), as: scene.home.child)
            }
            let query = ExecutionDeletionQuery(familyID: scene.home.id, before: ManualClock.start + .seconds(2))
            #expect(try await server.call(API.deleteExecutions, query, as: scene.home.child).deleted == 1)
            #expect(try await server.call(API.deleteExecutions, query, as: scene.home.child).deleted == 0)
            #expect(try await scene.history().map(\.userID) == [scene.home.child.id, scene.home.guardian.id])
            #expect(try await server.audit(scene.home.id).count { $0.kind == "ai.select_tone" } == entries)
        }
    }

    @Test("with errors only, the history has no record of answers")
    func errorsOnly() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            try await scene.prefer(#"{"ai_log_errors_only": true}"#, scene.home.child)
            _ = try await scene.tone()
            _ = try await scene.expectRefusal(.localQuestion, 422) {
                try await scene.tone(ExecutionOptions(privacyLevel: .local))
            }
            #expect(try await scene.history().map(\.errorCode) == ["E-PRIVACY-001"])
        }
    }

    @Test(
        "the history keeps records as long as each person prefers",
        arguments: [(7, "7"), (30, nil), (365, "365")] as [(Int64, String?)])
    func retention(_ days: Int64, _ preference: String?) async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            if let preference {
                try await scene.prefer(#"{"ai_log_retention_days": \#(preference)}"#, scene.home.child)
            }
            _ = try await scene.tone()
            let asked = server.clock.now()
            try await sweep(server, at: asked + .days(days))
            #expect(try await server.rows("SELECT 1 FROM ai_executions").count == 1)
            try await sweep(server, at: asked + .days(days) + Timestamp.Span(microseconds: 1))
            #expect(try await server.rows("SELECT 1 FROM ai_executions").isEmpty)
        }
    }

    private func sweep(_ server: TestServer, at now: Timestamp) async throws {
        _ = try await server.database.run { try await Housekeeping.applyRetention($0, at: now) }
    }

    @Test("neither history nor audit log nor feed has a word of a refused question")
    func words() async throws {
        try await TestServer.run { server in
            let scene = try await AIScene(server)
            _ = try await scene.constrain(.block(reason: "no"))
            _ = try await scene.expectRefusal(.blocked, 403) { try await scene.summarize("zanzibar") }
            let found = try await server.rows(
                """
                SELECT 1 FROM ai_executions e WHERE e::text ILIKE '%zanzibar%'
                UNION ALL SELECT 1 FROM ai_confirmations c WHERE c::text ILIKE '%zanzibar%'
                """)
            #expect(found.isEmpty)
            let details = try await server.audit(scene.home.id).map(\.details.description).joined()
            #expect(!details.contains("zanzibar"))
        }
    }
}
