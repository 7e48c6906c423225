import Audit
import Contract
import Domain
import DomainSQL
import NagzAI
import Postgres
import SQL

/// The server's own statements as pgbench scripts. With them, deploy/bench measures the throughput of the database at
/// one transaction for each request.
///
/// The scripts are printed from the statements that the features run, so they cannot drift from them.
package struct StatementScripts {
    /// The names and contents of the files.
    package let files: [(name: String, content: String)]

    // Placeholders: `expression` puts an expression with pgbench's variables in the place of each.
    private static let user = UserID(high: 1, low: 1)
    private static let session = SessionID(high: 2, low: 2)
    private static let family = FamilyID(high: 3, low: 3)
    private static let nag = NagID(high: 4, low: 4)
    private static let event = EventID(high: 5, low: 5)
    private static let recipient = Pseudonym(high: 6, low: 6)
    private static let trace = TraceID(high: 8, low: 8)
    /// The placeholder of the family's sequence number, `:seq` in the scripts.
    private static let sequence: Int64 = 7_777_777

    /// - Parameters:
    ///   - database: the database of the ledger whose statement is printed; nothing is written to it.
    ///   - now: the time in whose place the scripts have `now()`.
    ///   - since: the time since which the page in `w3.pgb` reads changes, in whole seconds.
    ///   - families: the number of families in the benchmark data.
    package init(tokens: Tokens, database: Database, now: Timestamp, since: Timestamp, families: Int) throws {
        let context = CallContext(
            now: now, trace: Self.trace, request: RequestID(high: 9, low: 9), idempotency: nil,
            ifMatch: nil)
        let claims = Tokens.Claims(user: Self.user, session: Self.session)
        let caller = try VerifiedTokens(tokens).caller(tokens.accessToken(claims, at: now), context)
        let variableDefinitions =
            "\\set f random(0, \(families - 1))\n\\set u :f * 4 + random(0, 1)\n\\set n :f * 250 + random(0, 249)\n"
        func page(_ start: FeedStart) -> String {
            variableDefinitions
                + Self.script(
                    SyncStatements.page(
                        Self.family, for: caller, from: start, .legacy), now)
                + ";\n"
        }
        let facts = AIStatements.nagFacts(
            Self.nag, in: .family, for: caller, .tone)
        let act = Act(
            kind: AIOperations.selectTone.id.auditKinds.answered, basis: .rightsUnchanged(since: Self.sequence),
            actor: SystemActor.mediator, subject: Self.recipient, resource: Self.nag.retyped(),
            details: [
                "miss_count_7d": "1", "streak": "0", "operation": "select_tone", "rule": "tone.default",
                "on_behalf_of": "\(Self.recipient)", "provider": "heuristic", "route": "cloud",
                "rule_id": "AUTO_CLOUD", "task_type": "heuristic", "fallback_confirmed": "none",
                "fallback_reason": "none", "latency_us": "500", "used_fallback": "false",
                "output": "neutral", "content_length": "45", "content_hash": hexadecimal(sha256([])),
            ],
            statements: [
                AIStatements.insertAnswer(
                    Self.event, Self.nag, "select_tone", .neutral,
                    "Neutral, because neither misses nor streak say else.",
                    onBehalfOf: Self.user),
                ExecutionStatements.insert(Self.execution(at: now), session: nil, nil, in: Self.family),
            ])
        let ledger = Ledger(database: database, random: SystemRandomness(), comparesClocks: true)
        let write = ledger.statement(act, in: Self.family, context)
        files = [
            (
                "w2.pgb",
                variableDefinitions + Self.script(facts, now) + " \\gset\n" + Self.script(write, now) + ";\n"
            ),
            ("w3.pgb", page(.sinceSecond(since.seconds))),
            ("w4.pgb", page(.beginning)),
            (
                "pgoptions.txt",
                ConnectionOptions.commandLineOptions(Configuration.databaseSessionSettings).joined(separator: " ")
            ),
        ]
    }

    /// Returns the record of an ordinary answer: by the rules, with no constraint that concerns it.
    private static func execution(at now: Timestamp) -> ExecutionRecord {
        let report = ExecutionReport(
            id: event.retyped(), provider: ProviderName.heuristic.rawValue,
            route: .cloud, rule: .autoCloud, taskType: .heuristic, privacyLevel: .auto, intent: nil,
            isFallbackAllowed: false, usedFallback: false, fallbackReason: "none", confidence: 0.7,
            questionTokenCount: 0,
            latencyMilliseconds: 1,
            stages: [.created, .routed, .executed, .completed].map { StageTime($0, at: now) }, policy: .nothing,
            warnings: [], sideEffects: ["ai_mediation_event"])
        return ExecutionRecord(
            id: report.id, familyID: family, userID: user, traceID: trace, questionID: nil,
            operation: .operation(.selectTone), nagID: nag, errorCode: nil, createdAt: now, execution: report)
    }

    /// Returns the statement on one line, with pgbench's variables where requests differ and literals elsewhere.
    private static func script(_ statement: SQL, _ now: Timestamp) -> String {
        var text = statement.text
        for (index, value) in statement.values.enumerated().reversed() {
            text = text.replacing("$\(index + 1)", with: "(" + expression(value, now) + ")")
        }
        return text.split(whereSeparator: \.isNewline).map { $0.drop(while: { $0 == " " }) }.joined(separator: " ")
    }

    /// Returns the SQL expression in the place of a parameter: a literal, or one with pgbench's variables.
    private static func expression(_ value: SQLValue, _ now: Timestamp) -> String {
        switch value {
        case user.sqlValue: "md5('u' || :u)::uuid"
        case session.sqlValue: "md5('s' || :u)::uuid"
        case family.sqlValue: "md5('f' || :f)::uuid"
        case nag.sqlValue: "md5('n' || :n)::uuid"
        case recipient.sqlValue: "md5('p' || :u)::uuid"
        case event.sqlValue, trace.sqlValue: "gen_random_uuid()"
        case sequence.sqlValue: ":seq::bigint"
        case .timestamp(let microseconds): "now() + interval '\((microseconds - now.microseconds) / 1_000_000) seconds'"
        case .integer(let number): "\(number)::bigint"
        case .text(let text): "'\(text.replacing("'", with: "''"))'::text"
        case .bytes(let bytes): "'\\x\(hexadecimal(bytes))'::bytea"
        case .uuid(let high, let low): "'\(UserID(high: high, low: low))'::uuid"
        case .boolean(let flag): flag ? "true" : "false"
        case .null: "NULL"
        case .double(let number): "\(number)::float8"
        case .json(let text): "'\(text.replacing("'", with: "''"))'::jsonb"
        case .array: "NULL"
        }
    }
}
