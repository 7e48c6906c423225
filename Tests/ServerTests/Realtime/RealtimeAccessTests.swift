import Contract
import Domain
import JSON
import SQL
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Realtime: access to sockets")
struct RealtimeAccessTests {
    /// Requests that get no socket.
    enum Attempt: String, Sendable, CaseIterable, CustomTestStringConvertible {
        case noToken, badToken, tokenOfEndedSession, otherFamily, removed, waiting, badFamily, noFamily

        /// Whether it is the token or the membership that is at fault.
        var isOfCaller: Bool { self != .badFamily && self != .noFamily }
        var testDescription: String { rawValue }

        func query(_ server: TestServer, _ family: Household) async throws -> String {
            let own = "family_id=\(family.id)"
            switch self {
            case .noToken: return own
            case .badToken: return "token=nonsense&\(own)"
            case .tokenOfEndedSession:
                try await server.sql(
                    "UPDATE sessions SET revoked_at = \(server.clock.now()) WHERE id = \(family.child.session)")
                return "token=\(server.token(family.child))&\(own)"
            case .otherFamily: return "token=\(server.token(family.stranger))&\(own)"
            case .removed: return "token=\(server.token(family.removed))&\(own)"
            case .waiting:
                let waiting = try await server.account(status: "pending_guardian_consent")
                return "token=\(server.token(waiting))&\(own)"
            case .badFamily: return "token=\(server.token(family.child))&family_id=nonsense"
            case .noFamily: return "token=\(server.token(family.child))"
            }
        }
    }

