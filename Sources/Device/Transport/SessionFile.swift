import Audit
import Contract
import Domain
import Foundation
import JSON

/// The signed-in person and their server.
public struct DeviceSession: Hashable, Sendable {
    public var server: ServerAddress
    public var userID: UserID
    public var displayName: String?
    public var familyID: FamilyID?
    public var role: FamilyRole?
    public var accessToken: Secret
    public var refreshToken: Secret
    /// The device's secret for the next sign-in; nil if the response had none. It is not stored in the session's file.
    public var receivedDeviceSecret: Secret?
    /// The key that verifies the signatures of the server's audit log. The person gave it at sign-in, not the server;
    /// nil if they gave none.
    public var logKey: VerifierKey?

    public init(
        server: ServerAddress, userID: UserID, displayName: String?, familyID: FamilyID?, role: FamilyRole?,
        accessToken: Secret, refreshToken: Secret, logKey: VerifierKey? = nil
    ) {
        self.server = server
        self.userID = userID
        self.displayName = displayName
        self.familyID = familyID
        self.role = role
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.logKey = logKey
    }

    /// Creates the session of a successful sign-in. Of a person with several families it takes the one that the server
    /// names, or else the first.
    public init(_ answer: AuthResponse, at server: ServerAddress) {
        self.init(
            server: server, userID: answer.user.id, displayName: answer.user.displayName,
            familyID: answer.familyID ?? answer.user.familyMemberships.first?.familyID,
            role: answer.familyRole ?? answer.user.familyMemberships.first?.role, accessToken: answer.accessToken,
            refreshToken: answer.refreshToken)
        receivedDeviceSecret = answer.deviceSecret
    }
}

/// The file with the session and its tokens, readable by its owner only.
public struct SessionFile: Sendable {
    public let path: String

    public init(path: String) { self.path = path }

    /// Loads the session; nil if nobody is signed in.
    /// - Throws: `PrivateFileError.unreadable` for a file that cannot be read or parsed.
    public func load() throws(PrivateFileError) -> DeviceSession? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        guard let bytes = FileManager.default.contents(atPath: path),
            let json = try? JSONValue(parsing: [UInt8](bytes).span), let session = DeviceSession(json)
        else { throw .unreadable }
        return session
    }

    public func save(_ session: DeviceSession) throws(PrivateFileError) {
        try PrivateFile.write(session.json.bytes, to: path)
    }

    public func remove() throws(PrivateFileError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw .unwritable }
    }
}

extension DeviceSession {
    fileprivate init?(_ json: JSONValue) {
        func text(_ name: String) -> String? { json[name]?.stringValue }
        guard let server = text("server").flatMap({ ServerAddress($0) }),
            let user = text("user_id").flatMap({ UserID($0) }), let accessToken = text("access_token"),
            let refreshToken = text("refresh_token")
        else { return nil }
        self.init(
            server: server, userID: user, displayName: text("display_name"),
            familyID: text("family_id").flatMap { FamilyID($0) },
            role: text("role").flatMap { FamilyRole(rawValue: $0) },
            accessToken: Secret(accessToken), refreshToken: Secret(refreshToken),
            logKey: text("log_key").flatMap { VerifierKey($0) })
    }

    fileprivate var json: JSONValue {
        [
            "server": .string(server.description), "user_id": .string(userID.description),
            "display_name": displayName.map { .string($0) } ?? .null,
            "family_id": familyID.map { .string($0.description) } ?? .null,
            "role": role.map { .string($0.rawValue) } ?? .null, "access_token": .string(accessToken.wireText),
            "refresh_token": .string(refreshToken.wireText),
            "log_key": logKey.map { .string($0.text) } ?? .null,
        ]
    }
}
