import Foundation

/// Where a device keeps its things: one folder that only its owner can look into.
public struct DeviceFolder: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    public var session: SessionFile { SessionFile(path: path + "/session.json") }
    public var cachePath: String { path + "/cache.db" }
    public var outboxPath: String { path + "/outbox.db" }

    /// Makes the folder where there is none.
    public func make() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Removes session, cache and outbox: after a logout, and after the account was deleted.
    public func clear() throws {
        try session.remove()
        try EventCache.remove(cachePath)
        try EventCache.remove(outboxPath)
    }
}