    @Test(
        "a browser's socket is refused with a status, and another client's with a close code",
        arguments: Attempt.allCases)
    func refused(attempt: Attempt) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let query = try await attempt.query(server, family)
            let browser = try await SocketClient.open(server.port, query: query, origin: "http://localhost:5173")
            #expect(browser.status == (attempt.isOfCaller ? 401 : 422) && browser.body.contains(#""error""#))
            let other = try await SocketClient.open(server.port, query: query)
            #expect(other.status == 101)
            #expect(try await other.closeCode() == (attempt.isOfCaller ? 4_001 : 4_002))
        }
    }

    @Test("a ticket opens one socket within thirty seconds, on any instance, as long as its session lasts")
    func ticket() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            @Sendable func ticket() async throws -> String {
                let answer = try await server.call(API.createSocketTicket, NoParameters(), as: family.child)
                #expect(answer.expiresIn == 30)
                return answer.ticket.wireText
            }
            @Sendable func code(_ ticket: String, _ instance: TestServer, _ id: FamilyID) async throws -> Int? {
                try await SocketClient.open(instance.port, query: "ticket=\(ticket)&family_id=\(id)").closeCode()
            }
            try await server.withPeers(1) { peers in
                let first = try await ticket()
                let sockets = try await together(6) { number in
                    try await SocketClient.open(
                        (number % 2 == 0 ? server : peers[0]).port, query: "ticket=\(first)&family_id=\(family.id)",
                        origin: "http://localhost:5173")
                }
                #expect(sockets.map(\.status).sorted() == [101, 401, 401, 401, 401, 401])
                #expect(try await code(first, peers[0], family.id) == 4_001)
                // It gives no other right than its session has.
                #expect(try await code(try await ticket(), server, family.otherFamilyID) == 4_001)
                let late = try await ticket()
                let ended = try await ticket()
                server.clock.advance(by: .seconds(30))
                #expect(try await code(late, server, family.id) == 4_001)
                #expect(try await code(ended, server, family.id) == 4_001)
                let last = try await ticket()
                try await server.call("POST", "/api/v1/auth/logout", as: family.child)
                #expect(try await code(last, server, family.id) == 4_001)
                #expect(try await code("nonsense", server, family.id) == 4_001)
            }
            #expect(try await server.rows("SELECT digest FROM socket_tickets").count < 4)
        }
    }

    @Test("an invalid ticket counts once against its address's limit of 300")
    func invalidTickets() async throws {
        try await TestServer.run(configure: { $0.enforcesRateLimits = true }) { server in
            let family = try await server.family()
            var statuses: [Int] = []
            for _ in 0..<301 {
                let query = "ticket=nonsense&family_id=\(family.id)"
                statuses.append(
                    try await SocketClient.open(server.port, query: query, origin: "http://localhost:5173", host: 9)
                        .status)
            }
            #expect(statuses == Array(repeating: 401, count: 300) + [429])
        }
    }

    @Test("a socket request without an upgrade gets 426")
    func noUpgrade() async throws {
        try await TestServer.run { server in
            let reply = try await server.call("GET", "/api/v1/ws?token=x", isDocumented: false)
            #expect(reply.status == 426 && reply.header("upgrade") == "websocket")
            #expect(reply.errorCode == "MALFORMED_REQUEST")
        }
    }

    /// Ways to lose a socket.
    enum Loss: String, CaseIterable, CustomTestStringConvertible {
        case logout, removal, suspension, sessionDeleted
        var testDescription: String { rawValue }
    }

    @Test("a socket closes when its right is lost, on every instance", arguments: Loss.allCases)
    func lost(loss: Loss) async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            try await server.withPeers(1) { peers in
                let (here, there) = (
                    try await server.socket(family.participant), try await peers[0].socket(family.participant)
                )
                let kept = try await peers[0].socket(family.child)
                _ = try await (here.eventsBeforePong(), there.eventsBeforePong(), kept.eventsBeforePong())
                let member = MemberPath(familyID: family.id, userID: family.participant.id)
                switch loss {
                case .logout: try await server.call("POST", "/api/v1/auth/logout", as: family.participant)
                case .removal: try await server.call(API.removeMember, member, as: family.guardian)
                case .suspension:
                    try await server.sql(
                        "UPDATE users SET status = 'pending_guardian_consent' WHERE id = \(family.participant.id)")
                case .sessionDeleted:
                    try await server.sql("DELETE FROM sessions WHERE id = \(family.participant.session)")
                }
                #expect(try await here.closeCode() == 4_001)
                #expect(try await there.closeCode() == 4_001)
                // Others are not concerned.
                let nag = try await server.nag(from: family.guardian, to: family.child)
                var event = try await kept.event()
                while event["event"]?.stringValue == "member_removed" { event = try await kept.event() }
                #expect(event["data"]?["nag_id"]?.stringValue == nag.id.description)
            }
        }
    }

    @Test("a logout closes its session's socket, and not another session's")
    func otherSession() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let other = try await server.anotherSession(of: family.participant)
            let (first, second) = (try await server.socket(family.participant), try await server.socket(other))
            try await server.call("POST", "/api/v1/auth/logout", as: family.participant)
            #expect(try await first.closeCode() == 4_001)
            #expect(try await second.eventsBeforePong().isEmpty)
        }
    }

    @Test("a guardian who becomes a participant gets only the events of their own nags")
    func roleLost() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let socket = try await server.socket(family.secondGuardian)
            _ = try await socket.eventsBeforePong()
            try await server.sql(
                "UPDATE memberships SET role = 'participant' WHERE user_id = \(family.secondGuardian.id)")
            _ = try await server.nag(from: family.guardian, to: family.child)
            let own = try await server.nag(from: family.guardian, to: family.secondGuardian)
            #expect(try await socket.event()["data"]?["nag_id"]?.stringValue == own.id.description)
        }
    }

    @Test("sockets of a person and of an address are limited, and a closed one frees its place")
    func limits() async throws {
        try await TestServer.run(configure: {
            $0.socketLimits.perUser = 2
            $0.socketLimits.perAddress = 3
        }) { server in
            let family = try await server.family()
            var open = [try await server.socket(family.child), try await server.socket(family.child)]
            #expect(try await server.socket(family.child).closeCode() == 4_002)
            #expect(try await server.socket(family.child, origin: "http://localhost:5173").status == 503)
            open.append(try await server.socket(family.guardian))
            #expect(try await server.socket(family.participant).closeCode() == 4_002)
            // Another address has its own.
            open.append(try await server.socket(family.participant, host: 2))
            #expect(try await open[3].eventsBeforePong().isEmpty)
            open.removeAll()
            var again = try await server.socket(family.child)
            while try await again.next(afterPing: true) == .close(4_002) {
                again = try await server.socket(family.child)
            }
        }
    }

    @Test("a stopping server closes a browser's socket with 1001 and others with 4002")
    func draining() async throws {
        try await TestServer.run { server in
            let family = try await server.family()
            let sockets = Sockets()
            try await server.withPeers(1) { peers in
                await sockets.take(
                    [
                        try await peers[0].socket(family.child),
                        try await peers[0].socket(family.guardian, origin: "http://localhost:5173"),
                    ])
                for socket in await sockets.all { _ = try await socket.eventsBeforePong() }
                // They wait while the peer stops.
                await sockets.awaitCodes()
            }
            #expect(try await sockets.codes() == [4_002, 1_001])
        }
    }

    /// Sockets and the codes that they are closed with.
    private actor Sockets {
        private(set) var all: [SocketClient] = []
        private var waiting: [Task<Int?, any Error>] = []

        func take(_ sockets: [SocketClient]) { all = sockets }
        func awaitCodes() { waiting = all.map { socket in Task { try await socket.closeCode() } } }

        func codes() async throws -> [Int?] {
            var codes: [Int?] = []
            for task in waiting { codes.append(try await task.value) }
            return codes
        }
    }

    @Test("no log has a socket's token, and the database has its person while it is open")
    func traces() async throws {
        try await TestServer.run(configure: { $0.logLevel = .info }) { server in
            let family = try await server.family()
            func isLive() async throws -> Bool {
                try await server.rows("SELECT \(RealtimeStatements.hasLiveSocket("\(family.child.id)")) AS is_live")[0][
                    "is_live"] == .bool(true)
            }
            #expect(try await !isLive())
            do {
                let socket = try await server.socket(family.child)
                while try await !isLive() { await Task.yield() }
                _ = try await socket.eventsBeforePong()
            }
            while try await isLive() { await Task.yield() }
            let lines = try await server.logged { $0.joined().contains("/api/v1/ws") }.joined()
            #expect(!lines.contains(server.token(family.child)) && !lines.contains("token="))
            let metrics = try await server.metrics().text
            #expect(metrics.contains("nagz_sockets_opened_total 1\n") && metrics.contains("nagz_sockets 0\n"))
        }
    }
}

extension SocketClient {
    /// What comes first after a `ping`.
    fileprivate func next(afterPing: Bool) async throws -> Incoming {
        try send(text: "ping")
        return try await next()
    }
}
