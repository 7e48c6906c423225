import Foundation
import LocalAI

/// The folder of a device's files. Only its owner can read it.
public struct DeviceFolder: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    public var session: SessionFile { SessionFile(path: path + "/session.json") }
    public var deviceSecret: DeviceSecretFile { DeviceSecretFile(path: path + "/device-secret.json") }
    public var cachePath: String { path + "/cache.db" }
    public var outboxPath: String { path + "/outbox.db" }
    /// The folder of model files. They contain nothing about a person, and are kept after a logout.
    public var modelsPath: String { path + "/models" }

    /// Returns the seal for the words in cache and outbox, with the key of this folder. The folder must exist.
    /// - Throws: `PrivateFileError`.
    public func seal() throws(PrivateFileError) -> TextSeal { TextSeal(try key.load()) }

    /// The file of the key that seals the words.
    public var keyPath: String { path + "/sealing.key" }

    private var key: SealingKeyFile { SealingKeyFile(path: keyPath) }

    /// Creates the folder if it is missing.
    public func create() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Deletes session, key, cache and outbox: after a logout, and after the account was deleted.
    /// - Parameter keepsDeviceSecret: whether to keep the secret for the next sign-in, as after a logout.
    public func clear(keepsDeviceSecret: Bool = false) throws {
        if !keepsDeviceSecret { try deviceSecret.remove() }
        try session.remove()
        try key.remove()
        try EventCache.remove(cachePath)
        try EventCache.remove(outboxPath)
    }
}
