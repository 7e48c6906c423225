import Audit
import Domain
import Foundation
import Server

/// `nagz audit accept`: continues the log in the database although it is not the one that was signed.
enum AuditAccept {
    static func run(_ arguments: inout Arguments) async throws {
        let text = try arguments.value("--root")
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let root = text.flatMap { Base64.decode($0) }
        guard text == nil || root?.count == 32 else {
            throw Stop(.usage, "--root takes a root as “nagz audit accept” shows it")
        }
        do {
            let file = try AuditKeyFile.checkpointFile(arguments.given)
            let acceptance = LogAcceptance(
                databaseURL: url, keys: try AuditKeyFile.read(arguments.given), file: file)
            let heads = try await acceptance.heads()
            show(heads)
            guard heads.remembered != nil else {
                guard file.siblings.isEmpty else {
                    throw Stop(
                        .configuration,
                        "there is no “\(file.path)”, but \(file.siblings.joined(separator: ", ")): name each instance's file "
                            + "in NAGZ_AUDIT_CHECKPOINT_FILE, one after the other, or use nagz-admin --unit")
                }
                return print("“\(file.path)” remembers nothing, so nothing is to accept")
            }
            guard !heads.isContinuation else {
                return print("the log extends what is remembered: nothing is to accept")
            }
            guard let root else {
                return print(
                    "the log in the database does not extend what is remembered, and is not signed; "
                        + "if you know why, accept it with --root \(Base64.encode(heads.root))")
            }
            _ = try await acceptance.accept(root: root)
            print("accepted, with an entry that says so; what was remembered is kept beside “\(file.path)”")
        } catch let fault as LogAcceptance.Fault {
            throw Stop(.configuration, fault.description)
        } catch let fault as CheckpointFile.Fault {
            throw Stop(.configuration, fault.description)
        }
    }

    private static func show(_ heads: LogAcceptance.Heads) {
        let remembered = heads.remembered.map {
            "\($0.size) entries, root \(Base64.encode($0.root)), signed \($0.time.rfc3339)"
        }
        print("remembered  \(remembered ?? "nothing")")
        print("database    \(heads.size) entries, root \(Base64.encode(heads.root))")
    }
}
