import Contract
import Domain
import SQL
import Testing

@testable import AuditLogTests
@testable import MediationTests
@testable import NagTests
@testable import PeopleTests
@testable import Server
@testable import ServerTestKit
@testable import ServerTests

@Suite("The matrix of operations and requesters")
struct MatrixTests {
    @Test("every operation with a bearer token has its rows in the matrix")
    func complete() {
        let names = MatrixRow.all.map(\.testDescription)
        #expect(Set(names).count == names.count)
        #expect(
            Set(MatrixRow.all.map(\.operation.id)) == Set(API.all.filter { $0.access == .bearer }.map(\.id)))
    }

    @Test("every operation refuses each requester of its row", arguments: MatrixRow.batches)
    func refused(batch: MatrixRow.Batch) async throws {
        try await TestServer.run { server in
            let scene = try await Scene(server)
            let family = scene.family
            let signedOut = try await server.member("Rita", .guardian, of: family)
            try await server.sql(
                "UPDATE sessions SET revoked_at = \(server.clock.now()) WHERE id = \(signedOut.session)")
            let lapsed = try await server.member("Lars", .guardian, of: family)
            try await server.sql("UPDATE sessions SET expires_at = \(server.clock.now()) WHERE id = \(lapsed.session)")
            let deleted = try await server.member("Dora", .guardian, of: family)
            try await server.deleteAccount(of: deleted)
            let pending = try await server.account("Peni", status: "pending_guardian_consent")
            let other = Tokens(keys: [[UInt8](repeating: 8, count: 32)])
            let claims = Tokens.Claims(user: family.guardian.id, session: family.guardian.session)
            let before = try await contents(server)

            for row in batch.rows {
                func expect(
                    _ who: String, token: String?, _ statuses: Set<Int>, _ code: String? = nil
                ) async throws {
                    let request = row.request(scene)
                    let reply = try await server.send(
                        row.operation.method.rawValue, request.target, token: token, content: request.content)
                    #expect(statuses.contains(reply.status), "\(row.testDescription), \(who)")
                    if let code { #expect(reply.errorCode == code, "\(row.testDescription), \(who)") }
                    if reply.status == 401 {
                        #expect(reply.header("www-authenticate") == "Bearer", "\(row.testDescription), \(who)")
                    }
                }
                try await expect("anonymous", token: nil, [401], "AUTHN_FAILED")
                try await expect("garbage", token: "garbage", [401], "AUTHN_FAILED")
                try await expect("a development token", token: "dev:\(family.guardian.id)", [401], "AUTHN_FAILED")
                try await expect(
                    "expired", token: server.tokens.accessToken(claims, at: server.clock.now() - Tokens.accessLifetime),
                    [401],
                    "AUTHN_FAILED")
                try await expect(
                    "signed by somebody else", token: other.accessToken(claims, at: server.clock.now()), [401],
                    "AUTHN_FAILED")
                try await expect(
                    "somebody's session with another's name",
                    token: server.tokens.accessToken(
                        Tokens.Claims(user: family.guardian.id, session: family.stranger.session),
                        at: server.clock.now()),
                    [401], "AUTHN_FAILED")
                try await expect(
                    "the nil session",
                    token: server.tokens.accessToken(
                        Tokens.Claims(user: family.guardian.id, session: SessionID(high: 0, low: 0)),
                        at: server.clock.now()),
                    [401], "AUTHN_FAILED")
                try await expect("signed out", token: server.token(signedOut), [401], "AUTHN_FAILED")
                try await expect("session over", token: server.token(lapsed), [401], "AUTHN_FAILED")
                try await expect("account deleted", token: server.token(deleted), [401], "AUTHN_FAILED")
                if let waiting = row.statusForWaitingAccounts {
                    try await expect(
                        "pending account", token: server.token(pending), [waiting],
                        waiting == 403 ? "AUTHZ_DENIED" : nil)
                }
                if row.concern == .family {
                    try await expect("other family", token: server.token(family.stranger), [403, 404])
                    try await expect("removed member", token: server.token(family.removed), [403, 404])
                }
                #expect(try await contents(server) == before, "\(row.testDescription): a refusal changed something")
            }
        }
    }

    @Test(
        "of members and administrators each operation answers those who may, and refuses all others",
        arguments: MatrixRow.batches)
    func roles(batch: MatrixRow.Batch) async throws {
        try await TestServer.run { server in
            let scene = try await Scene(server)
            let before = try await contents(server)
            for row in batch.rows {
                for requester in MatrixRequester.allCases where !row.allowed.contains(requester) {
                    let reply = try await send(row, row.request(scene), by: requester, scene, server)
                    #expect(
                        row.refusals.contains(reply.status),
                        "\(row.testDescription) by \(requester): \(reply.status) \(reply.text)")
                }
                #expect(try await contents(server) == before, "\(row.testDescription): a refusal changed something")
            }
            for row in batch.rows {
                var isFirst = true
                for requester in MatrixRequester.allCases where row.allowed.contains(requester) {
                    // What one of them changes is changed for the next, who gets a family that is untouched.
                    let scene = row.operation.method == .get ? scene : try await Scene(server)
                    let request = row.request(scene)
                    let reply = try await send(row, request, by: requester, scene, server)
                    #expect(
                        reply.status == row.operation.successStatus,
                        "\(row.testDescription) by \(requester): \(reply.status) \(reply.text)")
                    if isFirst && row.isExample {
                        try Examples.check(row.operation.id, request: request.content, reply)
                    }
                    isFirst = false
                }
            }
        }
    }

    private func send(
        _ row: MatrixRow, _ request: (target: String, content: [UInt8]), by requester: MatrixRequester, _ scene: Scene,
        _ server: TestServer
    ) async throws -> Reply {
        try await server.send(
            row.operation.method.rawValue, request.target, token: server.token(scene.person(requester)),
            content: request.content)
    }

    /// Everything but the audit log, which may tell of refusals, and the clock that moves with it.
    private func contents(_ server: TestServer) async throws -> [String] {
        try await server.digests().filter { !$0.hasPrefix("audit_") && !$0.hasPrefix("family_clock") }
    }
}

extension MatrixRow {
    /// Every bearer operation has its rows: those of a group stand with the group's scenarios.
    static let all: [MatrixRow] = [
        accounts, preferences, families, connections, safety, consents, policies, nags, gamification, incentives,
        reports, ai, sync, audit,
        devices, deliveries, abuseReports, accountData, me, attachments, constraints, executions, drafted,
        ingestion,
        keys,
    ].flatMap(\.self)

    /// Whether it is the first row of its operation, whose answer to the first of those who may ask is the example.
    var isExample: Bool { Self.all.first { $0.operation.id == operation.id }?.detail == detail }

    /// Rows that share a server.
    struct Batch: Sendable, CustomTestStringConvertible {
        let rows: [MatrixRow]

        var testDescription: String { rows.map(\.testDescription).joined(separator: ", ") }
    }

    static let batches = stride(from: 0, to: all.count, by: 10).map { start in
        Batch(rows: Array(all[start..<min(start + 10, all.count)]))
    }
}
