import Audit
import Contract
import Device
import Domain
import Foundation
import JSON

/// `nagz device login`, `logout` and `delete-account`.
enum DeviceSignIn {
    static func logIn(_ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let address = try arguments.takeValue("--server") ?? "http://127.0.0.1:9800"
        let logKey = try arguments.takeValue("--log-key").map { text in
            guard let key = VerifierKey(text) else {
                throw Stop(.usage, "“\(text)” is not a public key: “nagz audit keys” prints them")
            }
            return key
        }
        let (email, code, username) = (
            try arguments.takeValue("--email"), try arguments.takeValue("--family-code"),
            try arguments.takeValue("--username")
        )
        try arguments.finish()
        guard let server = ServerAddress(address) else {
            throw Stop(.usage, "--server takes https://HOST, or http://HOST:PORT of this machine or the local network")
        }
        if let earlierSession = try? context.folder.sessionFile.load() {
            throw Stop(
                .usage,
                "\(earlierSession.displayName ?? "somebody") is signed in on this device: run nagz device logout")
        }
        try context.folder.create()
        let transport = try HTTPTransport(server)
        var session: DeviceSession
        switch (email, code, username) {
        case (let email?, nil, nil):
            let address = try parse(email, EmailAddress.init(wireText:), "--email")
            session = try await ServerClient.signIn(
                API.logIn,
                LoginRequest(
                    email: address, password: Secret(try readSecret("Password: ")),
                    deviceSecret: context.folder.deviceSecretFile.secret(for: server)), at: server, over: transport)
        case (nil, let code?, let username?):
            let pin = try parse(try readSecret("PIN: "), PIN.init(wireText:), "the PIN")
            session = try await ServerClient.signIn(
                API.childLogIn, ChildLoginRequest(familyCode: code, username: username, pin: pin), at: server,
                over: transport)
        default:
            throw Stop(.usage, "login takes --email ADDRESS, or --family-code CODE and --username NAME")
        }
        session.logKey = logKey
        try context.folder.sessionFile.save(session)
        if let deviceSecret = session.receivedDeviceSecret {
            try context.folder.deviceSecretFile.save(deviceSecret, of: server)
        }
        if context.asJSON {
            return print(json: [
                "user_id": .string(session.userID.description), "server": .string(server.description),
                "family_id": session.familyID.map { .string($0.description) } ?? .null,
                "role": session.role.map { .string($0.rawValue) } ?? .null,
            ])
        }
        let role = session.role.map { " (\($0.rawValue))" } ?? ""
        print("signed in at \(server) as \(session.displayName ?? session.userID.description)\(role)")
        print("next: nagz device sync")
    }

    /// Ends the session, and removes session, cache and outbox from this device. Without `--discard` it refuses while
    /// an act waits in the outbox.
    static func logOut(_ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let discardsChanges = arguments.takeFlag("--discard")
        try arguments.finish()
        let session = try? context.folder.sessionFile.load()
        if FileManager.default.fileExists(atPath: context.folder.outboxPath), !discardsChanges {
            let waitingCount = try context.openOutbox().totalWaitingCount()
            guard waitingCount == 0 else {
                throw Stop(
                    .notApplied,
                    "\(counted(waitingCount, "change")) not uploaded yet: run nagz device sync first, or logout --discard"
                )
            }
        }
        var isEndedAtServer = false
        if let session {
            // The device deletes its tokens whatever the server answers. A session without them expires at the server.
            isEndedAtServer = (try? await context.makeClient(session).logOutAtServer()) != nil
        }
        try context.folder.clearPersonalFiles(keepsDeviceSecret: true)
        if context.asJSON {
            print(json: ["signed_out": true, "ended_at_server": .bool(isEndedAtServer)])
        } else {
            print("signed out; session, cache and outbox were removed from this device")
            if session != nil, !isEndedAtServer {
                context.printNotice("the server could not be reached: the session there ends when it expires")
            }
        }
    }

    static func deleteAccount(_ context: DeviceContext, _ arguments: inout Arguments) async throws {
        let isSure = arguments.takeFlag("--yes")
        try arguments.finish()
        let session = try context.requireSession()
        if !isSure {
            let name = session.displayName ?? session.userID.description
            context.printNotice(
                "This deletes the account of \(name) at \(session.server) for good. Type “delete” to continue:")
            guard readLine(strippingNewline: true) == "delete" else { throw Stop(.notApplied, "nothing was deleted") }
        }
        _ = try await context.makeClient(session).deleteOwnAccount()
        try context.folder.clearPersonalFiles()
        if context.asJSON { return print(json: ["deleted": true]) }
        print("the account was deleted; session, cache and outbox were removed from this device")
    }

    private static func parse<Value>(
        _ text: String, _ make: (String) throws(InvalidInput) -> Value, _ name: String
    ) throws -> Value {
        do { return try make(text) } catch {
            throw Stop(.usage, "\(name) \(error.message)")
        }
    }

    /// Reads a line without echo from the terminal, or from standard input where there is none.
    private static func readSecret(_ prompt: String) throws -> String {
        guard isatty(STDIN_FILENO) != 0 else {
            guard let line = readLine(strippingNewline: true), !line.isEmpty else {
                throw Stop(.usage, "standard input has no line with the password or PIN")
            }
            return line
        }
        FileHandle.standardError.write(Data(prompt.utf8))
        var settings = termios()
        tcgetattr(STDIN_FILENO, &settings)
        var noEcho = settings
        noEcho.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &noEcho)
        defer {
            tcsetattr(STDIN_FILENO, TCSANOW, &settings)
            FileHandle.standardError.write(Data("\n".utf8))
        }
        return readLine(strippingNewline: true) ?? ""
    }
}
