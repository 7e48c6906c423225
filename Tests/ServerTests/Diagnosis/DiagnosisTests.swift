import Audit
import Domain
import Foundation
import Postgres
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

/// The checks whose cases no test machine has: clocks, versions, disks, descriptors, and the log's age.
@Suite("Checks of a server's surroundings")
struct DiagnosisTests {
    /// The machine's clock, set wrong.
    private struct SkewedClock: WallClock {
        let skew: Timestamp.Span
        func now() -> Timestamp { SystemClock().now() + skew }
    }

    private static let migrations = repository.appending(path: "Migrations").path()

    @Test(
        "the clock check compares the offset with the limit of readiness",
        arguments: [
            (0, CheckResult.Status.ok, "s"), (-8, .warning, "8.0 s ahead of"), (8, .warning, "8.0 s behind"),
            (40, .failed, "40.0 s behind"), (-40, .failed, "40.0 s ahead of"), (86_400, .failed, "86400.0 s behind"),
        ])
    func clocks(ahead: Int64, status: CheckResult.Status, text: String) async throws {
        try await TestCluster.shared.withDatabase { url in
            let check = DatabaseCheck(
                databaseURL: TestLogin.server.url(url), folder: Self.migrations,
                clock: SkewedClock(skew: .seconds(ahead)))
            let results = await check.run()
            #expect(results.map(\.name) == ["database", "writes", "clock", "role", "schema", "grants"])
            let clock = try #require(results.first { $0.name == "clock" })
            // A slow machine adds a moment.
            let said = clock.text.replacing(/\.[0-9] s/, with: ".0 s")
            #expect(clock.status == status && said.contains(text), "\(clock)")
            #expect(results.allSatisfy { $0.status == .ok || $0 == clock })
        }
    }

    @Test("the database check reports an old PostgreSQL, a standby, and an unencrypted connection")
    func databases() {
        func result(_ number: Int, isStandby: Bool = false, _ encryption: String?, isLocal: Bool) -> CheckResult {
            DatabaseCheck.serverResult(
                version: "x", number: number, isStandby: isStandby, protocol: encryption, isLocal: isLocal)
        }
        #expect(result(150_004, "TLSv1.3", isLocal: false).status == .ok)
        #expect(result(150_004, nil, isLocal: true).status == .ok)
        let open = result(150_004, nil, isLocal: false)
        #expect(open.status == .warning && open.advice?.contains("sslmode=verify-full") == true)
        let old = result(140_012, "TLSv1.3", isLocal: true)
        #expect(old.status == .failed && old.advice?.contains("15") == true)
        let standby = result(150_004, isStandby: true, nil, isLocal: true)
        #expect(standby.status == .failed && standby.advice?.contains("target_session_attrs") == true)
    }

    @Test("the disk check reports a full and an unwritable disk")
    func disks() throws {
        func status(_ bytes: UInt64, files: UInt64? = 1_000, isReadOnly: Bool = false) -> CheckResult.Status {
            ResourceCheck.checkDisk(.init(freeBytes: bytes, freeFiles: files, isReadOnly: isReadOnly), folder: "/x")
                .status
        }
        #expect(status(1 << 30) == .ok && status(1 << 30, files: nil) == .ok)
        #expect(status(100 << 20) == .warning && status(1 << 20) == .failed)
        #expect(status(1 << 30, files: 0) == .failed && status(1 << 30, isReadOnly: true) == .failed)
        #expect(ResourceCheck.checkDisk(of: CheckpointFile(path: "/nowhere/checkpoint")).status == .failed)
        let folder = FileManager.default.temporaryDirectory.path()
        #expect(ResourceCheck.checkDisk(of: CheckpointFile(path: folder + "/checkpoint")).status == .ok)
    }

    @Test("the descriptor check says how many descriptors are enough")
    func descriptors() throws {
        let configuration = Configuration(databaseURL: "", tokenKeys: [], loops: 4)
        #expect(ResourceCheck.checkDescriptors(configuration, soft: 1_024, hard: 1 << 20).status == .ok)
        let scarce = ResourceCheck.checkDescriptors(configuration, soft: 1_024, hard: 4_096)
        #expect(scarce.status == .warning && scarce.text.contains("1024, which nagz serve raises to 4096"), "\(scarce)")
        let enough = try #require(scarce.advice?.firstMatch(of: /limit to ([0-9]+)/).flatMap { Int($0.output.1) })
        #expect(ResourceCheck.checkDescriptors(configuration, soft: enough, hard: enough).status == .ok)
    }

    @Test("the checkpoint checks report its age, a shortened log, and a file that does not fit")
    func log() async throws {
        try await withTemporaryFolder { folder in
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            let file = CheckpointFile(path: folder + "/checkpoint")
            let keys = try #require(TestServer.auditKeyring)
            try await TestServer.run(configure: { $0.runsSequencer = false }, isOfActs: false) { server in
                let check = LogCheck(
                    databaseURL: TestLogin.server.url(server.database.url), keys: keys, file: file,
                    clock: server.clock)
                #expect(await check.run().map(\.status) == [.warning, .warning], "before the first start")
                _ = try await AttackScene(server)
                try await server.runRound(file: file)
                var results = await check.run()
                #expect(results.map(\.status) == [.ok, .ok] && results[1].text.contains("12 entries"), "\(results)")
                #expect(await check.runAfterRestore().map(\.status) == [.ok, .ok])
                server.clock.advance(by: .minutes(20))
                results = await check.run()
                #expect(
                    results.map(\.status) == [.ok, .warning] && results[1].text.contains("20 min old"), "\(results)")

                try await Forger(server: server).disableTriggers()
                for statement in ["audit_leaf WHERE position >= 6", "audit_checkpoint WHERE size > 6"] {
                    try await server.sql(SQL(unsafeSQL: "DELETE FROM \(statement)"))
                }
                results = await check.run()
                #expect(results.map(\.status) == [.ok, .failed] && results[1].text.contains("does not extend"))
                #expect(results[1].advice?.contains("nagz restore-check") == true)
                let lost = try #require(await check.runAfterRestore().last)
                #expect(lost.status == .failed && lost.text.contains("6 of 12 entries are lost"), "\(lost)")
                let root = try #require(lost.advice?.firstMatch(of: /accept --root ([A-Za-z0-9+\/=]+)/)?.output.1)
                // What it advises, it is content with.
                let acceptance = RestoredLogAcceptance(
                    databaseURL: TestLogin.owner.url(server.database.url), keys: keys, file: file)
                _ = try await acceptance.accept(root: #require(Base64.decode(String(root))), clock: server.clock)
                #expect(await check.runAfterRestore().map(\.status) == [.ok, .ok])

                let other = try AuditKeyring(
                    text: "origin other/log\nsign \(OperatorScene.key)\nseal \(OperatorScene.key)\n")
                let foreign = LogCheck(
                    databaseURL: TestLogin.server.url(server.database.url), keys: other, file: file,
                    clock: server.clock)
                results = await foreign.run()
                #expect(results.map(\.status) == [.failed, .failed] && results[0].text.contains("nagz.test/log"))

                try await server.sql("ALTER TABLE audit_checkpoint ALTER note DROP NOT NULL")
                try await server.sql("UPDATE audit_checkpoint SET note = NULL")
                #expect(await check.run().map(\.status) == [.ok, .failed], "a row that cannot be read")
            }
        }
    }
}
