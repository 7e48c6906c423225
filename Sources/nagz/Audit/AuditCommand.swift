import Foundation
import Postgres
import Server

/// `nagz audit`: the audit log from outside the server.
enum AuditCommand {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        do {
            switch arguments.next() {
            case "verify": try await AuditVerify.run(&arguments)
            case "reconcile": try await AuditReconcile.run(&arguments)
            case "export": try await AuditExportCommand.run(&arguments)
            case "witness": try await AuditWitness.run(&arguments)
            case "keys": try await AuditKeysCommand.run(&arguments)
            case "accept": try await AuditAccept.run(&arguments)
            case "prune": try await AuditRemoval.prune(&arguments)
            case "erase": try await AuditRemoval.erase(&arguments)
            case nil: throw Commands.missing("audit")
            case let command?: throw Commands.unknown(["audit", command])
            }
        } catch let fault as PostgresError {
            throw Stop(ofOwner: fault)
        }
    }
}

/// Prints progress on standard error, at most a few times a second, when that is a terminal.
struct ProgressLine {
    private let isShown = isatty(2) == 1
    private var next = ContinuousClock.now
    private var isDirty = false

    mutating func show(_ text: @autoclosure () -> String) {
        guard isShown, ContinuousClock.now >= next else { return }
        next = .now + .milliseconds(200)
        isDirty = true
        FileHandle.standardError.write(Data("\r\u{1b}[K\(text())".utf8))
    }

    mutating func clear() {
        guard isDirty else { return }
        isDirty = false
        FileHandle.standardError.write(Data("\r\u{1b}[K".utf8))
    }
}
