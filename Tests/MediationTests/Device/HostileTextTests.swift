import ChildProcesses
import Contract
import Domain
import Foundation
import JSON
import SQL
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

/// Words of one person that command another one's terminal, and where they are shown.
@Suite("Hostile texts")
struct HostileTextTests {
    /// Clears the screen, names the window, forges a line, colours and reorders.
    private static let words =
        "pills\u{1B}[2J\u{1B}]0;owned\u{7}\r\n12:00  done  \u{9B}31m\u{202E}sllip\u{2066}\u{8}\u{7F}"
    private static let shown = "pills [2J ]0;owned  12:00  done   31msllip"

    private static func start(_ arguments: [String], home: String, input: String = "") throws -> ChildProcess {
        let program = try #require(NagzProgram.url)
        let process = try ChildProcess(program, ["device"] + arguments + ["--home", home], in: repository)
        process.input.write(Data(input.utf8))
        try process.input.close()
        return process
    }

    private static func output(_ arguments: [String], home: String, input: String = "") throws -> String {
        let process = try start(arguments, home: home, input: input)
        let text = ChildProcess.text(process.output)
        #expect(process.wait() == 0, "\(arguments)")
        return text
    }

    /// A family in which the guardian asks something of the child in these words.
    private static func family(on server: TestServer) async throws -> (home: Household, nag: NagResponse) {
        server.clock.set(to: SystemClock().now())
        let home = try await server.family()
        try await server.call(
            API.setChildCredentials, MemberPath(familyID: home.id, userID: home.child.id),
            ChildCredentialsSet(username: "cleo", pin: try PIN(wireText: "4821")), as: home.guardian)
        var order = server.order(for: home.child, in: home.id)
        order.description = words
        return (home, try await server.call(API.createNag, order, as: home.guardian))
    }

    @Test("a hostile text is shown in one line of a device's nags and syncs, without a control character")
    func terminal() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                let (home, nag) = try await Self.family(on: server)
                #expect(nag.description == Self.words, "they are stored as they are")
                _ = try Self.output(
                    [
                        "login", "--server", "http://127.0.0.1:\(server.port)", "--family-code", home.childCode,
                        "--username", "cleo",
                    ], home: folder, input: "4821\n")

                let watching = try Self.start(["sync", "--watch"], home: folder)
                var rounds = ""
                while !rounds.contains("pills") {
                    let more = watching.output.availableData
                    guard !more.isEmpty else { break }
                    rounds += String(decoding: more, as: UTF8.self)
                }
                watching.send(SIGTERM)
                watching.wait()
                let nags = try Self.output(["nags"], home: folder)
                for text in [rounds, nags] {
                    let line = text.split(separator: "\n").filter { $0.contains("pills") }
                    #expect(line.count == 1 && line[0].hasSuffix(Self.shown + "  "), "\(text.debugDescription)")
                    #expect(!text.split(separator: "\n").contains { $0.hasPrefix("12:00") })
                    #expect(
                        text.unicodeScalars.allSatisfy {
                            $0 == "\n" || $0.properties.generalCategory != .control && !$0.properties.isBidiControl
                        }, "\(text.debugDescription)")
                }

                let document = try Self.output(["nags", "--json"], home: folder)
                #expect(
                    document.unicodeScalars.allSatisfy {
                        $0 == "\n" || $0.properties.generalCategory != .control && !$0.properties.isBidiControl
                    })
                let parsed = try JSONValue(parsing: Array(document.utf8).span)
                #expect(
                    parsed.arrayValue?.first?["description"]?.stringValue == Self.words,
                    "a program reads them as they are")
            }
        }
    }

    @Test("a hostile text is sent in a notification as one line without reordering")
    func notification() async throws {
        try await TestHTTPServer.with { provider in
            try await TestServer.run(isOfActs: false) { server in
                let (home, nag) = try await Self.family(on: server)
                try await server.sql("DELETE FROM deliveries")
                try await server.delivery(of: nag.id, to: home.child, "nag_escalated", phase: .dueSoon)
                try await server.withWorker(provider.options()) { try await $0.run() }
                let received = try #require(try await provider.received().first)
                #expect(received["body"]?["text"]?.stringValue == Self.shown + "  ")
            }
        }
    }
}
