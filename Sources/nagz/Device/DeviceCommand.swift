import Contract
import Device
import Foundation
import ModelProviders

/// `nagz device`: the functions of a phone, as commands.
enum DeviceCommand {
    static func run(_ arguments: Arguments) async throws {
        var arguments = arguments
        let folderPath = try arguments.takeValue("--home") ?? defaultFolderPath()
        let asJSON = arguments.takeFlag("--json")
        let variantName = try arguments.takeValue("--model-variant")
        guard let variant = ModelFile.Variant(rawValue: variantName ?? "standard") else {
            throw Stop(.usage, "--model-variant takes standard or lite")
        }
        let gateway = try ModelArguments(&arguments)
        guard let command = arguments.takeNext() else { throw Commands.missingCommandError(in: "device") }
        let context = DeviceContext(
            folder: DeviceFolder(path: folderPath), asJSON: asJSON, gateway: gateway.map { ($0, variant) })
        do {
            switch command {
            case "login": try await DeviceSignIn.logIn(context, &arguments)
            case "logout": try await DeviceSignIn.logOut(context, &arguments)
            case "delete-account": try await DeviceSignIn.deleteAccount(context, &arguments)
            case "sync": try await DeviceSync.run(context, &arguments)
            case "nags": try DeviceNags.list(context, &arguments)
            case "complete", "excuse", "note": try await OfflineActionCommand.run(command, context, &arguments)
            case "ai": try await DeviceAI.run(context, &arguments)
            case "constraint": try DeviceConstraints.run(context, &arguments)
            case "history": try await DeviceHistory.run(context, &arguments)
            case "outbox": try DeviceStatus.showOrDismissOutbox(context, &arguments)
            case "status": try DeviceStatus.showStatus(context, &arguments)
            case "model":
                try await ModelCommand.run(
                    &arguments, of: "device model", folder: context.folder.modelsPath, asJSON: asJSON)
            case "measure": try await DeviceMeasure.run(context, &arguments)
            default:
                guard let ask = DeviceAnswers.command(command) else {
                    throw Commands.unknownCommandError(["device", command])
                }
                try await DeviceAnswers.run(ask, context, &arguments)
            }
        } catch {
            // The folder is cleared only if the server says that the account was deleted. After the end of a session
            // the person may sign in again.
            if case ClientError.accountDeleted = error { try? context.folder.clearPersonalFiles() }
            throw Stop(device: error)
        }
    }

    private static func defaultFolderPath() -> String {
        let environment = ProcessInfo.processInfo.environment
        if let home = environment["NAGZ_DEVICE_HOME"], !home.isEmpty { return home }
        return dataFolderPath()
    }

    /// Returns the path of the folder in which the program stores a person's files, unless an option names another.
    static func dataFolderPath() -> String {
        let environment = ProcessInfo.processInfo.environment
        if let data = environment["XDG_DATA_HOME"], !data.isEmpty { return data + "/nagz" }
        return (environment["HOME"].flatMap { $0.isEmpty ? nil : $0 } ?? NSHomeDirectory()) + "/.local/share/nagz"
    }
}
