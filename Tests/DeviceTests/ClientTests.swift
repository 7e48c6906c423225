import Contract
import Device
import Domain
import Foundation
import JSON
import Synchronization
import Testing

/// A transport that answers by a script.
private final class ScriptedTransport: Transport {
    typealias Answer = @Sendable (TransportRequest, Int) throws(TransportError) -> TransportResponse
    private let count = Mutex(0)
    private let tokens = Mutex<[String?]>([])
    private let answer: Answer

    init(_ answer: @escaping Answer) { self.answer = answer }

    var sent: [String?] { tokens.withLock { $0 } }

    func send(_ request: TransportRequest) async throws(TransportError) -> TransportResponse {
        tokens.withLock { $0.append(request.token?.wireText ?? "\(request.target)") }
        let number = count.withLock { count in
            count += 1
            return count
        }
        return try answer(request, number)
    }

    func listen(
        _ target: String, onOpen: @escaping @Sendable () -> Void, onMessage: @escaping @Sendable () -> Void
    ) async throws(TransportError) {
        tokens.withLock { $0.append(target) }
        throw .unreachable
    }
}

@Suite("The REST client")
struct ClientTests {
    private static let server = ServerAddress("http://127.0.0.1:9800")

    private func session(_ access: String = "old") throws -> DeviceSession {
        DeviceSession(
            server: try #require(Self.server), userID: me, displayName: "Me", familyID: homeFamily, role: .guardian,
            accessToken: Secret(access), refreshToken: Secret("refresh-\(access)"))
    }

    private static func auth(_ token: String) -> [UInt8] {
        AuthResponse(
            accessToken: Secret(token), refreshToken: Secret("refresh-\(token)"), expiresIn: 86_400,
            user: AuthUser(
                id: me, email: nil, displayName: "Me", status: "active", createdAt: start,
                familyMemberships: [FamilyMembership(familyID: homeFamily, role: .guardian)]), familyID: homeFamily,
            familyRole: .guardian
        ).content
    }

    private static let refused = TransportResponse(status: 401, body: [])
    private static func fine(_ token: String) -> TransportResponse {
        TransportResponse(status: 200, body: page(cursor: token).content, date: start - .seconds(90))
    }

