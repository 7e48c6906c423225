import Audit
import Domain
import Postgres
import Testing

@testable import Server
@testable import ServerTestKit

/// Attacks on the check by members who write while it reads: it must end, and raise no alarm.
@Suite("The check of a growing log")
struct GrowingLogTests {
    private struct Endless: Error {}

    /// A check of a family whose log grows by a page at each rest.
    /// - Parameter isSequenced: whether what is there when the check begins is in the Merkle log.
    private static func check(
        isSequenced: Bool, _ body: @escaping @Sendable (StateReport, _ rests: Int) throws -> Void
    ) async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            let (page, keys) = (ReconcileStatements.pageSize, try #require(TestServer.auditKeyring))
            @Sendable func grow() async throws {
                try await server.write(Array(repeating: .nagNoteAdded, count: page), by: family.child, in: family.id)
            }
            try await grow()
            if isSequenced { try await server.runRound() }
            let (report, rests) = try await server.database.run { database in
                let check = FamilyCheck(
                    database, keys, Sealing(keys, random: SystemRandomness()), clock: server.clock)
                var rests = 0
                let report = try await check.run(family.id) { _ in
                    rests += 1
                    if rests > 4 { throw Endless() }
                    try await grow()
                    try await server.runRound()
                }
                return (report, rests)
            }
            try body(report, rests)
        }
    }

    @Test("members who write as fast as the check reads do not keep it from other families")
    func ends() async throws {
        try await Self.check(isSequenced: true) { report, rests in
            #expect((1...2).contains(rests))
            #expect(report.entryCount > 2 * Int64(ReconcileStatements.pageSize))
            #expect(report.findings.isEmpty, "\(report.findings)")
        }
    }

    @Test("an entry that gets its leaf while the check rests is not reported as passed over")
    func unplaced() async throws {
        try await Self.check(isSequenced: false) { report, _ in
            #expect(report.entryCount > Int64(ReconcileStatements.pageSize))
            #expect(report.findings.isEmpty, "\(report.findings)")
        }
    }

    @Test("entries that retention takes while the check rests are not reported as missing")
    func pruned() async throws {
        try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
            let family = try await LivedFamily(server)
            let (page, keys) = (ReconcileStatements.pageSize, try #require(TestServer.auditKeyring))
            try await server.write(
                Array(repeating: .nagNoteAdded, count: 2 * page), by: family.child, in: family.id)
            try await server.runRound()
            server.clock.advance(by: Prune.retention)
            server.clock.advance(by: .days(100))
            try await server.write([.auditLogPruned], by: family.guardian, in: family.id)
            try await server.runRound()
            let (clock, url) = (server.clock, server.database.url)
            let (report, taken) = try await server.database.run { database in
                let check = FamilyCheck(
                    database, keys, Sealing(keys, random: SystemRandomness()), clock: server.clock)
                var taken = 0
                let report = try await check.run(family.id) { _ in
                    if taken > 0 { return }
                    taken = try await Pruning(before: clock.now() - Prune.retention).run(
                        databaseURL: url, keys: keys, isDryRun: false, clock: clock
                    ).count
                }
                return (report, taken)
            }
            #expect(taken > 0)
            #expect(report.findings.isEmpty, "\(report.findings)")
        }
    }
}
