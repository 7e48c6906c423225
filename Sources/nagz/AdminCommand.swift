import Domain
import Foundation
import Postgres
import Server

/// `nagz admin`: manages administrators and accounts, deletes data that has passed its retention, and makes devices
/// download their families again.
enum AdminCommand {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        do {
            switch arguments.takeNext() {
            case "create": try await create(&arguments)
            case "list": try await list(&arguments)
            case "revoke": try await revoke(&arguments)
            case "reset-password": try await printPasswordCode(&arguments)
            case "purge": try await purgeDeletedAccounts(&arguments)
            case "retention": try await applyRetention(&arguments)
            case "resync": try await resetFeeds(&arguments)
            case nil: throw Commands.missingCommandError(in: "admin")
            case let command?: throw Commands.unknownCommandError(["admin", command])
            }
        } catch let fault as Admins.Fault {
            throw Stop(.configuration, fault.description)
        } catch let fault as PostgresError {
            throw Stop(ownerDatabaseError: fault)
        }
    }

    private static func create(_ arguments: inout Arguments) async throws {
        let email = try takeEmail(&arguments)
        let generatesPassword = arguments.takeFlag("--generate")
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let password = generatesPassword ? SystemRandomness().code(24) : try readPassword()
        let admin = try await Admins.create(
            databaseURL: url, keys: try AuditKeyFile.read(arguments.givenOptions), email: email, password: password)
        print("created the administrator \(admin.email)")
        if generatesPassword { print("password \(password)") }
    }

    private static func list(_ arguments: inout Arguments) async throws {
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        for admin in try await Admins.listAll(databaseURL: url) {
            let state =
                admin.deletedAt.map { "deleted \($0.rfc3339)" } ?? admin.revokedAt.map { "revoked \($0.rfc3339)" }
                ?? "active"
            print("\(admin.id)  since \(admin.createdAt.rfc3339)  \(state)  \(admin.email)")
        }
    }

    private static func revoke(_ arguments: inout Arguments) async throws {
        let email = try takeEmail(&arguments)
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        try await Admins.revoke(databaseURL: url, keys: try AuditKeyFile.read(arguments.givenOptions), email: email)
        print("\(email) is no longer an administrator; all their sessions ended")
    }

    private static func printPasswordCode(_ arguments: inout Arguments) async throws {
        let email = try takeEmail(&arguments)
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let code = try await Admins.makePasswordCode(
            databaseURL: url, keys: try AuditKeyFile.read(arguments.givenOptions), forAnyAccount: email)
        print("code \(code)")
        print("It works once, within 30 minutes: at /reset-password, or with POST /api/v1/auth/password-reset")
    }

    private static func purgeDeletedAccounts(_ arguments: inout Arguments) async throws {
        let days =
            try arguments.takeNumber("--after", in: AccountPurgeCommand.allowedDays) ?? AccountPurgeCommand.standardDays
        let isDryRun = arguments.takeFlag("--dry-run")
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let count = try await AccountPurgeCommand.run(
            databaseURL: url, keys: try AuditKeyFile.read(arguments.givenOptions), days: days, isDryRun: isDryRun
        ) { user, deletedAt in
            print("\(user)  deleted \(deletedAt.rfc3339)")
        }
        print("\(counted(count, "account")) \(isDryRun ? "would be" : count == 1 ? "was" : "were") purged")
    }

    private static func applyRetention(_ arguments: inout Arguments) async throws {
        let isDryRun = arguments.takeFlag("--dry-run")
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let lines = try await RetentionCommand.run(databaseURL: url, isDryRun: isDryRun)
        for line in lines {
            let name = line.name + String(repeating: " ", count: max(1, 26 - line.name.count))
            let dueText = "\(counted(line.dueRows, "row")) \(isDryRun ? "due" : "deleted")"
            print("\(name)\(counted(line.days, "day").padded(to: 11))\(dueText)")
        }
    }

    private static func resetFeeds(_ arguments: inout Arguments) async throws {
        let url = try arguments.ownerDatabaseURL()
        try arguments.finish()
        let feedCount = try await FeedEpoch.begin(databaseURL: url)
        print("reset \(counted(feedCount, "feed")): devices download their families and connections in full")
    }

    private static func takeEmail(_ arguments: inout Arguments) throws -> String {
        guard let email = try arguments.takeValue("--email") else { throw Stop(.usage, "--email ADDRESS is required") }
        return email
    }

    /// Reads a line from standard input. On a terminal a prompt precedes it, and the terminal does not echo it.
    private static func readPassword() throws -> String {
        var settings = termios()
        let isTerminal = isatty(0) == 1 && tcgetattr(0, &settings) == 0
        if isTerminal {
            FileHandle.standardError.write(Data("password: ".utf8))
            var noEcho = settings
            noEcho.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(0, TCSAFLUSH, &noEcho)
        }
        defer {
            if isTerminal {
                tcsetattr(0, TCSAFLUSH, &settings)
                FileHandle.standardError.write(Data("\n".utf8))
            }
        }
        guard let line = readLine(), !line.isEmpty else { throw Stop(.usage, "standard input has no password") }
        return line
    }
}
