import Contract
import Device
import Foundation
import ModelProviders

/// `nagz device`: what a phone does, as commands.
enum DeviceCommand {
    static let usage = """
        nagz device — acts as a family member's device: syncs, works offline, answers AI questions

        usage: nagz device login [--server URL] [--log-key KEY] --email ADDRESS
               nagz device login [--server URL] [--log-key KEY] --family-code CODE --username NAME
               nagz device logout [--discard]
               nagz device delete-account [--yes]
               nagz device sync [--watch] [--every SECONDS] [--mode cursor|timestamps]
               nagz device nags [--all]
               nagz device complete NAG [--note TEXT] [--dictated] [--offline]
               nagz device excuse NAG TEXT [--with-words] [--dictated] [--offline]
               nagz device note NAG TEXT [--dictated] [--offline]
               nagz device tone|coach|predict|push-back NAG [--local] [--session] [--provider NAME]
               nagz device patterns [USER] [--local] [--provider NAME]
               nagz device digest [--local] [--provider NAME]
               nagz device ask QUESTION [--local] [--session] [--provider NAME]
               nagz device ai [show]
               nagz device ai set SETTING VALUE            for example: set mode auto, set cloud-model none
               nagz device ai forget                       deletes the session that --session goes on
               nagz device constraint [list]               what your questions obey on this device
               nagz device constraint add NAME --if CONDITION [--if CONDITION ...] --then ACTION [--priority N]
               nagz device constraint delete ID            one of this device; the others are the server's
               nagz device history [--local] [--errors]
               nagz device outbox [--put-away]
               nagz device status
               nagz device model list|download ID|status [ID]|delete ID    see nagz models --help
               nagz device measure [--answers N] [--requests N]    for benchmarks; the server records every answer

        NAG is a nag's id, or enough of its last digits to identify it.
        login reads the password or PIN from the terminal, or a line from standard input.

          --json          prints JSON
          --home FOLDER   where session, cache and outbox are kept; else NAGZ_DEVICE_HOME, XDG_DATA_HOME/nagz,
                          or ~/.local/share/nagz
          --log-key KEY   pins a key of the server's audit log; else the first one that the server shows is trusted
          --watch         syncs at once when the server tells of a change, and at least every 5 minutes; where it cannot
                          be asked to tell, about every 5 minutes or as --every says
          --mode          how to page: by cursor, or by timestamps as older clients do
          --all           closed nags too
          --errors        only questions to the AI that the server refused
          --local         answers on this device only, even from a stale cache; history of what this device answered
          --session       goes on from the last four questions that had it, if this device answers: the coach says nothing
                          twice. They are kept sealed on this device, for 45 minutes after the last one
          --provider NAME has the server ask that provider: heuristic, server_gateway, or openai, anthropic or custom with
                          your own key; nagz device ai lists those that you can reach
          --model-url URL, --model-name NAME, --model-key-file FILE, --model-variant standard|lite
                          a language model on this machine, with OpenAI's protocol, at a URL such as
                          http://127.0.0.1:8081/v1; else NAGZ_MODEL_URL, NAGZ_MODEL_NAME and NAGZ_MODEL_KEY_FILE.
                          It writes texts where your AI mode is auto or local_only; if it cannot, the rules do
          --if CONDITION, --then ACTION
                          a constraint for this device alone: --if "content contains passport|visa" --if "token_count
                          exceeds 500" --then "block It names a document"; other actions are force_local,
                          force_cloud, require_confirmation and warn. Lower priorities (1 to 999, usually 500) are looked at first
          --offline       keeps the act in the outbox; the next sync uploads it
          --dictated      says that the words were dictated
          --with-words    sends the words of an excuse; else only its category and a sentence for that category
          --discard       logs out although the outbox holds acts that were not uploaded
          --yes           deletes the account without asking
          --put-away      dismisses the acts that the server did not apply

        exit codes: 0 done, 64 wrong usage, 65 not applied by the server, or not confirmed by you, 66 no such nag,
                    69 server unreachable, or your AI mode leaves nobody to answer,
                    74 disk full or file unreadable, 75 try again later, 76 the server breaks the contract,
                    77 not signed in, not allowed, or a constraint forbids it,
                    78 the device's files belong to a newer nagz, or your AI mode needs a key,
                    79 the server's audit log was tampered with
        """

    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        let home = try arguments.value("--home") ?? defaultHome()
        let asJSON = arguments.flag("--json")
        let variantName = try arguments.value("--model-variant")
        guard let variant = ModelFile.Variant(rawValue: variantName ?? "standard") else {
            throw Stop(.usage, "--model-variant takes standard or lite")
        }
        let gateway = try ModelArguments(&arguments)
        guard let command = arguments.next() else { throw Stop(.usage, "which command? See nagz device --help") }
        let context = DeviceContext(
            folder: DeviceFolder(path: home), asJSON: asJSON, gateway: gateway.map { ($0, variant) })
        do {
            switch command {
            case "login": try await DeviceSignIn.logIn(context, &arguments)
            case "logout": try await DeviceSignIn.logOut(context, &arguments)
            case "delete-account": try await DeviceSignIn.deleteAccount(context, &arguments)
            case "sync": try await DeviceSync.run(context, &arguments)
            case "nags": try DeviceNags.list(context, &arguments)
            case "complete", "excuse", "note": try await DeviceActs.run(command, context, &arguments)
            case "ai": try await DeviceAI.run(context, &arguments)
            case "constraint": try DeviceConstraints.run(context, &arguments)
            case "history": try await DeviceHistory.run(context, &arguments)
            case "outbox": try DeviceStatus.outbox(context, &arguments)
            case "status": try DeviceStatus.status(context, &arguments)
            case "model":
                try await ModelCommand.run(&arguments, folder: context.folder.modelsPath, asJSON: asJSON)
            case "measure": try await DeviceMeasure.run(context, &arguments)
            default:
                guard let ask = DeviceAnswers.command(command) else {
                    throw Stop(.usage, "unknown command “device \(command)”; see nagz device --help")
                }
                try await DeviceAnswers.run(ask, context, &arguments)
            }
        } catch {
            // Only the server's own answer counts: after the end of a session somebody may sign in again.
            if case ClientError.accountDeleted = error { try? context.folder.clear() }
            throw Stop(device: error)
        }
    }

    private static func defaultHome() -> String {
        let environment = ProcessInfo.processInfo.environment
        if let home = environment["NAGZ_DEVICE_HOME"], !home.isEmpty { return home }
        return dataFolder()
    }

    /// Where the program keeps a person's files.
    static func dataFolder() -> String {
        if let data = ProcessInfo.processInfo.environment["XDG_DATA_HOME"], !data.isEmpty { return data + "/nagz" }
        return NSHomeDirectory() + "/.local/share/nagz"
    }
}
