import Audit
import Contract
import Domain
import JSON
import Postgres
import Reactor
import SQL
import Testing

@testable import Server

extension TestServer {
    /// Waits until a checkpoint covers every entry.
    func waitUntilSequenced(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while ContinuousClock.now < deadline {
            let isDone: [Bool] = try await database.rows(
                """
                SELECT (SELECT count(*) FROM audit_entry) = (SELECT coalesce(max(size), -1) FROM audit_checkpoint) AS done
                """
            ) { try $0["done"] }
            if isDone == [true] { return }
            try await Task.sleep(for: .milliseconds(20))
        }
        Issue.record("the sequencer did not come to an end", sourceLocation: sourceLocation)
    }

    /// Returns the lines of an export, as the server sends them.
    func export(
        _ family: FamilyID?, after: Int? = nil, as person: TestPerson, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> [AuditExportLine] {
        let text = try await call(
            API.exportAuditLog, AuditExportQuery(familyID: family, after: after), as: person,
            sourceLocation: sourceLocation
        ).text
        return try text.split(separator: "\n").map { line in
            try AuditExportLine(json: try JSONValue(parsing: Array(line.utf8).span))
        }
    }

    /// Inserts an administrator with a session.
    func admin(_ name: String = "Ada") async throws -> TestPerson {
        let person = try await account(name)
        try await sql("INSERT INTO admins (user_id, created_at) VALUES (\(person.id), \(clock.now()))")
        return person
    }

    /// Runs one round of a separate sequencer, as another process would.
    /// - Parameter file: the file in which the sequencer stores its last checkpoint.
    func runRound(
        _ keys: AuditKeyring? = TestServer.auditKeyring, file: CheckpointFile? = nil,
        pace: Sequencer.Pace = Sequencer.Pace(),
        reach: @escaping @Sendable (Sequencer.Point) throws -> Void = { _ in }
    ) async throws {
        let clock = clock
        let keys = try #require(keys)
        try await database.run { database in
            let sequencer = Sequencer(
                database: database, keys: keys, clock: clock, status: CheckpointStatus(isOn: true), log: Log(.off),
                memory: CheckpointMemory(file), pace: pace, reach: reach)
            _ = try await sequencer.runRound()
        }
    }
}

/// Returns a verifier's verdict on the lines of an export. By default the test's key is pinned.
func verdict(
    _ lines: [AuditExportLine], pinned: [VerifierKey]? = nil, witnesses: [String] = [],
    policy: AuditLogVerifier.Policy = AuditLogVerifier.Policy()
) -> AuditLogVerifier.Verdict {
    let keys = pinned ?? TestServer.auditKeyring.map { $0.signingKeys.map(\.verifier) } ?? []
    var verifier = AuditLogVerifier(pinned: keys, witnesses: witnesses.compactMap { SignedNote($0) }, policy: policy)
    for line in lines {
        guard let record = ExportRecord(line) else { continue }
        do throws(AuditFinding) { try verifier.check(record) } catch { return .tampered(error) }
    }
    return verifier.verdict()
}

extension AuditLogVerifier.Verdict {
    var isSound: Bool { if case .sound = self { true } else { false } }
    var finding: AuditFinding? { if case .tampered(let finding) = self { finding } else { nil } }
    var code: String? { finding?.code }
}
