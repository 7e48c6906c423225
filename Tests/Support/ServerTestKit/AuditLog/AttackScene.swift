import Audit
import Contract
import Domain
import Foundation
import JSON
import Postgres
import SQL
import Testing

@testable import Server

/// An audit log with some history, and a witness's copy of one of its checkpoints.
struct AttackScene: Sendable {
    let server: TestServer
    let family: Household
    let admin: TestPerson
    /// The checkpoint that the witness stored, as a signed note.
    let witness: String

    /// - Parameter rounds: the number of rounds of acts before the witness stores the checkpoint.
    init(_ server: TestServer, rounds: Int = 4) async throws {
        self.server = server
        family = try await server.family()
        admin = try await server.admin()
        for round in 0..<rounds {
            try await server.write(
                [.nagCreated, .nagCompleted], by: family.guardian, about: family.child, in: family.id)
            try await server.write([.nagCreated], by: family.stranger, in: family.otherFamilyID)
            server.clock.advance(by: .seconds(1))
            if round == 1 { try await server.runRound() }
        }
        try await server.runRound()
        witness = try await server.call(API.getAuditCheckpoint).text
    }

    /// Returns the verdicts on two exports: on that of all audit logs, then on that of the family.
    /// - Parameter witnessed: whether the first verdict uses the witness's checkpoint.
    func verdicts(witnessed: Bool = false) async throws -> [AuditLogVerifier.Verdict] {
        let lines = try await server.export(nil, as: admin)
        return [
            verdict(lines, witnesses: witnessed ? [witness] : []),
            verdict(try await server.export(family.id, as: family.guardian)),
        ]
    }

    /// Writes an export for `Tests/AuditVerifier/run`, which tests another verifier with it.
    /// - Parameter code: the exit code that the other verifier must return.
    func writeExport(_ name: String, witnessed: Bool = false, expecting code: Int) async throws {
        guard let folder = ProcessInfo.processInfo.environment["NAGZ_TEST_EXPORTS"] else { return }
        let lines = try await server.export(nil, as: admin)
        let file = "\(folder)/\(code)-\(name.replacing(" ", with: "-"))"
        let text = lines.map { String(decoding: $0.jsonBytes, as: UTF8.self) + "\n" }.joined()
        try text.write(toFile: file + ".ndjson", atomically: true, encoding: .utf8)
        if witnessed { try witness.write(toFile: file + ".witness", atomically: true, encoding: .utf8) }
        let key = try #require(TestServer.auditKeyring).signingKeys[0].verifier.text
        try key.write(toFile: "\(folder)/key", atomically: true, encoding: .utf8)
    }
}
