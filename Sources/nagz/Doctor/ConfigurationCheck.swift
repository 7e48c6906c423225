import Foundation
import Server

/// Checks the options and the files of secrets that they name. It reads files, and never creates or changes them.
struct ConfigurationCheck {
    let given: GivenOptions

    private struct SecretFile: Sendable {
        let name: String
        let option: any AnyOption
        /// Whether the check fails if the option is not given.
        var isRequired = false
        let validate: @Sendable (String) throws -> Void
    }

    private static let secretFiles = [
        SecretFile(name: "token key", option: Options.tokenKeys, isRequired: true) { _ = try TokenKeys.read($0) },
        SecretFile(name: "audit key", option: Options.auditKeyring, isRequired: true) { _ = try AuditKeyFile.read($0) },
        SecretFile(name: "webhook secret", option: Options.webhookSecret) {
            _ = try DeliveryOptions.readWebhookSecret($0)
        },
        SecretFile(name: "APNs key", option: Options.apnsKey) { _ = try KeyFile.read($0, name: "the APNs key file") },
        SecretFile(name: "VAPID key", option: Options.vapidKey) {
            _ = try KeyFile.read($0, name: "the VAPID key file")
        },
        SecretFile(name: "mail password", option: Options.mailPassword) {
            _ = try KeyFile.read($0, name: "the mail relay's password file")
        },
        SecretFile(name: "model key", option: Options.modelKeyFile) {
            _ = try KeyFile.read($0, name: "the model key file")
        },
    ]

    func run() -> [CheckResult] {
        let secretResults = Self.secretFiles.map(secretResult)
        // A fault in a file of secrets is reported once: with the file, and not with the options.
        let faultyOptions = Set(Self.secretFiles.filter { fault(of: $0) != nil }.map(\.option.name))
        var faults = ConfigCommand.faults(of: given, except: faultyOptions).map(\.message)
        if given.value(of: Options.databaseURL) == nil {
            faults.append("no database: set DATABASE_URL or pass --database-url")
        }
        return [configurationResult(faults)] + secretResults
    }

    private func configurationResult(_ faults: [String]) -> CheckResult {
        let name = "configuration"
        guard faults.isEmpty else {
            return .failed(
                name, counted(faults.count, "error"),
                advice: (faults + ["nagz serve --help and nagz config --help describe the options"])
                    .joined(separator: "\n"))
        }
        let count = Options.all.count { given.value(of: $0) != nil }
        let file = given.file.map { ", file \($0.path)" } ?? ""
        return .ok(name, "\(count) of \(Options.all.count) options are given\(file)")
    }

    private func fault(of secret: SecretFile) -> String? {
        guard let path = given.value(of: secret.option)?.text else { return nil }
        do { try secret.validate(path) } catch { return (error as? Stop)?.message ?? "\(error)" }
        return nil
    }

    private func secretResult(_ secret: SecretFile) -> CheckResult {
        let variable = secret.option.variable ?? secret.option.flag
        guard let path = given.value(of: secret.option)?.text else {
            return secret.isRequired
                ? .failed(
                    secret.name, "\(variable) is not set", advice: "set it to a file that nagz serve --help describes")
                : .notConfigured(secret.name, "\(variable) is not set")
        }
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
            return .failed(
                secret.name, "“\(path)” cannot be read: \(String(cString: strerror(errno)))",
                advice:
                    "create it as nagz serve --help says, readable only by the server's user, or correct \(variable)"
            )
        }
        if let fault = fault(of: secret) {
            return .failed(secret.name, message: fault, advice: "create it as nagz serve --help says")
        }
        let mode = String(status.st_mode & 0o777, radix: 8)
        let owner = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "user \(status.st_uid)"
        guard [0, geteuid()].contains(status.st_uid) else {
            return .warning(
                secret.name, "“\(path)” belongs to \(owner), not to the user of this process",
                advice: "run nagz doctor as the user of nagz serve, or change the file's owner to that user")
        }
        return .ok(secret.name, "“\(path)”, mode \(mode), owner \(owner)")
    }
}
