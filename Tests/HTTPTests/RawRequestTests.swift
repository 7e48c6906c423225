import Testing

@testable import HTTP

@Suite("Raw requests")
struct RawRequestTests {
    @Test("raw requests get their exact statuses in process", arguments: rawRequests)
    func inProcess(_ raw: RawRequest) throws {
        #expect(try statuses(raw, cutAt: nil, sampleApplication()) == raw.statuses)
    }

    @Test("raw requests get the same statuses wherever they are cut", arguments: rawRequests)
    func cut(_ raw: RawRequest) throws {
        let application = try sampleApplication()
        for cut in cuts(of: raw.wire) { #expect(try statuses(raw, cutAt: cut, application) == raw.statuses) }
    }

    @Test("raw requests are parsed the same wherever they are cut", arguments: rawRequests)
    func splitInvariance(_ raw: RawRequest) {
        let whole = transcript([raw.wire[...]])
        for cut in cuts(of: raw.wire) { #expect(transcript([raw.wire[..<cut], raw.wire[cut...]]) == whole) }
        let limits = Limits()
        #expect(transcript(raw.wire.indices.map { raw.wire[$0...$0] }, limits: limits) == whole)
    }

    @Test("raw requests get their exact statuses over a socket")
    func live() async throws {
        try await withServer(try sampleApplication()) { _, port in
            for raw in rawRequests {
                let client = Client(port: port)
                client.send(raw.wire)
                client.endSending()
                let statuses = answers(in: await client.receiveAll()).map(\.status)
                #expect(statuses == raw.statuses, "\(raw.name)")
            }
        }
    }

    /// Every boundary of a short input, and those near the ends and the limits of a long one.
    private func cuts(of wire: [UInt8]) -> [Int] {
        guard wire.count > 600 else { return Array(wire.indices) }
        return Array(0..<80) + Array(8180..<8230).filter { $0 < wire.count } + Array(wire.count - 80..<wire.count)
    }

    private func statuses(_ raw: RawRequest, cutAt cut: Int?, _ application: Application) throws -> [Int] {
        let connection = try ScriptedConnection(application)
        if let cut {
            connection.receive(Array(raw.wire[..<cut]))
            connection.receive(Array(raw.wire[cut...]))
        } else {
            connection.receive(raw.wire)
        }
        connection.endInput()
        return answers(in: connection.output).map(\.status)
    }
}
