import Foundation
import LocalAI

/// The folder of a device's files. Only its owner can read it.
public struct DeviceFolder: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    public var sessionFile: SessionFile { SessionFile(path: path + "/session.json") }
    public var deviceSecretFile: DeviceSecretFile { DeviceSecretFile(path: path + "/device-secret.json") }
    public var cachePath: String { path + "/cache.db" }
    public var outboxPath: String { path + "/outbox.db" }
    /// The folder of model files. They contain nothing about a person, so `clearPersonalFiles` keeps them.
    public var modelsPath: String { path + "/models" }

    /// Returns the seal for the words in cache and outbox. Its key is in this folder, and is created if it is missing.
    /// The folder MUST exist.
    /// - Throws: `PrivateFileError`.
    public func loadOrCreateSeal() throws(PrivateFileError) -> TextSeal { TextSeal(try sealingKeyFile.loadOrCreate()) }

    /// The path of the file with the key that seals the words.
    public var sealingKeyPath: String { path + "/sealing.key" }

    private var sealingKeyFile: SealingKeyFile { SealingKeyFile(path: sealingKeyPath) }

    /// Creates the folder if it is missing.
    public func create() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Deletes session, key, cache and outbox, after a logout or the deletion of the account.
    /// - Parameter keepsDeviceSecret: whether to keep the secret for the next sign-in, as after a logout.
    public func clearPersonalFiles(keepsDeviceSecret: Bool = false) throws {
        if !keepsDeviceSecret { try deviceSecretFile.remove() }
        try sessionFile.remove()
        try sealingKeyFile.remove()
        try EventCache.remove(cachePath)
        try EventCache.remove(outboxPath)
    }
}
