import Foundation
import Postgres
import Server

/// `nagz audit`: the commands that verify, export and maintain the audit log.
enum AuditCommand {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        do {
            switch arguments.takeNext() {
            case "verify": try await AuditVerify.run(&arguments)
            case "reconcile": try await AuditReconcile.run(&arguments)
            case "export": try await AuditExportCommand.run(&arguments)
            case "witness": try await AuditWitness.run(&arguments)
            case "keys": try await AuditKeysCommand.run(&arguments)
            case "accept": try await AuditAccept.run(&arguments)
            case "prune": try await AuditRemoval.prune(&arguments)
            case "erase": try await AuditRemoval.erase(&arguments)
            case nil: throw Commands.missingCommandError(in: "audit")
            case let command?: throw Commands.unknownCommandError(["audit", command])
            }
        } catch let fault as PostgresError {
            throw Stop(ownerDatabaseError: fault)
        }
    }
}

/// A line with the progress on standard error, if that is a terminal. It changes at most five times a second.
struct ProgressLine {
    private let isTerminal = isatty(2) == 1
    private var nextUpdate = ContinuousClock.now
    private var isShown = false

    mutating func show(_ text: @autoclosure () -> String) {
        guard isTerminal, ContinuousClock.now >= nextUpdate else { return }
        nextUpdate = .now + .milliseconds(200)
        isShown = true
        FileHandle.standardError.write(Data("\r\u{1b}[K\(text())".utf8))
    }

    mutating func clear() {
        guard isShown else { return }
        isShown = false
        FileHandle.standardError.write(Data("\r\u{1b}[K".utf8))
    }
}
