import Foundation
import Postgres
import Server

/// `nagz audit`: the audit log from outside the server.
enum AuditCommand {
    static let usage = """
        nagz audit — verifies, exports and maintains the audit log

        usage: nagz audit verify  FILE | --url URL    --key KEY … [--witness FILE …] [--family ID] [--max-age MINUTES]
               nagz audit reconcile [--family ID] [--json]
               nagz audit export  [--output FILE] [--family ID] [--url URL] [--witness FILE …]
               nagz audit witness --url URL --key KEY … --file FILE [--push URL]
               nagz audit keys    [list] | new FILE --origin NAME | rotate | rotate-master [--new | --wrap | --retire]
               nagz audit accept  [--root HASH]
               nagz audit prune   [--older-than DAYS] [--yes]
               nagz audit erase   --user ID [--yes]

        verify     verifies an export, or a server's audit log. Keys are pinned with --key TEXT or --key-file FILE; keys that
                   a pinned one has handed over to are trusted too. --witness takes the file of “witness”.
                   Exits 0 when the audit log is sound; 1 when it was tampered with, naming the first invalid entry; and 2
                   when something is missing, so that neither can be said.
        reconcile  replays the log, and reports each row of the database that no entry explains, each entry without its
                   row, and each changed protection of the log. Reads the database (--database-url, NAGZ_AUDIT_KEY_FILE).
                   Exits 0 when everything is explained, 1 when something is not, 2 when not everything could be checked.
        export     writes the audit log as one JSON object a line. With the same --output it continues an interrupted run.
                   Reads the database (--database-url, NAGZ_OWNER_DATABASE_URL), or a server with --url.
        witness    keeps the newest checkpoint in a file, after checking that the log has only grown, and pushes it to
                   another server. Run it regularly on another machine: only a witness shows that a log was truncated or
                   rewritten.
        keys       prints the public keys to pin, or makes a key file. “rotate” adds a new signing key before the old one;
                   restart the servers afterwards. “rotate-master” shows how many people's keys each master key wraps, and
                   replaces the master key in three steps: --new adds one, --wrap wraps everybody's key with it, --retire
                   removes the old one from the file. Restart all servers after each step; each can be repeated. Then
                   destroy the copies of the old key: older backups no longer show anything about people erased since.
        accept     shows the last signed head of the log (NAGZ_AUDIT_CHECKPOINT_FILE) and the database's. When the second does
                   not extend the first, servers sign nothing and their audit_log is “broken”. If you know why (you restored
                   a backup), --root with the root shown lets them continue from there, with an entry about it. Run it for
                   each server's file.
        prune      deletes entries older than the retention (36 months) and leaves a signed record. Without --yes it only
                   shows what it would delete.
        erase      deletes what the audit log records about a person, and their key. Without --yes it only shows what it
                   would delete.

        --url reads the access token of a guardian or an administrator from NAGZ_TOKEN.
        """

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
            case nil: throw Stop(.usage, "which command? See nagz audit --help")
            case let command?: throw Stop(.usage, "unknown command “audit \(command)”; see nagz audit --help")
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