    @Test("an expired token is renewed once, kept, and the call repeated; ten calls share one renewal")
    func renewal() async throws {
        try await withFolder { folder in
            let file = SessionFile(path: folder + "/session.json")
            try file.save(try session())
            let transport = ScriptedTransport { request, _ throws(TransportError) in
                if request.target == "/api/v1/auth/refresh" {
                    return TransportResponse(status: 200, body: Self.auth("new"))
                }
                return request.token?.wireText == "new" ? Self.fine("x") : Self.refused
            }
            let client = ServerClient(try session(), keptIn: file, over: transport, now: { start })
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 {
                    group.addTask { _ = try await client.fetchPage(SyncQuery(familyID: homeFamily)) }
                }
                try await group.waitForAll()
            }
            #expect(transport.sent.count { $0 == "/api/v1/auth/refresh" } == 1)
            #expect(try file.load()?.accessToken == Secret("new"))
            #expect(await client.clockAhead == .seconds(90))
        }
    }

    @Test("the client reads tokens that another process renewed from the file")
    func renewedElsewhere() async throws {
        try await withFolder { folder in
            let file = SessionFile(path: folder + "/session.json")
            try file.save(try session("other"))
            let transport = ScriptedTransport { request, _ throws(TransportError) in
                request.token?.wireText == "other" ? Self.fine("x") : Self.refused
            }
            let client = ServerClient(try session(), keptIn: file, over: transport, now: { start })
            _ = try await client.fetchPage(SyncQuery(familyID: homeFamily))
            #expect(transport.sent == ["old", "other"])
        }
    }

    @Test("the client reports a session that is over, and keeps it while the server is down")
    func over() async throws {
        try await withFolder { folder in
            let file = SessionFile(path: folder + "/session.json")
            let refusing = ScriptedTransport { _, _ throws(TransportError) in Self.refused }
            let client = ServerClient(try session(), keptIn: file, over: refusing, now: { start })
            await #expect(throws: ClientError.signedOut) {
                try await client.call(API.syncEvents, SyncQuery(familyID: homeFamily))
            }
            let down = ScriptedTransport { request, number throws(TransportError) in
                if number == 1 { return Self.refused }
                throw .unreachable
            }
            let other = ServerClient(try session(), keptIn: file, over: down, now: { start })
            await #expect(throws: ClientError.transport(.unreachable)) {
                try await other.call(API.syncEvents, SyncQuery(familyID: homeFamily))
            }
            #expect(ClientError.transport(.unreachable).isTransient && !ClientError.signedOut.isTransient)
        }
    }

    @Test("the client tells refusals from malformed answers", arguments: [403, 404, 429, 500, 503, 200, 302])
    func answers(status: Int) async throws {
        let transport = ScriptedTransport { _, _ throws(TransportError) in
            TransportResponse(status: status, body: Array("<html>".utf8), retryAfter: 7)
        }
        let client = ServerClient(
            try session(), keptIn: SessionFile(path: "/nonexistent"), over: transport, now: { start })
        do {
            _ = try await client.call(API.syncEvents, SyncQuery(familyID: homeFamily))
            Issue.record("\(status) was taken")
        } catch {
            switch error {
            case .unreadable: #expect(status == 200)
            case .refused(let refusal): #expect(refusal.status == status && refusal.retryAfter == 7)
            default: Issue.record(error)
            }
            #expect(error.isTransient == (status >= 429 || status == 200))
        }
    }

    @Test("the session's file has mode 600 and is replaced as a whole, and tokens are never printed")
    func file() async throws {
        try await withFolder { folder in
            let file = SessionFile(path: folder + "/session.json")
            #expect(try file.load() == nil)
            for token in ["a", "b"] {
                try file.save(try session(token))
                #expect(try file.load() == (try session(token)))
            }
            let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["session.json"])
            #expect(!"\(try session("canary"))".contains("canary"))
            try Data("{".utf8).write(to: URL(filePath: file.path))
            #expect(throws: PrivateFileError.unreadable) { try file.load() }
            try file.remove()
            try file.remove()
            #expect(throws: PrivateFileError.unwritable) { try SessionFile(path: folder + "/no/x").save(try session()) }
        }
    }

    @Test(
        "a server address is https anywhere, or http in the local network",
        arguments: [
            ("http://127.0.0.1:9800", "http://127.0.0.1:9800"), ("http://localhost", "http://localhost:80"),
            ("http://192.168.1.7:80/", "http://192.168.1.7:80"), ("http://172.31.0.1", "http://172.31.0.1:80"),
            ("http://Printer.local", "http://printer.local:80"), ("http://[::1]:9800", "http://[::1]:9800"),
            ("https://Nagz.example.org", "https://nagz.example.org:443"),
            ("https://127.0.0.1:9443/", "https://127.0.0.1:9443"),
            ("https://[2001:db8::7]", "https://[2001:db8::7]:443"),
        ])
    func addresses(text: String, printed: String) { #expect(ServerAddress(text)?.description == printed) }

    @Test(
        "a text that is no https address and no local http address is refused",
        arguments: [
            "", "127.0.0.1", "ftp://127.0.0.1", "http://", "http://a:b@127.0.0.1", "http://127.0.0.1/b",
            "http://127.0.0.1?b", "http://172.32.0.1", "http://example.org", "https://", "https://a:b@example.org",
            "http://1.2.3.4",
            "http://127.0.0.1:0", "http://127.0.0.1:70000", "http://127.0.0.1.example.org",
        ])
    func noAddress(text: String) { #expect(ServerAddress(text) == nil) }
}
