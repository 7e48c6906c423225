import Foundation
import Postgres
import Server

/// `nagz audit`: the audit log from outside the server.
enum AuditCommand {
    static let usage = """
        nagz audit — check, export and keep the audit log

        usage: nagz audit verify  FILE | --url URL    --key KEY … [--witness FILE …] [--family ID] [--max-age MINUTES]
               nagz audit reconcile [--family ID] [--json]
               nagz audit export  [--output FILE] [--family ID] [--url URL] [--witness FILE …]
               nagz audit witness --url URL --key KEY … --file FILE [--push URL]
               nagz audit keys    [list] | new FILE --origin NAME | rotate | rotate-master [--new | --wrap | --retire]
               nagz audit accept  [--root HASH]
               nagz audit prune   [--older-than DAYS] [--yes]
               nagz audit erase   --user ID [--yes]

        verify   checks an export, or a server's audit log as it is. Keys are pinned with --key TEXT or --key-file FILE; those
                 a pinned key has handed over to are trusted too. --witness takes what “witness” keeps.
                 It exits 0 when the audit log is sound, 1 when it was tampered with, and names the first bad entry, and 2 when
                 something is missing, so that neither can be said.
        reconcile replays the log and names each row of the database that no entry explains, each entry whose row is missing,
                 and each guard of the log that was changed. It reads the database (--database-url, NAGZ_AUDIT_KEY_FILE) and
                 exits 0 when everything is explained, 1 when something is not, 2 when not everything could be looked at.
        export   writes the audit log as one JSON object a line; run again with the same --output it goes on where it stopped.
                 It reads the database (--database-url, NAGZ_OWNER_DATABASE_URL), or a server with --url.
        witness  keeps the newest checkpoint in a file, after checking that the log has only grown, and pushes it to another
                 place. Run it now and then on another machine: it is what shows that an audit log was cut or made anew.
        keys     prints the public keys to pin, or makes a file of keys. “rotate” puts a new key that signs above the old;
                 restart the servers afterwards. “rotate-master” tells which master keys wrap how many people's keys, and
                 changes the master key in three steps: --new adds one, --wrap wraps everybody's key with it, --retire takes
                 the old one out of the file for good. Restart all servers after each; each can be run again. Then destroy
                 the old one's copies: no backup from before can be read any more of people who were erased since.
        accept   shows the log's head as it was signed last (NAGZ_AUDIT_CHECKPOINT_FILE) and as it is in the database. When the
                 second does not extend the first, servers sign nothing and their audit_log is “broken”. If you know why (you
                 restored a backup), --root with the root that was shown has them go on from there; the audit log says so. Run it
                 for each server's file.
        prune    takes entries older than the retention (36 months) and leaves a signed record. Shows what it would take;
                 does so with --yes.
        erase    takes what the audit log tells of a person, and their key. Shows what it would take; does so with --yes.

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
            case "--help", "-h": print(usage)
            case nil: throw Stop(.usage, "nagz audit --help tells what it can do")
            case let verb?: throw Stop(.usage, "there is no “audit \(verb)”; nagz audit --help tells what there is")
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
