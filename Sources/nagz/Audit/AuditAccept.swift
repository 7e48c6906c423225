import Audit
import Domain
import Foundation
import Server

/// `nagz audit accept`: lets servers continue a log that does not extend the last signed checkpoint.
enum AuditAccept {
    static func run(_ arguments: inout Arguments) async throws {
        let rootText = try arguments.takeValue("--root")
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let root = rootText.flatMap { Base64.decode($0) }
        guard rootText == nil || root?.count == 32 else {
            throw Stop(.usage, "--root takes a root that “nagz audit accept” prints")
        }
        do {
            let file = try AuditKeyFile.checkpointFile(arguments.givenOptions)
            let acceptance = RestoredLogAcceptance(
                databaseURL: url, keys: try AuditKeyFile.read(arguments.givenOptions), file: file)
            let heads = try await acceptance.readHeads()
            show(heads)
            guard heads.remembered != nil else {
                guard file.siblings.isEmpty else {
                    throw Stop(
                        .configuration,
                        "“\(file.path)” is missing, but \(file.siblings.joined(separator: ", ")): name each instance's "
                            + "file in NAGZ_AUDIT_CHECKPOINT_FILE, one after the other, or use nagz-admin --unit")
                }
                return print("“\(file.path)” is missing, so there is nothing to accept")
            }
            guard !heads.isContinuation else {
                return print("the log extends the last signed checkpoint: there is nothing to accept")
            }
            guard let root else {
                return print(
                    "the log in the database does not extend the last signed checkpoint, so no server signs it; "
                        + "if you know why, accept it with --root \(Base64.encode(heads.storedRoot))")
            }
            _ = try await acceptance.accept(root: root)
            print("accepted and recorded in the audit log; the replaced checkpoint is in “\(file.path).replaced”")
        } catch let fault as RestoredLogAcceptance.Fault {
            throw Stop(.configuration, fault.description)
        } catch let fault as CheckpointFile.Fault {
            throw Stop(.configuration, fault.description)
        }
    }

    private static func show(_ heads: RestoredLogAcceptance.Heads) {
        let remembered = heads.remembered.map {
            "\($0.size) entries, root \(Base64.encode($0.root)), signed \($0.time.rfc3339)"
        }
        print("last signed  \(remembered ?? "none")")
        print("database     \(heads.storedSize) entries, root \(Base64.encode(heads.storedRoot))")
    }
}
