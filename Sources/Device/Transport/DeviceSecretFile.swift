import Contract
import Foundation
import JSON

/// The file with the secret of the last sign-in with a password, readable by its owner only.
///
/// The next sign-in sends the secret to the same server, so that strangers' attempts do not count against it. The file
/// stays after a logout, and contains no name.
public struct DeviceSecretFile: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    /// Returns the device's secret; nil if there is none for that server, or if the file cannot be read. The sign-in
    /// then works without it.
    public func secret(for server: ServerAddress) -> Secret? {
        guard let bytes = FileManager.default.contents(atPath: path),
            let json = try? JSONValue(parsing: [UInt8](bytes).span),
            json["server"]?.stringValue == server.description
        else { return nil }
        return json["secret"]?.stringValue.map { Secret($0) }
    }

    public func save(_ secret: Secret, of server: ServerAddress) throws(PrivateFileError) {
        let json: JSONValue = ["server": .string(server.description), "secret": .string(secret.wireText)]
        try PrivateFile.write(json.bytes, to: path)
    }

    public func remove() throws(PrivateFileError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .unwritable }
    }
}
