import Audit
import ChildProcesses
import Contract
import Device
import Domain
import Foundation
import JSON
import LocalAI
import SQL
import SQLite
import Testing

@testable import Server
@testable import ServerTestKit

/// The commands of the device as a script meets them: what they print, and how they end.
@Suite("nagz device")
struct DeviceCommandTests {
    private struct Ended {
        let code: Int32?
        let output: String
        let complaint: String
    }

    private func run(_ arguments: [String], home: String, input: String = "") async throws -> Ended {
        let program = try #require(NagzProgram.url)
        let process = try ChildProcess(program, ["device"] + arguments + ["--home", home], in: repository)
        process.input.write(Data(input.utf8))
        try process.input.close()
        let (output, complaint) = (ChildProcess.text(process.output), ChildProcess.text(process.errors))
        return Ended(code: process.wait(), output: output, complaint: complaint)
    }

    @Test("a series' next instance is upcoming, and cannot be completed before it opens, also offline")
    func upcoming() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                server.clock.set(to: SystemClock().now().flooredToSecond)
                let home = try await server.family()
                let first = try await server.nag(from: home.guardian, to: home.child, every: .daily)
                _ = try await server.complete(first.id, as: home.child)
                let device = try TestDevice(server, home.child, in: folder)
                try await device.sync()
                let listed = try await run(["nags", "--json"], home: folder)
                let nags = try JSONValue(parsing: Array(listed.output.utf8).span).arrayValue ?? []
                let next = try #require(nags.first)
                #expect(nags.count == 1 && next["opens_at"]?.stringValue == first.dueAt.rfc3339)
                #expect(try await run(["nags"], home: folder).output.contains("upcoming"))
                let name = String(try #require(next["id"]?.stringValue).suffix(8))
                let early = try await run(["complete", name, "--offline"], home: folder)
                #expect(early.code == 65 && early.complaint.contains("too early"))
                #expect(try await run(["outbox"], home: folder).output == "the outbox is empty\n")
            }
        }
    }

    @Test("a child signs in, syncs, lists, excuses, completes, asks and signs out with nagz device")
    func day() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                server.clock.set(to: SystemClock().now())
                let home = try await server.family()
                try await server.call(
                    API.setChildCredentials, MemberPath(familyID: home.id, userID: home.child.id),
                    ChildCredentialsSet(username: "cleo", pin: try PIN(wireText: "4821")), as: home.guardian)
                let nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                let (name, url) = (String(nag.description.suffix(8)), "http://127.0.0.1:\(server.port)")
                let login = ["login", "--server", url, "--family-code", home.childCode, "--username", "cleo"]
                #expect(try await run(login, home: folder, input: "0000\n").code == 77)
                let signedIn = try await run(login, home: folder, input: "4821\n")
                #expect(signedIn.code == 0 && signedIn.output.contains("Cleo (child)"))
                #expect(try await run(login, home: folder, input: "4821\n").code == 64, "signed in already")
                #expect(try await run(["tone", name], home: folder).code == 66, "nothing known yet")
                #expect(try await run(["sync"], home: folder).output.hasPrefix("synced: "))
                #expect(try await run(["nags"], home: folder).output.contains(name))
                let tone = try await run(["tone", name, "--json"], home: folder)
                let answer = try JSONValue(parsing: Array(tone.output.utf8).span)
                #expect(
                    answer["place"] == "device" && answer["reason"] == "fresh" && answer["answer"]?["tone"] == "neutral"
                )
                for command in ["coach", "predict"] {
                    #expect(try await run([command, name], home: folder).code == 0, "\(command)")
                }
                #expect(try await run(["patterns"], home: folder).code == 0)
                #expect(try await run(["push-back", name, "--local"], home: folder).code == 77)
                #expect(
                    try await run(["push-back", name], home: folder).code == 77,
                    "the creator's and guardians' to ask for")
                #expect(try await run(["excuse", name, "I was busy, walrus", "--offline"], home: folder).code == 0)
                let worded = ["excuse", name, "I forgot, otter", "--with-words", "--offline"]
                #expect(try await run(worded, home: folder).code == 0)
                #expect(try await run(["complete", name, "--offline"], home: folder).output.hasPrefix("saved on this"))
                #expect(try await run(["logout"], home: folder).code == 65, "not everything was uploaded")
                #expect(try await run(["outbox"], home: folder).output.split(separator: "\n").count == 3)
                #expect(try await run(["sync"], home: folder).output.contains("uploaded: 3"))
                let excuses = try await server.rows("SELECT text, summary, category FROM excuses ORDER BY category")
                #expect(excuses.map { $0["category"] } == ["forgot", "time_conflict"])
                #expect(
                    excuses.map { $0["text"] } == ["I forgot, otter", .null],
                    "words stay here unless they are to be sent")
                #expect(excuses.allSatisfy { $0["summary"]?.stringValue?.contains("walrus") == false })
                #expect(try await run(["complete", name], home: folder).code == 65, "done already")
                #expect(try await run(["complete", "nothing"], home: folder).code == 66)
                let status = try await run(["status", "--json"], home: folder)
                let cachedFamily = try JSONValue(parsing: Array(status.output.utf8).span)
                #expect(
                    cachedFamily["is_fresh"] == true && cachedFamily["waiting"] == 0
                        && cachedFamily["counts"]?["nags"] == 1)
                let session = try #require(try SessionFile(path: folder + "/session.json").load())
                for token in [session.accessToken, session.refreshToken] {
                    #expect(!(signedIn.output + signedIn.complaint + status.output).contains(token.wireText))
                }
                #expect(try await run(["logout"], home: folder).code == 0)
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
                #expect(try await run(["sync"], home: folder).code == 77)
            }
        }
    }

    @Test("a device secret stays after a logout, and is removed by the next sign-in to the same server")
    func deviceSecret() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                server.clock.set(to: SystemClock().now())
                try await server.signUp("pia@example.org")
                let login = ["login", "--server", "http://127.0.0.1:\(server.port)", "--email", "pia@example.org"]
                for _ in 0..<2 {
                    #expect(try await run(login, home: folder, input: "correct horse\n").code == 0)
                    #expect(try await run(["logout"], home: folder).code == 0)
                    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["device-secret.json"])
                }
                // One of the sign-up, one of the device.
                #expect(try await server.rows("SELECT secret_hash FROM device_secrets").count == 2)
            }
        }
    }

    @Test("a deleted account leaves nothing on the device, and an ended session leaves everything")
    func deletion() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                server.clock.set(to: SystemClock().now())
                let home = try await server.family()
                // A child's account is a guardian's to delete; somebody with a sign-in of their own deletes theirs.
                let (email, password) = ("pia@example.org", "plenty of 7 different letters")
                let account = try await server.call(
                    API.signUp,
                    SignupRequest(
                        email: try EmailAddress(wireText: email), password: Secret(password), displayName: "Pia"))
                let joined = try await server.call(
                    "POST", "/api/v1/families/join", token: account.accessToken.wireText,
                    body: ["invite_code": .string(home.inviteCode)])
                #expect(joined.status == 201)
                let (own, other) = (folder + "/own", folder + "/other")
                for path in [own, other] {
                    let login = ["login", "--server", "http://127.0.0.1:\(server.port)", "--email", email]
                    #expect(try await run(login, home: path, input: "\(password)\n").code == 0)
                    #expect(try await run(["sync"], home: path).code == 0)
                }
                let nag = try await server.call(
                    API.createNag,
                    NagCreate(
                        familyID: home.id, recipientID: account.user.id, dueAt: server.clock.now() + .hours(2),
                        category: .chores, doneDefinition: .acknowledgeOnly), as: home.guardian
                ).id
                #expect(try await run(["note", nag.description, "hello", "--offline"], home: other).code == 0)
                #expect(try await run(["delete-account"], home: own, input: "no\n").code == 65)
                #expect(try await run(["status"], home: own).code == 0)
                let deleted = try await run(["delete-account"], home: own, input: "delete\n")
                #expect(deleted.code == 0, "\(deleted.complaint)")
                #expect(try FileManager.default.contentsOfDirectory(atPath: own).isEmpty)
                // The other device learns of it when it comes by.
                let told = try await run(["sync"], home: other)
                #expect(told.code == 77 && told.complaint.contains("deleted"))
                #expect(try FileManager.default.contentsOfDirectory(atPath: other).isEmpty)

                let device = try TestDevice(server, home.participant, in: folder + "/pat")
                try await device.sync()
                try await server.sql(
                    "UPDATE sessions SET revoked_at = \(server.clock.now()) WHERE id = \(home.participant.session)")
                let over = try await run(["sync"], home: folder + "/pat")
                #expect(over.code == 77 && over.complaint.contains("login"))
                #expect(try device.folder.sessionFile.load() != nil && device.cache.counts().members > 0)
                #expect(try await run(["delete-account", "--yes"], home: folder + "/pat").code == 77)
                #expect(try device.folder.sessionFile.load() != nil)
            }
        }
    }

    @Test("a server with another log than the device knows is refused, and the device can begin anew")
    func otherLog() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                server.clock.set(to: SystemClock().now())
                let home = try await server.family()
                for _ in 0..<5 { try await server.write([.preferencesChanged], by: home.guardian, in: home.id) }
                try await server.waitUntilSequenced()
                _ = try TestDevice(server, home.participant, in: folder)
                #expect(try await run(["sync"], home: folder).code == 0)
                let shown = try await run(["status", "--json"], home: folder)
                let log = try JSONValue(parsing: Array(shown.output.utf8).span)["log"]
                let key = try #require(TestServer.auditKeyring?.signingKeys.first)
                #expect(log?["origin"] == .string(key.verifier.name))
                #expect(try #require(log?["size"]?.integerValue) >= 5)
                for _ in 0..<3 { try await server.write([.preferencesChanged], by: home.guardian, in: home.id) }
                try await server.waitUntilSequenced()
                #expect(try await run(["sync"], home: folder).code == 0, "an honest log grows")

                // The same address later, with the same keys over an empty database.
                try await TestServer.run { anew in
                    anew.clock.set(to: SystemClock().now())
                    let family = try await anew.family()
                    try await anew.setPIN(family)
                    try await anew.waitUntilSequenced()
                    let moved = try TestDevice(anew, family.participant, in: folder)
                    let refused = try await run(["sync"], home: folder)
                    #expect(refused.code == 79 && refused.complaint.split(separator: "\n").count == 1)
                    #expect(refused.complaint.contains("logout"))
                    #expect(try moved.cache.counts().members > 0 && moved.cache.cachedFamily(family.id) == nil)
                    #expect(try await run(["logout"], home: folder).code == 0)
                    let login = [
                        "login", "--server", "http://127.0.0.1:\(anew.port)", "--family-code", family.childCode,
                        "--username", "Cleo",
                    ]
                    #expect(try await run(login + ["--log-key", "x"], home: folder).code == 64)
                    let key = try #require(TestServer.auditKeyring?.signingKeys.first).verifier.text
                    #expect(try await run(login + ["--log-key", key], home: folder, input: "4711\n").code == 0)
                    #expect(try await run(["sync"], home: folder).code == 0)
                }
            }
        }
    }

    @Test("an unreachable server, a damaged or newer cache and wrong usage each have an exit code and one line")
    func faults() async throws {
        try await TestServer.run { server in
            try await withTemporaryFolder { folder in
                server.clock.set(to: SystemClock().now())
                let home = try await server.family()
                let nag = try await server.nag(from: home.guardian, to: home.child, in: home.id)
                let name = String(nag.description.suffix(8))
                var device: TestDevice? = try TestDevice(server, home.child, in: folder)
                try await device?.sync()
                let file = try #require(device?.folder.sessionFile)
                let session = try #require(try file.load())
                device = nil
                var away = session
                away.server = try #require(ServerAddress("http://127.0.0.1:1"))
                try file.save(away)
                let offline = try await run(["sync"], home: folder)
                #expect(offline.code == 69 && offline.complaint.split(separator: "\n").count == 1)
                #expect(try await run(["tone", name], home: folder).code == 0)
                let done = try await run(["complete", name], home: folder)
                #expect(done.code == 0 && done.output.contains("the next sync uploads it"))
                try file.save(session)

                let cache = folder + "/cache.db"
                try Data(repeating: 7, count: 8_192).write(to: URL(filePath: cache))
                for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: cache + suffix) }
                let rebuilt = try await run(["sync"], home: folder)
                #expect(rebuilt.code == 0 && rebuilt.complaint.contains("damaged"))
                #expect(rebuilt.output.contains("uploaded: 1"), "the outbox is a file of its own")

                try SQLiteDatabase(path: cache).run(script: "PRAGMA user_version = 99")
                #expect(try await run(["sync"], home: folder).code == 78)
                for usage in [["fly"], ["sync", "--mode", "x"], ["complete"], ["tone"], ["login", "--email"]] {
                    #expect(try await run(usage, home: folder).code == 64 || usage == ["tone"], "\(usage)")
                }
                #expect(try await run(["--help"], home: folder).output.contains("EXIT CODES"))
            }
        }
    }
}
