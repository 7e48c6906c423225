import Glibc
import Testing

@testable import HTTP

@Suite("Descriptors", .timeLimit(.minutes(10)))
struct DescriptorTests {
    @Test(
        "a server accepts as many connections as it has descriptors, and has some to refuse others with",
        arguments: [
            (1 << 20, 2, 20_000, 256), (20_612, 2, 20_000, 256), (20_000, 2, 19_388, 256), (4_096, 4, 3_500, 124),
            (1_024, 2, 810, 57), (1_024, 16, 812, 7), (164, 1, 56, 8), (103, 1, 3, 0), (100, 1, 1, 0), (20, 4, 1, 0),
        ])
    func fit(_ descriptors: Int, _ loops: Int, _ connections: Int, _ refusals: Int) {
        var limits = Limits()
        limits.fit(descriptors: descriptors, reserve: 100, loops: loops)
        #expect(limits.maxConnections == connections && limits.maxRefusalsPerLoop == refusals)
        #expect(limits.maxConnections + loops * limits.maxRefusalsPerLoop + 100 <= max(descriptors, 101))
    }

    @Test("a worker that finds no descriptor free looks again, and recovers by itself", arguments: [EMFILE, ENFILE])
    func exhaustion(_ number: Int32) async throws {
        let application = Application(router: try Router([.immediate(.get, "/") { _ in .text(.ok, "root") }]))
        let worker = try LoneWorker(application) {
            var calls = SocketCalls()
            var left = 3
            calls.accept = { listener in
                guard left > 0 else { return Socket.accept(listener) }
                left -= 1
                return (-number, .loopback)
            }
            return calls
        }
        defer { worker.end() }
        let port = try await worker.listen()
        let clients = (0..<3).map { _ in Client(port: port) }
        for client in clients {
            client.send("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(answers(in: await client.receiveAll()).map(\.status) == [200])
        }
    }
}
