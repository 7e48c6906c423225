import Audit
import Contract
import Domain
import Foundation
import JSON
import Server

/// `nagz audit witness`: stores a log's checkpoints on another machine, and checks that the log only grows.
enum AuditWitness {
    static func run(_ arguments: inout Arguments) async throws {
        let pinned = try AuditKeyFile.takePinnedKeys(&arguments)
        guard let serverURL = try arguments.takeValue("--url") else {
            throw Stop(.usage, "--url is required: the server to witness")
        }
        guard let path = try arguments.takeValue("--file") else {
            throw Stop(.usage, "--file is required: the file for the checkpoints")
        }
        let pushURL = try arguments.takeValue("--push")
        try arguments.finish()
        let storedNotes =
            FileManager.default.fileExists(atPath: path) ? try WitnessFile.read(path, acceptsSingleNote: false) : []
        let client = try AuditClient(serverURL)
        var trustedKeys = TrustedKeys(pinned: pinned)
        let checkpointText = try await client.call(API.getAuditCheckpoint, NoParameters()).text
        guard let note = SignedNote(checkpointText) else {
            throw Stop(.tampered, "TAMPERED: the checkpoint is not a signed note")
        }
        if trustedKeys.checkpoint(in: note) == nil, ProcessInfo.processInfo.environment["NAGZ_TOKEN"] != nil {
            // The trusted key may have handed over to a newer key.
            let keys = try await client.call(API.getAuditStatus, NoParameters()).keys
            trustedKeys.acceptHandovers(keys.compactMap { $0.handover.flatMap { SignedNote($0) } })
        }
        guard let newest = trustedKeys.checkpoint(in: note) else {
            throw Stop(.tampered, "TAMPERED: the checkpoint is not signed by a key you trust")
        }
        if let last = storedNotes.last { try await checkThat(newest, extends: last, client) }
        if storedNotes.last != checkpointText { try append(checkpointText, to: path) }
        if let pushURL { try await client.post(checkpointText, to: pushURL) }
        print("\(newest.origin): \(newest.size) entries at \(newest.time.rfc3339)")
    }

    private static func checkThat(
        _ newest: Checkpoint, extends lastNote: String, _ client: AuditClient
    ) async throws {
        guard let last = SignedNote(lastNote).flatMap({ Checkpoint(text: $0.text) }) else {
            throw Stop(.configuration, "the last checkpoint in the witness's file is invalid")
        }
        guard newest.origin == last.origin else {
            throw Stop(.tampered, "TAMPERED: this is the log \(newest.origin), but the last one was \(last.origin)")
        }
        guard newest.size >= last.size else {
            throw Stop(.tampered, "TAMPERED: the log had \(last.size) entries, now it has \(newest.size)")
        }
        guard newest.size > last.size, last.size > 0 else {
            guard newest.size > last.size || newest.root == last.root else {
                throw Stop(.tampered, "TAMPERED: a different log of \(last.size) entries was seen before")
            }
            return
        }
        let proof = try await client.call(
            API.proveAuditConsistency, ConsistencyQuery(old: Int(last.size), new: Int(newest.size)))
        guard
            MerkleProof.isConsistent(
                old: last.size, oldRoot: last.root, new: newest.size, newRoot: newest.root,
                path: proof.path.map(\.bytes))
        else { throw Stop(.tampered, "TAMPERED: the log of \(last.size) entries is not the beginning of this one") }
    }

    private static func append(_ note: String, to path: String) throws {
        let entry = JSONWriter.document { json in
            json.object { json in
                json.field("note", note)
                json.field("seen_at", SystemClock().now())
            }
        }
        let line = entry + [UInt8(ascii: "\n")]
        let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        guard descriptor >= 0 else { throw Stop(.configuration, "“\(path)” cannot be written") }
        defer { close(descriptor) }
        guard write(descriptor, line, line.count) == line.count, fsync(descriptor) == 0 else {
            throw Stop(.configuration, "“\(path)” cannot be written")
        }
    }
}
