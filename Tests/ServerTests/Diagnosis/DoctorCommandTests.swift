import ChildProcesses
import Foundation
import JSON
import Reactor
import TestHTTPServer
import Testing

@testable import Server
@testable import ServerTestKit

@Suite("nagz doctor")
struct DoctorCommandTests {
    /// What is wrong with a server, and what doctor says of it.
    struct Fault: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let check: String
        let says: [String]
        var options: [String] = []
        var status: Int32 = 78
        var changes: @Sendable (OperatorScene) async throws -> [String: String] = { _ in [:] }

        init(
            _ description: String, _ check: String, _ says: [String], options: [String] = [], status: Int32 = 78,
            changes: @escaping @Sendable (OperatorScene) async throws -> [String: String] = { _ in [:] }
        ) {
            (testDescription, self.check, self.says, self.options) = (description, check, says, options)
            (self.status, self.changes) = (status, changes)
        }
    }

    static let faults = [
        Fault(
            "two wrong options", "configuration",
            ["2 errors", "--port takes a whole number", "--scheduler takes on or off"],
            options: ["--port", "70000", "--scheduler", "maybe"]
        ),
        Fault("no database", "configuration", ["set DATABASE_URL"]) { _ in ["DATABASE_URL": ""] },
        Fault(
            "no folder of migrations", "configuration", ["/nowhere", "--migrations"],
            options: ["--migrations", "/nowhere"]),
        Fault("a key that others may read", "token key", ["users other than its owner", "chmod 600"]) { scene in
            try scene.write("\(OperatorScene.key)\n", to: "token", mode: 0o644)
            return [:]
        },
        Fault("a key that is too short", "token key", ["64 or more hexadecimal digits"]) { scene in
            try scene.write("abcd\n", to: "token")
            return [:]
        },
        Fault("no key", "audit key", ["cannot be read", "NAGZ_AUDIT_KEY_FILE"]) { scene in
            try FileManager.default.removeItem(atPath: scene.folder + "/audit")
            return [:]
        },
        Fault("no key is named", "audit key", ["NAGZ_AUDIT_KEY_FILE is not set"]) { _ in ["NAGZ_AUDIT_KEY_FILE": ""] },
        Fault(
            "a secret that is too short", "webhook secret", ["32 characters"], options: ["--sms", "http://127.0.0.1/"]
        ) {
            scene in
            try scene.write("short\n", to: "webhook")
            return ["NAGZ_WEBHOOK_SECRET_FILE": scene.folder + "/webhook"]
        },
        Fault("no PostgreSQL", "database", ["start PostgreSQL"], status: 69) { _ in ["DATABASE_URL": "host=/nowhere"] },
        Fault("a superuser", "role", ["a superuser", "CREATE ROLE nagz_serve"]) { ["DATABASE_URL": $0.url] },
        Fault("the owner", "role", ["which owns"]) { ["DATABASE_URL": TestLogin.owner.url($0.url)] },
        Fault("a standby that is none", "standby", ["not in hot standby mode", "--standby"]) {
            ["NAGZ_STANDBY": TestLogin.server.url($0.url)]
        },
        Fault("a missing grant", "grants", ["lacks INSERT on audit_entry", "nagz migrate"]) { scene in
            try await scene.sql("REVOKE INSERT ON audit_entry FROM nagz_server")
            return [:]
        },
        Fault("a grant too many", "grants", ["may do more", "UPDATE on audit_entry"]) { scene in
            try await scene.sql("GRANT UPDATE ON audit_entry TO nagz_server")
            return [:]
        },
        Fault("a pending migration", "schema", ["lacks 1 migration", "run nagz migrate"]) { scene in
            try await scene.sql(
                "DELETE FROM schema_migrations WHERE number = (SELECT max(number) FROM schema_migrations)")
            return [:]
        },
        Fault("a newer database", "schema", ["newer than this program", "install the newer program"]) { scene in
            try await scene.sql("INSERT INTO schema_migrations VALUES (9999, 'later', '')")
            return [:]
        },
        Fault("a changed migration", "schema", ["changed after it was applied", "restore the file"]) { scene in
            try await scene.sql("UPDATE schema_migrations SET checksum = sha256('x') WHERE number = 3")
            return [:]
        },
        Fault("no folder of the checkpoint file", "checkpoint file", ["cannot be written"]) { _ in
            ["NAGZ_AUDIT_CHECKPOINT_FILE": "/nowhere/checkpoint"]
        },
        Fault("no checkpoint in the file", "checkpoint file", ["does not hold a checkpoint", "restore it"]) { scene in
            try scene.write("half a note", to: "audit.checkpoint")
            return [:]
        },
        Fault("a network that webhooks may not reach", "push", ["private network", "--delivery-networks"]) { scene in
            try scene.write("\(OperatorScene.key)\n", to: "webhook")
            return ["NAGZ_WEBHOOK_SECRET_FILE": scene.folder + "/webhook"]
        },
    ]

    @Test("nagz doctor says of each fault where it is and what to do", arguments: faults)
    func tells(fault: Fault) async throws {
        try await OperatorScene.run { scene in
            let changes = try await fault.changes(scene)
            var options = fault.options
            if fault.check == "push" { options += ["--push", "http://127.0.0.1:9/"] }
            let run = try scene.check("doctor", ["--json"] + options, changes)
            let result = try #require(try run.result(fault.check), "\(run.output)")
            #expect(run.status == fault.status && result.status == "failed")
            for text in fault.says {
                #expect("\(result.text)\n\(result.advice)".contains(text), "\(result)")
            }
            #expect(!result.advice.isEmpty && !run.output.contains(OperatorScene.key))
            // The other checks are not held up by it.
            #expect(try run.result("descriptors") != nil)
            let failed = try JSONValue(parsing: Array(run.output.utf8).span)["failed"]?.doubleValue
            let others: Set = [
                "no database", "no key", "no key is named", "no PostgreSQL", "the owner", "a superuser",
                "no folder of the checkpoint file",
            ]
            #expect(failed == 1 || others.contains(fault.testDescription), "\(run.output)")
        }
    }

    @Test("nagz doctor warns of what a server can run with, and ends with 0")
    func warns() async throws {
        try await OperatorScene.run { scene in
            let before = try await scene.everything()
            let run = try scene.check("doctor", ["--json"], shell: "ulimit -Sn 300; ulimit -Hn 400; ")
            #expect(try await scene.everything() == before, "not even a lock file is made")
            #expect(run.status == 0 && run.errors.isEmpty, "\(run.output)")
            for (check, text) in [
                ("descriptors", "300, which nagz serve raises to 400"), ("checkpoint file", "is missing"),
                ("audit log", "no checkpoint is signed yet"),
            ] {
                let result = try #require(try run.result(check))
                #expect(result.status == "warning" && result.text.contains(text) && !result.advice.isEmpty, "\(result)")
            }
            #expect(try run.result("descriptors")?.advice.contains("LimitNOFILE=") == true)
            // Root alone can give a file away.
            if chown(scene.folder + "/token", 65_534, 65_534) == 0 {
                let result = try #require(try scene.check("doctor", ["--json"]).result("token key"))
                #expect(result.status == "warning" && result.text.contains("not to the user"), "\(result)")
            }
        }
    }

    @Test("nagz doctor and audit accept name instances' checkpoint files where the named one is missing")
    func instances() async throws {
        try await OperatorScene.run { scene in
            for port in [9_801, 9_800] { try scene.write("of another instance", to: "audit-\(port).checkpoint") }
            let names = "audit-9800.checkpoint, audit-9801.checkpoint"
            let result = try #require(try scene.check("doctor", ["--json"]).result("checkpoint file"))
            #expect(
                result.status == "warning" && result.text.hasSuffix("audit.checkpoint” is missing, but \(names)"),
                "\(result)")
            #expect(result.advice.contains("NAGZ_AUDIT_CHECKPOINT_FILE"))
            let accept = try scene.check(
                "audit", ["accept"], ["NAGZ_OWNER_DATABASE_URL": TestLogin.owner.url(scene.url)])
            #expect(accept.status == 78 && accept.errors.contains("but \(names): name each"), "\(accept)")
        }
    }

    @Test("nagz doctor checks providers without sending words or a notification")
    func providers() async throws {
        try await TestHTTPServer.with { provider in
            try await OperatorScene.run { scene in
                let changes = [
                    "NAGZ_WEBHOOK_SECRET_FILE": provider.webhookSecret, "NAGZ_MODEL_NAME": "test-model",
                    "NAGZ_MODEL_URL": "\(provider.url())/model/good",
                ]
                let networks = ["--json", "--delivery-networks", "127.0.0.0/8"]
                let hooks = ["--push", "\(provider.url())/hook/fine", "--sms", "\(provider.url())/hello"]
                let fine = try scene.check("doctor", networks + hooks, changes)
                #expect(fine.status == 0)
                for check in ["push", "sms", "model gateway"] {
                    #expect(try fine.result(check)?.status == "ok", "\(fine.output)")
                }
                let text = try await RawClient.send(
                    Array("GET /requests HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8),
                    to: UInt16(provider.port)
                ).text
                // One request to the webhook, and one for the list of models; neither has a body.
                #expect(
                    text.ranges(of: "\"path\"").count == 2 && text.ranges(of: "\"body\": null").count == 2, "\(text)")

                let away = ["--push", "http://127.0.0.1:1/", "--sms", "http://127.0.0.1:1/"]
                for (url, name, says) in [
                    ("\(provider.url())/model/list-without", "test-model", "does not list test-model"),
                    ("http://127.0.0.1:1", "test-model", "unreachable"),
                ] {
                    let broken = try scene.check(
                        "doctor", networks + away,
                        changes.merging(["NAGZ_MODEL_URL": url, "NAGZ_MODEL_NAME": name]) { $1 })
                    #expect(broken.status == 0, "the rules answer, and notifications wait")
                    for check in ["push", "sms"] {
                        let result = try #require(try broken.result(check))
                        #expect(result.status == "warning" && result.text.contains("cannot be reached"), "\(result)")
                    }
                    let gateway = try #require(try broken.result("model gateway"))
                    #expect(gateway.status == "warning" && gateway.text.contains(says), "\(gateway)")
                }
                let none = try scene.check("doctor", ["--json", "--deliveries", "off"] + away, changes)
                #expect(try none.result("push")?.status == "not_configured")
            }
        }
    }

    @Test("nagz doctor reports all faults of a configuration file, each once")
    func configurationFile() async throws {
        try await OperatorScene.run { scene in
            try scene.write("port = 70000\nnothing = 1\ntoken-key-file = \(scene.folder)/none\n", to: "nagz.conf")
            let run = try scene.check("doctor", ["--config", scene.folder + "/nagz.conf"], ["NAGZ_TOKEN_KEY_FILE": ""])
            #expect(run.status == 78 && run.errors.hasPrefix("nagz: 2 checks failed, "), "\(run)")
            for text in [":1: port takes", ":2: unknown option", "2 errors"] {
                #expect(run.output.ranges(of: text).count == 1, "\(run.output)")
            }
            #expect(run.output.ranges(of: "\(scene.folder)/none").count == 1)
        }
    }

    @Test("nagz doctor colours the status on a terminal only, and not with NO_COLOR")
    func colours() async throws {
        try await OperatorScene.run { scene in
            let program = try #require(NagzProgram.url).path()
            func onTerminal(_ changes: [String: String]) throws -> String {
                let process = try ChildProcess(
                    URL(filePath: "/usr/bin/script"), ["-qec", "\(program) doctor", "/dev/null"], in: repository,
                    environment: scene.environment.merging(["TERM": "xterm"]) { $1 }.merging(changes) { $1 })
                defer { process.wait() }
                return ChildProcess.text(process.output)
            }
            let coloured = try onTerminal([:])
            #expect(coloured.contains("\u{1B}[32mok") && coloured.contains("\u{1B}[33mwarning"), "\(coloured)")
            #expect(
                try onTerminal(["NO_COLOR": "1"]).contains("ok  ") && !onTerminal(["NO_COLOR": "1"]).contains("\u{1B}"))
            #expect(try !onTerminal(["TERM": "dumb"]).contains("\u{1B}"))
            let redirected = try scene.check()
            #expect(redirected.output.contains("ok  ") && !redirected.output.contains("\u{1B}"))
        }
    }
}
