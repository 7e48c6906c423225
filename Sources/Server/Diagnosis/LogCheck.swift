import Audit
import Domain
import Foundation
import Postgres
import Reactor
import SQL

/// Checks the file of the newest checkpoint, and whether the database's audit log extends it.
public struct LogCheck: Sendable {
    private let databaseURL: String
    private let keys: AuditKeyring
    private let file: CheckpointFile
    private let clock: any WallClock

    /// - Parameter databaseURL: the URL of the server's login.
    public init(databaseURL: String, keys: AuditKeyring, file: CheckpointFile, clock: any WallClock = SystemClock()) {
        (self.databaseURL, self.keys, self.file, self.clock) = (databaseURL, keys, file, clock)
    }

    /// Checks the log of a running service.
    public func run() async -> [CheckResult] {
        let (fileResult, remembered) = checkCheckpointFile()
        return [fileResult] + (await withLog("audit log", remembered) { Self.checkRunningLog($0, at: clock.now()) })
    }

    /// Checks the log of a database that was restored from a backup.
    public func runAfterRestore() async -> [CheckResult] {
        let (fileResult, remembered) = checkCheckpointFile()
        return [fileResult] + (await withLog("audit log", remembered, Self.checkRestoredLog))
    }

    // MARK: The checkpoint file

    /// Checks the checkpoint file.
    /// - Returns: the result, and the checkpoint in the file if it can be used.
    private func checkCheckpointFile() -> (result: CheckResult, checkpoint: Checkpoint?) {
        let name = "checkpoint file"
        do throws(CheckpointFile.Fault) {
            guard let entry = try file.inspect(origin: keys.origin) else { return (missingFileResult(name), nil) }
            let checkpoint = entry.checkpoint
            return (.ok(name, "\(checkpoint.size) entries, signed \(checkpoint.time.rfc3339)"), checkpoint)
        } catch {
            let advice = "make its folder writable for the user of nagz serve only"
            return (.failed(name, message: error.description, advice: advice), nil)
        }
    }

    private func missingFileResult(_ name: String) -> CheckResult {
        let siblings = file.siblings
        guard siblings.isEmpty else {
            return .warning(
                name, "“\(file.path)” is missing, but \(siblings.joined(separator: ", "))",
                advice: """
                    each instance has its own: name the one to check in NAGZ_AUDIT_CHECKPOINT_FILE or with nagz-admin
                    --unit; for a new instance copy one of them, else its first start trusts the log unchecked
                    """)
        }
        return .warning(
            name, "“\(file.path)” is missing",
            advice: """
                this is normal before the first start; later, copy the file of another instance, or
                compare the log with a witness: the next start trusts the log unchecked
                """)
    }

    // MARK: The log

    /// The log as one snapshot of the database shows it. A server may append to the log meanwhile.
    struct Snapshot {
        let heads: RestoredLogAcceptance.Heads
        /// The time of the newest checkpoint; nil before the first.
        let signedAt: Timestamp?
    }

    /// Reads the log, and returns the result of the check on it; no result if the database does not answer, which
    /// `DatabaseCheck` reports.
    private func withLog(
        _ name: String, _ remembered: Checkpoint?, _ check: (Snapshot) -> CheckResult
    ) async -> [CheckResult] {
        do {
            let keys = keys
            let snapshot = try await Schema.withReadOnlyDatabase(databaseURL) { database in
                try await database.transaction { transaction in
                    _ = try await transaction.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                    let heads = try await RestoredLogAcceptance.readHeads(transaction, remembered, keys)
                    let newest = try await LogReader(transaction).newestUnverifiedCheckpoint()?.checkpoint
                    return LoopBound(value: Snapshot(heads: heads, signedAt: newest?.time))
                }.value
            }
            return [check(snapshot)]
        } catch let fault as RestoredLogAcceptance.Fault {
            return [.failed(name, message: fault.description, advice: "restore a backup")]
        } catch let fault as PostgresError {
            return switch fault {
            // A database that does not answer is the failure of another check.
            case .unavailable, .connectionLost: []
            case .refused, .unexpectedShape: [.failed(name, fault.description, advice: "see the other checks")]
            }
        } catch {
            return [.failed(name, "\(error)", advice: "see the other checks")]
        }
    }

    static func checkRunningLog(_ log: Snapshot, at now: Timestamp) -> CheckResult {
        let (name, heads) = ("audit log", log.heads)
        guard heads.isContinuation else {
            return .failed(
                name, "the log in the database does not extend the last signed checkpoint, and no server signs it",
                advice: "after a restore run nagz restore-check; otherwise find out who wrote to the database")
        }
        guard let signedAt = log.signedAt else {
            return .warning(name, "no checkpoint is signed yet", advice: "nagz serve signs the first when it starts")
        }
        let age = (now - signedAt).text
        guard now - signedAt < CheckpointStatus.maxTimeWithoutCheckpoint else {
            return .warning(
                name, "\(heads.storedSize) entries; the newest checkpoint is \(age) old",
                advice: "a running server signs one every \(CheckpointStatus.heartbeatInterval.text): start one")
        }
        return .ok(name, "\(heads.storedSize) entries; the newest checkpoint is \(age) old")
    }

    static func checkRestoredLog(_ log: Snapshot) -> CheckResult {
        let (name, heads, size) = ("audit log", log.heads, log.heads.storedSize)
        guard let remembered = heads.remembered else {
            return .warning(
                name, "\(size) entries; without the checkpoint file, lost entries cannot be detected",
                advice: "restore the checkpoint file, or copy that of another instance")
        }
        guard !heads.isContinuation else { return .ok(name, "\(size) entries; no signed entry is lost") }
        let acceptAdvice = """
            if you restored this backup on purpose, run on each machine that serves:
            nagz audit accept --root \(Base64.encode(heads.storedRoot))
            then sign each device out and in, and begin a new file for each witness: they have seen the other log
            """
        guard size < remembered.size else {
            return .failed(
                name,
                "the database's log has \(size) entries, but does not extend the \(remembered.size) signed ones",
                advice: "this is another backup, or somebody changed it; " + acceptAdvice)
        }
        let sinceText = log.signedAt.map { " since \($0.rfc3339)" } ?? ""
        return .failed(
            name,
            "\(remembered.size - size) of \(remembered.size) entries are lost, those\(sinceText) until "
                + "\(remembered.time.rfc3339)",
            advice: "a backup lacks what was written after it was made; " + acceptAdvice)
    }
}

extension Timestamp.Span {
    /// The duration for people: `45 s`, `12 min`, `3 h`, `2 days`.
    var text: String {
        let seconds = microseconds / 1_000_000
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}
