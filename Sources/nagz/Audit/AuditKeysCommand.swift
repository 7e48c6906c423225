import Audit
import Foundation
import Server

/// `nagz audit keys`: the public keys to pin, and the file with the secret ones.
enum AuditKeysCommand {
    static func run(_ arguments: inout Arguments) async throws {
        switch arguments.next() {
        case nil, "list": try list(arguments)
        case "new": try make(&arguments)
        case "rotate": try rotate("sign", arguments)
        case "rotate-master": try await rotateMaster(&arguments)
        case let verb?: throw Stop(.usage, "there is no “audit keys \(verb)”; nagz audit --help tells what there is")
        }
    }

    private static func list(_ arguments: Arguments) throws {
        try arguments.finish()
        for key in try AuditKeyFile.read().signing { print(key.verifier.text) }
    }

    private static func make(_ arguments: inout Arguments) throws {
        guard let origin = try arguments.value("--origin"), VerifierKey.isName(origin) else {
            throw Stop(
                .usage, "--origin NAME is needed: the log's name, such as nagz.example.org/1, without blanks and +")
        }
        guard let path = arguments.next() else { throw Stop(.usage, "nagz audit keys new takes a file to make") }
        try arguments.finish()
        let text = """
            # The audit trail's keys: “sign” signs its log, “seal” wraps the keys of people. The newest of each comes first.
            # Whoever has this file can sign a false log; without it the bodies of entries cannot be read.
            origin \(origin)
            sign \(secret())
            seal \(secret())

            """
        try AuditKeyFile.write(text, to: path, replacing: false)
        for key in try TrailKeys(text: text).signing { print(key.verifier.text) }
    }

    /// Puts a new line of that kind above the others.
    private static func rotate(_ kind: String, _ arguments: Arguments) throws {
        try arguments.finish()
        let (path, old) = (try AuditKeyFile.path(), try AuditKeyFile.read())
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let place = lines.firstIndex { $0.split(whereSeparator: \.isWhitespace).first == kind[...] } ?? lines.count
        lines.insert("\(kind) \(secret())", at: place)
        try AuditKeyFile.write(lines.joined(separator: "\n"), to: path, replacing: true)
        guard kind == "sign" else { return }
        print(try AuditKeyFile.read().signing[0].verifier.text)
        print(
            "restart the servers; \(old.signing[0].verifier.text) hands over to it and may be taken out of the file later"
        )
    }

    private static func rotateMaster(_ arguments: inout Arguments) async throws {
        let url = try arguments.databaseURL()
        try rotate("seal", arguments)
        let count = try await Rewrapping.run(databaseURL: url, keys: try AuditKeyFile.read())
        print("\(count) keys are wrapped by the new master key")
        print(
            "restart the servers, run this again, then take the old “seal” lines out of the file and destroy their copies:"
        )
        print("from then on no backup from before can be read of people who were erased since")
    }

    /// 32 random octets as hexadecimal digits.
    private static func secret() -> String { hexadecimal(SystemRandomness().bytes(32)) }
}
