import Audit
import Foundation
import Server

/// `nagz audit keys`: prints the public keys to pin, and manages the file with the secret keys.
enum AuditKeysCommand {
    static func run(_ arguments: inout Arguments) async throws {
        switch arguments.takeNext() {
        case nil, "list": try printPublicKeys(arguments)
        case "new": try createKeyFile(&arguments)
        case "rotate": try rotateSigningKey(arguments)
        case "rotate-master": try await rotateMasterKey(&arguments)
        case let command?: throw Commands.unknownCommandError(["audit", "keys", command])
        }
    }

    private static func printPublicKeys(_ arguments: Arguments) throws {
        try arguments.finish()
        for key in try AuditKeyFile.read(arguments.givenOptions).signingKeys { print(key.verifier.text) }
    }

    private static func createKeyFile(_ arguments: inout Arguments) throws {
        guard let origin = try arguments.takeValue("--origin"), VerifierKey.isValidName(origin) else {
            throw Stop(
                .usage, "--origin NAME is required: the log's name, such as nagz.example.org/1, without spaces and +")
        }
        guard let path = arguments.takeNext() else { throw Stop(.usage, "nagz audit keys new takes a file to create") }
        try arguments.finish()
        let text = """
            # The audit log's keys: “sign” signs its log, “seal” wraps the keys of people. The newest of each comes first.
            # Whoever has this file can sign a false log; without it the bodies of entries cannot be read.
            origin \(origin)
            sign \(newSecretKey())
            seal \(newSecretKey())

            """
        try AuditKeyFile.write(text, to: path, replacing: false)
        for key in try AuditKeyring(text: text).signingKeys { print(key.verifier.text) }
    }

    /// Inserts a new signing key into the key file, before the present ones.
    private static func rotateSigningKey(_ arguments: Arguments) throws {
        try arguments.finish()
        let old = try AuditKeyFile.read(arguments.givenOptions)
        try editKeyFile(arguments.givenOptions) { lines in
            lines.insert("sign \(newSecretKey())", at: lines.firstIndex { isOfKind("sign", $0) } ?? lines.count)
        }
        print(try AuditKeyFile.read(arguments.givenOptions).signingKeys[0].verifier.text)
        print(
            "restart the servers; \(old.signingKeys[0].verifier.text) then hands over to it, and may be removed from the file later"
        )
    }

    /// Rotates the master key in three steps, with a restart of all servers between them, so that no server reads a key
    /// that it cannot unwrap. Each step can be repeated. Without a step it only prints the state.
    private static func rotateMasterKey(_ arguments: inout Arguments) async throws {
        let steps = ["--new", "--wrap", "--retire"].filter { arguments.takeFlag($0) }
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let given = arguments.givenOptions
        do {
            switch steps {
            case []: try await printMasterKeys(url, given)
            case ["--new"]: try addMasterKey(given)
            case ["--wrap"]: try await rewrapWithNextMasterKey(url, given)
            case ["--retire"]: try await retireOldMasterKeys(url, given)
            default: throw Stop(.usage, "pass only one of --new, --wrap and --retire")
            }
        } catch let fault as Rewrapping.KeysInUse {
            throw Stop(.configuration, fault.description)
        } catch let fault as Rewrapping.UnknownMaster {
            throw Stop(.configuration, fault.description)
        }
    }

    private static func printMasterKeys(_ url: String, _ given: GivenOptions) async throws {
        let keys = try AuditKeyFile.read(given)
        let keyCounts = try await Rewrapping.keyCounts(databaseURL: url)
        for (index, master) in keys.masterKeys.enumerated() {
            let count = keyCounts.first { $0.master == master.id }?.keys ?? 0
            let role = index == 0 ? "in use" : master == keys.nextMaster ? "next" : "to retire"
            print("\(hexadecimal(master.id))  \(counted(count, "key")), \(role)")
        }
        for unknown in keyCounts where !keys.masterKeys.contains(where: { $0.id == unknown.master }) {
            print("\(hexadecimal(unknown.master))  \(counted(unknown.keys, "key")), NOT IN THE FILE")
        }
        print("next: \(keys.nextMaster != nil ? "--wrap" : keys.masterKeys.count > 1 ? "--retire" : "--new")")
    }

    private static func addMasterKey(_ given: GivenOptions) throws {
        let keys = try AuditKeyFile.read(given)
        guard keys.masterKeys.count == 1 else {
            throw Stop(.usage, "there is already a second master key: continue with --wrap or --retire")
        }
        try editKeyFile(given) {
            $0.insert("next \(newSecretKey())", at: ($0.firstIndex { isOfKind("seal", $0) } ?? 0) + 1)
        }
        print("a new master key is in the file, and wraps no key yet: restart all servers, then run --wrap")
    }

    /// Puts the next master key into use in the file, and wraps all keys of people with it.
    private static func rewrapWithNextMasterKey(_ url: String, _ given: GivenOptions) async throws {
        try editKeyFile(given) { lines in
            guard let nextIndex = lines.firstIndex(where: { isOfKind("next", $0) }) else { return }
            let line = "seal" + lines.remove(at: nextIndex).trimmingPrefix(while: \.isWhitespace).dropFirst(4)
            lines.insert(line, at: lines.firstIndex { isOfKind("seal", $0) } ?? lines.count)
        }
        let keys = try AuditKeyFile.read(given)
        guard keys.masterKeys.count > 1 else { throw Stop(.usage, "there is only one master key: begin with --new") }
        let count = try await Rewrapping.run(databaseURL: url, keys: keys)
        print("wrapped \(counted(count, "key")) with the new master key: restart all servers, then run --retire")
    }

    /// Makes the database refuse the old master keys, and removes them from the file.
    private static func retireOldMasterKeys(_ url: String, _ given: GivenOptions) async throws {
        let keys = try AuditKeyFile.read(given)
        guard keys.nextMaster == nil else {
            throw Stop(.usage, "the new master key is not in use yet: run --wrap first")
        }
        guard keys.masterKeys.count > 1 else {
            return print("there is only one master key: there is nothing to retire")
        }
        try await Rewrapping.retireOldMasters(databaseURL: url, keys: keys)
        try editKeyFile(given) { lines in
            let first = lines.firstIndex { isOfKind("seal", $0) }
            lines = lines.enumerated().filter { !isOfKind("seal", $0.element) || $0.offset == first }.map(\.element)
        }
        print(
            "removed \(counted(keys.masterKeys.count - 1, "old master key")) from the file; the database refuses them")
        print(
            "destroy every other copy: then no older backup shows anything about people who were erased since")
    }

    private static func isOfKind(_ kind: String, _ line: String) -> Bool {
        line.split(whereSeparator: \.isWhitespace).first == kind[...]
    }

    private static func editKeyFile(_ given: GivenOptions, _ change: (inout [String]) -> Void) throws {
        let path = try AuditKeyFile.path(given)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        change(&lines)
        try AuditKeyFile.write(lines.joined(separator: "\n"), to: path, replacing: true)
    }

    /// Returns 32 random bytes as hexadecimal digits.
    private static func newSecretKey() -> String { hexadecimal(SystemRandomness().bytes(32)) }
}
