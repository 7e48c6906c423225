import ChildProcesses
import Foundation
import LoopbackClient
import NagzAI
import Testing

@testable import ModelProviders

@Suite("Questions over a reused connection")
struct SentOnceTests {
    /// Lists its model, and closes the connection over which a question comes, without a word. It prints its port, and a
    /// line for each question.
    private static let server = """
        import json, socket, threading
        listener = socket.create_server(("127.0.0.1", 0))
        def serve(connection):
            while True:
                data = b""
                while b"\\r\\n\\r\\n" not in data:
                    piece = connection.recv(65536)
                    if not piece: return
                    data += piece
                if data.startswith(b"POST"):
                    print("question", flush=True)
                    return connection.shutdown(socket.SHUT_RDWR)
                body = json.dumps({"data": [{"id": "m"}]}).encode()
                connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: %d\\r\\n\\r\\n" % len(body) + body)
        print(listener.getsockname()[1], flush=True)
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """

    @Test("a question is not sent again when a kept connection turns out to be closed")
    func closedConnection() async throws {
        let process = try ChildProcess(
            URL(filePath: "/usr/bin/env"), ["python3", "-c", Self.server], in: URL(filePath: "/tmp"),
            hasErrorPipe: false)
        defer {
            process.send(SIGTERM)
            process.wait()
        }
        // Python writes the line break apart from the number.
        var line = ""
        while !line.hasSuffix("\n"), process.isRunning {
            line += String(decoding: process.output.availableData, as: UTF8.self)
        }
        let url = try #require(LoopbackURL("http://127.0.0.1:\(line.dropLast())"))
        let result = try await ModelHarness.onLoop { poller in
            let provider = HTTPModelProvider.openAICompatible(
                .localGateway, .device, .localLite, at: .loopback(LoopbackClient(poller), url), model: "m")
            provider.limits = .generous
            #expect(await provider.availability() == .available)
            return await outcome(provider)
        }
        #expect(result == "unreadable")
        process.send(SIGTERM)
        process.wait()
        #expect(ChildProcess.text(process.output) == "question\n")
    }
}
