import Audit
import Foundation
import Server

/// Reads and writes the audit log's key file, which the option `audit-key-file` names.
enum AuditKeyFile {
    static func path(_ given: GivenOptions) throws -> String {
        guard let path = given.value(of: Options.auditKeyring)?.text else { throw missingKeysError }
        return path
    }

    private static let missingKeysError = Stop(
        .configuration, "no audit keys: set NAGZ_AUDIT_KEY_FILE to a file that “nagz audit keys new” made")

    static func read(_ given: GivenOptions) throws -> AuditKeyring {
        guard let keyring = try given[Options.auditKeyring] else { throw missingKeysError }
        return keyring
    }

    @Sendable
    static func read(_ path: String) throws -> AuditKeyring {
        let text = try KeyFile.read(path, name: "the audit key file")
        do {
            return try AuditKeyring(text: text)
        } catch {
            throw Stop(.configuration, "the audit key file “\(path)” is wrong: \(error)")
        }
    }

    /// Returns the file of the newest checkpoint: beside the keys, unless configured otherwise.
    static func checkpointFile(_ given: GivenOptions) throws -> CheckpointFile {
        try given[Options.auditCheckpointFile] ?? CheckpointFile(path: path(given) + ".checkpoint")
    }

    /// Checks that the file of the newest checkpoint can be read and replaced, and belongs to the keys' log; returns
    /// it.
    static func checkedCheckpointFile(_ given: GivenOptions) throws -> CheckpointFile {
        let file = try checkpointFile(given)
        do {
            try file.checkReplaceable(origin: try read(given).origin)
        } catch let fault as CheckpointFile.Fault {
            throw Stop(.configuration, fault.description)
        }
        return file
    }

    /// Removes the options that name the keys that a verifier trusts, and reads these keys:
    /// `--key TEXT`, and `--key-file FILE` with one key a line.
    /// - Throws: `Stop` if there is no key, or an invalid one.
    static func takePinnedKeys(_ arguments: inout Arguments) throws -> [VerifierKey] {
        var texts = try arguments.takeValues("--key")
        for path in try arguments.takeValues("--key-file") {
            guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
                throw Stop(.configuration, "“\(path)” cannot be read")
            }
            texts += text.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("#") }.map(String.init)
        }
        let keys = texts.map { text in (text, VerifierKey(text)) }
        if let invalid = keys.first(where: { $0.1 == nil }) {
            throw Stop(.usage, "“\(invalid.0)” is not a public key: “nagz audit keys” prints them")
        }
        guard !keys.isEmpty else {
            throw Stop(
                .usage, "no key to trust: pass --key TEXT or --key-file FILE (“nagz audit keys” prints the key)")
        }
        return keys.compactMap(\.1)
    }

    /// Writes a key file that only its owner can read. Replacing a file is atomic; without `replacing` the file
    /// must not exist.
    static func write(_ text: String, to path: String, replacing: Bool) throws {
        let target = replacing ? path + ".new" : path
        // The remains of an interrupted write may be readable by others.
        if replacing { unlink(target) }
        let descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw Stop(.configuration, "“\(target)” cannot be created: \(String(cString: strerror(errno)))")
        }
        let bytes = Array(text.utf8)
        let isWritten = Foundation.write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, !replacing || rename(target, path) == 0 else {
            throw Stop(.configuration, "“\(path)” cannot be written: \(String(cString: strerror(errno)))")
        }
    }
}
