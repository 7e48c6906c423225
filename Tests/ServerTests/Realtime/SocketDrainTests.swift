import Contract
import Domain
import HTTP
import Reactor
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("Realtime: sockets of a stopping server")
struct SocketDrainTests {
    private static let family = FamilyID(high: 1, low: 1)
    private static let user = UserID(high: 1, low: 2)

    @Test("a socket accepted before the stop is closed: a browser's with 1001, others with 4002")
    func acceptedBefore() async throws {
        let loop = try EventLoop(name: "test")
        try loop.start()
        defer { loop.stop() }
        let exchange = RealtimeExchange([loop], limits: SocketLimiter.Limits(), counters: RealtimeCounters())
        let server = HTTPServer(try await Self.application(exchange, on: loop), on: [loop])
        let port = try await server.listen(on: "127.0.0.1", port: 0)
        let other = try await SocketClient.open(port, query: "")
        let browser = try await SocketClient.open(port, query: "", origin: "http://localhost:5173")
        #expect(other.status == 101 && browser.status == 101)
        #expect(try await other.closeCode() == 4_002)
        #expect(try await browser.closeCode() == 1_001)
        await server.drain(within: .seconds(60))
    }

    /// Its only route accepts every upgrade, but the sockets are drained before they are handed over.
    private static func application(_ exchange: RealtimeExchange, on loop: isolated EventLoop) throws -> Application {
        let sockets = LoopBound(
            value: LoopSockets(
                exchange, loop: 0, loop.poller, memory: Limits().makeAnswerBudget(), limits: WebSocketLimits()))
        let route = Route(.get, RealtimeRoute.template) { request in
            let network = request.clientAddress.network
            guard let handshake = try? WebSocketHandshake(request),
                let permit = exchange.limiter.admit(user, network)
            else { return Response(.badRequest) }
            let opening = LoopSockets.Opening(
                user: user, session: nil, family: family, role: .child, seq: 0, handshakeBeganAt: ManualClock.start,
                network: network, isBrowser: request.headers.contains("origin"), permit: permit)
            await sockets.value.drain()
            return .upgrade(to: "websocket", fields: handshake.fields) { sockets.value.open(opening, $0) }
        }
        return Application(router: try Router([route]))
    }
}
